"""Centrelines as tubes inside the translucent vessels, in 3D."""

from dataclasses import dataclass

import numpy as np

from . import offscreen
from .subject import Subject
from .views import framed, reduced, sides

MARGIN = 1.10  # the panel's name stands above the vessels


@dataclass(frozen=True)
class Curves:
    """Branches as they are drawn.

    Attributes
    ----------
    points : list of ndarray, (n, 3)
        RAS in mm.
    radius : list of ndarray, (n,)
        mm.
    colours : list of ndarray of uint8, (n, 3)
        Of the radii.
    branch_colours : list of ndarray of uint8, (n, 3)
    nodes : ndarray, (m, 3)
        Endpoints and junctions, RAS in mm.
    """

    points: list[np.ndarray]
    radius: list[np.ndarray]
    colours: list[np.ndarray]
    branch_colours: list[np.ndarray]
    nodes: np.ndarray


def draw_tubes(
    subject: Subject, curves: Curves, size: int, background: str
) -> list[tuple[np.ndarray, dict]]:
    """Draw curves within a subject's vessels, from the two sides that show most.

    From the first in the colours of the radii, from the second in those of the branches.

    Parameters
    ----------
    subject : Subject
    curves : Curves
    size : int
        Width and height of each image in pixels.
    background : str
        Colour, "#rrggbb".

    Returns
    -------
    list of (image, view)
        See `surface_view.draw_surface`.

    Raises
    ------
    CannotRender
    """
    labels, matrix = reduced(subject)
    seen = _extremes(curves)
    views = [framed(side, seen, MARGIN) for side in sides(matrix, labels.shape)[:2]]
    arrays = {
        "labels": labels,
        "matrix": matrix,
        "points": np.concatenate(curves.points),
        "counts": np.array([len(points) for points in curves.points]),
        "radius": np.concatenate(curves.radius),
        "colours": np.array(
            [np.concatenate(each) for each in (curves.colours, curves.branch_colours)]
        ),
        "nodes": curves.nodes,
    }
    return list(zip(offscreen.render("tubes", arrays, views, size, background), views))


def _extremes(curves):
    """Points (RAS) round the curves, as far off as the vessels' walls."""
    points, radius = np.concatenate(curves.points), np.concatenate(curves.radius)
    steps = np.concatenate([np.eye(3), -np.eye(3)])
    return (points[:, np.newaxis] + 1.4 * radius[:, np.newaxis, np.newaxis] * steps).reshape(-1, 3)
