"""The off-screen window: lights, shading, camera, and its content as pixels."""

from typing import Any

import numpy as np
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 (what the classes of vtkRenderingCore draw with)
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkRenderingCore import (
    vtkCamera,
    vtkLightKit,
    vtkRenderer,
    vtkRenderWindow,
    vtkWindowToImageFilter,
)
from vtkmodules.vtkRenderingOpenGL2 import vtkRenderStepsPass, vtkSSAOPass

# Rendered at this multiple of the final size, then averaged: smooth edges.
FINER = 2


def new_window(size: int, layers: int = 1) -> Any:
    """Return a window for pictures of size x size pixels."""
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    # Translucent surfaces are lost with multisampling, or without alpha.
    window.SetMultiSamples(0)
    window.SetAlphaBitPlanes(1)
    window.SetSize(FINER * size, FINER * size)
    window.SetNumberOfLayers(layers)
    return window


def new_renderer(window: Any, task: dict, layer: int = 0) -> Any:
    """Add a renderer with light from above and before, and a soft fill."""
    renderer = vtkRenderer()
    renderer.SetLayer(layer)
    colour = bytes.fromhex(task["background"].removeprefix("#"))
    renderer.SetBackground([channel / 255 for channel in colour])
    lights = vtkLightKit()
    lights.SetKeyLightIntensity(0.98)
    lights.SetKeyToFillRatio(3.0)
    lights.SetKeyToHeadRatio(4.0)
    lights.AddLightsToRenderer(renderer)
    window.AddRenderer(renderer)
    return renderer


def shade_hollows(renderer: Any, half: float) -> None:
    """Darken where vessels lie close together, which tells near from far."""
    hollows = vtkSSAOPass()
    hollows.SetRadius(0.16 * half)
    hollows.SetBias(0.006 * half)
    hollows.SetKernelSize(40)
    hollows.BlurOn()
    hollows.SetDelegatePass(vtkRenderStepsPass())
    renderer.SetPass(hollows)


def pixels(window: Any, renderers: list, view: dict) -> np.ndarray:
    """Render a view; return its pixels, uint8 of shape (size, size, 3)."""
    camera = _camera(view)
    for renderer in renderers:
        renderer.SetActiveCamera(camera)
    window.Render()
    grab = vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    grab.Update()
    image = grab.GetOutput()
    width, height, _ = image.GetDimensions()
    values = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)
    return _averaged(values[::-1, :, :3])


def _averaged(fine):
    """Means of FINER x FINER pixels, rounded."""
    rows = [fine[n::FINER].astype(np.uint16) for n in range(FINER)]
    down = sum(rows[1:], rows[0])
    both = sum((down[:, n::FINER] for n in range(1, FINER)), down[:, ::FINER])
    return ((both + FINER * FINER // 2) // (FINER * FINER)).astype(np.uint8)


def _camera(view):
    centre, eye, half = np.array(view["centre"]), np.array(view["eye"]), view["half_height_mm"]
    camera = vtkCamera()
    camera.SetFocalPoint(centre)
    camera.SetPosition(centre + eye * 10 * half)
    camera.SetViewUp(view["up"])
    camera.ParallelProjectionOn()
    camera.SetParallelScale(half)
    camera.SetClippingRange(6 * half, 14 * half)
    return camera
