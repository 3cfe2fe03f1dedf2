"""Renders in 3D off screen, in a process of its own.

Where a machine lacks EGL or a driver for it, VTK ends the process that renders: with a child
process the other results are kept.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TIMEOUT_S = 300
ARRAYS, TASK = "arrays.npz", "task.json"
CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from fuzzy_vessel.pictures.vtk_scene import render; render(sys.argv[2])"
)
TRIAL = (
    "import vtkmodules.vtkRenderingOpenGL2\n"
    "from vtkmodules.vtkRenderingCore import vtkRenderWindow\n"
    "window = vtkRenderWindow(); window.SetOffScreenRendering(1); window.Render()"
)


class CannotRender(Exception):
    """This machine cannot draw in 3D; the message says what to install."""


def render(
    scene: str, arrays: dict[str, np.ndarray], views: list[dict], size: int, background: str
) -> list[np.ndarray]:
    """Let a child process render a scene.

    Parameters
    ----------
    scene : str
        One of `vtk_scene.SCENES`.
    arrays : dict of str to ndarray
        What is shown.
    views : list of dict
        From where, see `views.framed`.
    size : int
        Width and height in pixels.
    background : str
        Colour, "#rrggbb".

    Returns
    -------
    list of ndarray of uint8, shape (size, size, 3)
        For each view.

    Raises
    ------
    CannotRender
    """
    task = {"scene": scene, "views": views, "size": size, "background": background}
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as name:
        folder = Path(name)
        np.savez(folder / ARRAYS, **arrays)  # type: ignore[arg-type]
        (folder / TASK).write_text(json.dumps(task))
        _run_child(folder)
        try:
            return [np.load(picture_path(folder, number)) for number in range(len(views))]
        except (OSError, ValueError) as error:
            raise CannotRender(_way_out()) from error


def prepare_drawing() -> None:
    """Let this process draw slices off screen.

    Raises
    ------
    CannotRender
        A child process that tried it failed.
    """
    os.environ.update(_environment())
    try:
        _run(TRIAL)
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRender("this machine cannot draw without a screen" + _packages()) from error


def picture_path(folder: Path, number: int) -> Path:
    """Where the child puts the pixels of a view."""
    return folder / f"view-{number}.npy"


def _run_child(folder):
    packages = Path(__file__).resolve().parents[2]
    try:
        _run(CODE, str(packages), str(folder))
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRender(_way_out()) from error


def _run(code, *arguments):
    subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        env={**os.environ, **_environment()},
        check=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _environment():
    """What VTK needs to draw without a screen."""
    linux = sys.platform.startswith("linux")
    return {"VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow"} if linux else {}


def _way_out():
    text = "the 3D view is left out of the picture: this machine cannot render off screen"
    return text + _packages()


def _packages():
    if not sys.platform.startswith("linux"):
        return ""
    return " (Debian: apt-get install libegl1 libgl1 libgl1-mesa-dri)"
