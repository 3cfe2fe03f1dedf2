"""Places in the world and in the frame below a model's parent transform."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _


def from_world(model: Any, position: Any) -> np.ndarray:
    """S, A, R below a model's parent transform, of R, A, S in the world.

    Raises
    ------
    InputError
        If the position is not three finite numbers.
    """
    position = np.asarray(position, float)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise InputError(_("A place must be three finite numbers: R, A, S in mm."))
    found = [0.0] * 3
    model.TransformPointFromWorld(position.tolist(), found)
    return np.array(found[::-1])


def checked_places(places: Any) -> np.ndarray:
    """Places as an array (n, 3) of R, A, S in mm, at least one.

    Raises
    ------
    InputError
        If they are anything else.
    """
    try:
        found = np.asarray(places, float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or found.shape[1] != 3 or not np.isfinite(found).all() or not len(found):
        raise InputError(
            _(
                "The places of the roots are {places!r}: give a list of finite R, A, S in mm."
            ).format(places=places)
        )
    return found


def to_world(model: Any, position: np.ndarray) -> np.ndarray:
    """R, A, S in the world, of S, A, R below a model's parent transform."""
    found = [0.0] * 3
    model.TransformPointToWorld(np.asarray(position, float)[::-1].tolist(), found)
    return np.array(found)
