"""The process that renders: a scene of VTK actors, seen from several sides, as arrays of pixels."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import vtk_actors
from .offscreen import ARRAYS, TASK, picture_path
from .vtk_window import new_renderer, new_window, pixels, shade_hollows

SEED_COLOUR, BACKGROUND_SEED_COLOUR = (1.0, 0.82, 0.40), (0.30, 0.79, 0.94)
SEED_RADIUS, NODE_RADIUS = 0.016, 0.0088  # shares of half the picture's height


def render(folder: str) -> None:
    """Render the task that `offscreen.render` has put into a folder."""
    place = Path(folder)
    task = json.loads((place / TASK).read_text())
    with np.load(place / ARRAYS) as arrays:
        scene = SCENES[task["scene"]](arrays, task)
    for number, view in enumerate(task["views"]):
        np.save(picture_path(place, number), scene.pixels(number, view))


class SurfaceScene:
    """The surface, and the seeds in a layer before it, so that none is hidden.

    Parameters
    ----------
    arrays : mapping
        "labels", "matrix", "colours" (n, 3; of the vessels with the labels 1 to n, none where they
        are shown alike), and points (n, 3; RAS) "seeds" and "background_seeds".
    task : dict
        "views", "size", "background"; see `offscreen.render`.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], task: dict) -> None:
        half = _half_height(task)
        labels, matrix = arrays["labels"], arrays["matrix"]
        self._window = new_window(task["size"], layers=2)
        self._renderers = [new_renderer(self._window, task, layer) for layer in range(2)]
        colours = list(map(tuple, arrays["colours"])) or [vtk_actors.VESSEL]
        for number, colour in enumerate(colours, 1):
            surface = vtk_actors.vessel_surface((labels == number).astype(np.uint8), matrix)
            self._renderers[0].AddActor(vtk_actors.opaque(surface, colour))
        shade_hollows(self._renderers[0], half)
        points = {"seeds": SEED_COLOUR, "background_seeds": BACKGROUND_SEED_COLOUR}
        for name, colour in points.items():
            if len(arrays[name]):
                seeds = vtk_actors.spheres(arrays[name], SEED_RADIUS * half, colour)
                self._renderers[1].AddActor(seeds)

    def pixels(self, number: int, view: dict) -> np.ndarray:
        """Pixels of a view, uint8 of shape (size, size, 3)."""
        return pixels(self._window, self._renderers, view)


class TubeScene:
    """Centrelines as tubes within translucent vessels.

    Parameters
    ----------
    arrays : mapping
        "labels", "matrix", "points", "counts", "radius", "colours" (one set a view) and "nodes";
        see `tube_view`.
    task : dict
        As for `SurfaceScene`.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], task: dict) -> None:
        half = _half_height(task)
        surface = vtk_actors.vessel_surface(arrays["labels"], arrays["matrix"])
        self._window = new_window(task["size"])
        self._renderer = new_renderer(self._window, task)
        self._renderer.AddActor(vtk_actors.translucent(surface))
        self._tubes = vtk_actors.tubes(arrays, half)
        self._renderer.AddActor(self._tubes)
        if len(arrays["nodes"]):
            spheres = vtk_actors.spheres(arrays["nodes"], NODE_RADIUS * half, (0.97, 0.97, 0.95))
            self._renderer.AddActor(spheres)
        # All walls are of one colour: it hardly matters which of two lies in front, and sorting
        # them (depth peeling) would draw the surface once more for every wall.
        self._renderer.SetUseDepthPeeling(0)
        self._renderer.SetUseOIT(True)

    def pixels(self, number: int, view: dict) -> np.ndarray:
        """Pixels of a view, uint8 of shape (size, size, 3)."""
        self._tubes.GetMapper().SelectColorArray(f"colours {number}")
        return pixels(self._window, [self._renderer], view)


SCENES: dict[str, Any] = {"surface": SurfaceScene, "tubes": TubeScene}


def _half_height(task):
    return max(view["half_height_mm"] for view in task["views"])
