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


def to_world(model: Any, position: np.ndarray) -> np.ndarray:
    """R, A, S in the world, of S, A, R below a model's parent transform."""
    found = [0.0] * 3
    model.TransformPointToWorld(np.asarray(position, float)[::-1].tolist(), found)
    return np.array(found)
