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


def picture_path(folder: Path, number: int) -> Path:
    """Where the child puts the pixels of a view."""
    return folder / f"view-{number}.npy"


def _run_child(folder):
    environment = dict(os.environ)
    if sys.platform.startswith("linux"):
        environment["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkEGLRenderWindow"
    packages = Path(__file__).resolve().parents[2]
    try:
        subprocess.run(
            [sys.executable, "-P", "-c", CODE, str(packages), str(folder)],
            env=environment,
            check=True,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRender(_way_out()) from error


def _way_out():
    text = "the 3D view is left out of the picture: this machine cannot render off screen"
    if sys.platform.startswith("linux"):
        text += " (Debian: apt-get install libegl1 libgl1 libgl1-mesa-dri)"
    return text
