"""What lies around a click, as far as the vessel there is wide."""

from collections.abc import Callable

import numpy as np

from ..neighbourhood import MAX_RADIUS, Ball, component_of, max_inscribed_radius

LEAST_RADII = 3.0  # of the smallest spacing, however thin the vessel is
FARTHEST = LEAST_RADII * MAX_RADIUS  # so that no step of a drag takes longer


def near_click(
    values: np.ndarray,
    masked: Callable[[np.ndarray, tuple[slice, ...]], np.ndarray],
    click: tuple[int, ...],
    limits: tuple[float, float],
    radii: float,
    unit: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The 6-connected component of a click within some inscribed radii of it.

    Parameters
    ----------
    values : ndarray, shape (K, J, I), float32
    masked : callable
        ``masked(labels, box)``: labels (bool) of a box without what lies outside of the mask.
    click : (K, J, I)
    limits : float, float
        The least and the highest value of the component. The inscribed radius is that among all
        voxels of at least the least value.
    radii : float
        How far the component goes, in inscribed radii.
    unit : ndarray, shape (3,)
        Spacing along K, J, I in multiples of the smallest.

    Returns
    -------
    voxels : ndarray, int64
        Flat indices.
    own : ndarray, float32
        Their values.
    """
    least, most = limits
    ball = Ball(values.shape, click, MAX_RADIUS, unit)
    enough = masked(values[ball.box] >= least, ball.box)
    radius = max_inscribed_radius(enough, ball.centre, unit)
    ball = Ball(values.shape, click, min(max(radii * radius, LEAST_RADII), FARTHEST), unit)
    own = values[ball.box]
    near = component_of(masked((own >= least) & (own <= most) & ball.inside, ball.box), ball.centre)
    place = [axis + side.start for axis, side in zip(np.nonzero(near), ball.box)]
    return np.ravel_multi_index(place, values.shape), own[near]
