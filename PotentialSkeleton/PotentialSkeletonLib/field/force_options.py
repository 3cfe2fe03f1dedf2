"""Validation of the options of a force field."""

from operator import index
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .methods import FORCE_METHODS

MIN_STRENGTH, MAX_STRENGTH = 2, 9
MAX_CHARGE_DISTANCE = 100  # layers, by which the grid grows on all sides


def check_options(strength: Any, method: str, charge_distance: Any) -> tuple[int, int]:
    """Return strength and charge distance as integers; raises `InputError` for a bad option."""
    whole = {"strength": strength, "charge distance": charge_distance}
    for name, value in whole.items():
        try:
            whole[name] = index(value.item() if isinstance(value, np.generic) else value)
        except TypeError as error:
            raise InputError(f"The {name} is {value!r}; a whole number is needed.") from error
    strength, charge_distance = whole.values()
    if not MIN_STRENGTH <= strength <= MAX_STRENGTH:
        raise InputError(f"The strength is {strength}; choose a whole number from 3 to 9.")
    if method not in FORCE_METHODS:
        raise InputError(f"Unknown method {method!r}; one of {', '.join(FORCE_METHODS)}.")
    if charge_distance < 0:
        raise InputError(f"The charge distance is {charge_distance} layers; it cannot be negative.")
    if charge_distance > MAX_CHARGE_DISTANCE:
        raise InputError(
            f"The charge distance is {charge_distance} layers; choose a whole number from 0 to "
            f"{MAX_CHARGE_DISTANCE}."
        )
    return strength, charge_distance
