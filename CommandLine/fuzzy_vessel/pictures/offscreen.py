"""Renders in 3D off screen, in a process of its own.

Where a machine lacks EGL or a driver for it, VTK ends the process that renders: the child process
takes the fall, and the other results are kept.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

PATIENCE_S = 300
# Drawn at this multiple of the final size, then averaged: smooth edges.
FINER = 2


class CannotRender(Exception):
    """This machine cannot draw in 3D; the message says what to install."""


def run_child(module, folder, picture):
    """Let `fuzzy_vessel.<module>.render(folder)` run in a child process.

    Parameters
    ----------
    module : str
    folder : Path
        Holds what the child needs, and gets what it makes.
    picture : str
        Name of the file that must be there afterwards.

    Raises
    ------
    CannotRender
    """
    environment = dict(os.environ)
    way_out = "the 3D view is left out of the picture: this machine cannot render off screen"
    if sys.platform.startswith("linux"):
        environment["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkEGLRenderWindow"
        way_out += " (Debian: apt-get install libegl1 libgl1 libgl1-mesa-dri)"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        f"from fuzzy_vessel.pictures.{module} import render; render(sys.argv[2])"
    )
    packages = Path(__file__).resolve().parents[2]
    try:
        subprocess.run(
            [sys.executable, "-P", "-c", code, str(packages), str(folder)],
            env=environment,
            check=True,
            timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRender(way_out) from error
    if not (Path(folder) / picture).is_file():
        raise CannotRender(way_out)


def camera(view):
    """A camera that sees a view, a dict of "centre", "eye", "up" and "half_height_mm"."""
    import vtk

    centre, eye, half = np.array(view["centre"]), np.array(view["eye"]), view["half_height_mm"]
    camera = vtk.vtkCamera()
    camera.SetFocalPoint(centre)
    camera.SetPosition(centre + eye * 10 * half)
    camera.SetViewUp(view["up"])
    camera.ParallelProjectionOn()
    camera.SetParallelScale(half)
    camera.SetClippingRange(6 * half, 14 * half)
    return camera


def window(size):
    """An empty window for pictures of `size` x `size` pixels."""
    import vtk

    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    # Translucent surfaces are lost with multisampling, or without alpha.
    window.SetMultiSamples(0)
    window.SetAlphaBitPlanes(1)
    window.SetSize(FINER * size, FINER * size)
    return window


def add_lights(renderer):
    """Light from above and before, with a soft fill."""
    import vtk

    lights = vtk.vtkLightKit()
    lights.SetKeyLightIntensity(0.98)
    lights.SetKeyToFillRatio(3.0)
    lights.SetKeyToHeadRatio(4.0)
    lights.AddLightsToRenderer(renderer)


def save(window, size, path):
    """Render the window and write it as a picture of `size` x `size` pixels."""
    import vtk
    from PIL import Image
    from vtk.util.numpy_support import vtk_to_numpy

    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    grab.Update()
    image = grab.GetOutput()
    width, height, _ = image.GetDimensions()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)[::-1]
    picture = Image.fromarray(np.ascontiguousarray(pixels[:, :, :3]))
    picture.resize((size, size), Image.Resampling.LANCZOS).save(path)
