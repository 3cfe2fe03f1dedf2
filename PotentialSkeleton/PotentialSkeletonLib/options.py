"""Options of `skeletonize`, validated once."""

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .field.force_field import check_options

LEVELS = (1, 2, 3)
UNLIMITED = 1e300  # but not infinite
MAX_VALUES = {"divergence": 100, "drop_islands": UNLIMITED, "close_tunnels": UNLIMITED}


@dataclass(frozen=True)
class SkeletonOptions:
    """Options of `skeletonize`.

    Attributes
    ----------
    strength : int
        Exponent of the distance in the force law, 3 to 9 (2 has no attractors: a warning).
    level : int
        1: the core alone. 2: also the object's protrusions, and curves from seeds of low
        divergence. 3: also curves from seeds of high surface curvature. Each contains the one
        before.
    divergence : float
        0 to 100: share, in per cent, of the range of the unit force's divergence, from the lowest
        value up, in which level 2 looks for seeds.
    charge_distance : int or None
        Layers by which the charges lie outside of the surface. None: 0 to 2, chosen for each
        component so that thin parts are resolved.
    method : str
        Of `force_field`.
    device : str
        Where the force field and distances in large objects are computed; all else is done on the
        CPU. "auto" (CUDA where it is usable, but for small components), "cpu", "cuda", "cuda:1".
    drop_islands : int
        Remove components of fewer voxels first (never the largest).
    close_tunnels : float
        Close tunnels up to so many mm wide first, and none that is wider; measured between the
        faces of the object's voxels. One that winds between the axes may need a voxel more.

    Raises
    ------
    InputError
        An option is out of its range.

    """

    strength: int = 6
    level: int = 2
    divergence: float = 20.0
    charge_distance: int | None = None
    method: str = "auto"
    device: str = "auto"
    drop_islands: int = 0
    close_tunnels: float = 0.0

    def __post_init__(self) -> None:
        check_options(self.strength, self.method, self.charge_distance or 0)
        if self.level not in LEVELS or not isinstance(self.level, Integral):
            raise InputError(f"The level is {self.level!r}; choose 1, 2 or 3.")
        for name, maximum in MAX_VALUES.items():
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 <= value <= maximum:
                limit = f"from 0 to {maximum:g}" if maximum < UNLIMITED else "from 0 up"
                raise InputError(f"{name} is {value!r}; a number {limit} is needed.")


def checked_spacing(spacing: Any) -> tuple[float, float, float]:
    """The spacing K, J, I in mm as floats; `InputError` unless these are three positive lengths."""
    try:
        sides = tuple(float(side) for side in spacing)
    except (TypeError, ValueError):
        sides = ()
    if len(sides) != 3 or not all(0 < side < inf for side in sides):
        raise InputError(f"The spacing is {spacing}; three positive lengths K, J, I are needed.")
    return sides[0], sides[1], sides[2]
