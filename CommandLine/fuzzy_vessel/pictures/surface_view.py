"""The vessels' surface and the seeds in 3D, from the side that shows most."""

import numpy as np

from . import offscreen
from .subject import Subject
from .views import corners, framed, reduced, sides, to_ras


def draw_surface(subject: Subject, size: int, background: str) -> tuple[np.ndarray, dict]:
    """Draw the surface of a subject's vessels.

    Parameters
    ----------
    subject : Subject
    size : int
        Width and height in pixels.
    background : str
        Colour, "#rrggbb".

    Returns
    -------
    image : ndarray of uint8, shape (size, size, 3)
    view : dict
        See `views.framed`.

    Raises
    ------
    CannotRender
    """
    labels, matrix = reduced(subject)
    view = framed(sides(matrix, labels.shape)[0], corners(matrix, labels.shape))
    arrays = {
        "labels": labels,
        "colours": _colours(subject),
        "matrix": matrix,
        "seeds": to_ras(subject, subject.seeds),
        "background_seeds": to_ras(subject, subject.background_seeds),
    }
    (image,) = offscreen.render("surface", arrays, [view], size, background)
    return image, view


def _colours(subject):
    """Red, green, blue (n, 3; 0..1) of each vessel; none where all are shown alike."""
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(each.colour) for each in subject.vessels]).reshape(-1, 3)
