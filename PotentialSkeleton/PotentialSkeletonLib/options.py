"""The options of a skeleton and of its force field, checks of the object."""

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import refuse_masked

FORCE_METHODS = {
    "auto": "the cheaper one of convolution and direct sum by estimated time, the default",
    "fft": "zero-padded convolution in bands of distance, on the CPU or on CUDA",
    "direct-serial": "the paper's loop over points and charges, on one core (auto: on all)",
    "cuda-simple": "a CUDA thread for each point, charges in global memory (paper, section 2.2)",
    "cuda-constant": "the same with the charges in constant memory (paper, section 2.3)",
    "cuda-shared": "the same with the charges staged through shared memory",
}
CPU_METHODS = ("auto", "fft", "direct-serial")
CUDA_METHODS = ("auto", "fft", "cuda-simple", "cuda-constant", "cuda-shared")
MIN_STRENGTH, MAX_STRENGTH = 2, 9
MAX_CHARGE_DISTANCE = 100  # layers, by which the grid grows on all sides
LEVELS = (1, 2, 3)
UNLIMITED = 1e300  # but not infinite
EMPTY = _("The labelmap is empty: there is no object to take a skeleton of.")
NO_ATTRACTORS = _("At strength 2 the field has no attractors; choose 3 to 9 for a skeleton.")
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
        Where the force field is computed and, of a large object, components, distances, roots,
        seeds, end caps and radii; curves and thinning are the CPU's. "auto" (CUDA where it is
        usable, but for small components; a component for which it fails is begun anew on the CPU),
        "cpu", "cuda", "cuda:1".
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


def check_options(strength: Any, method: str, charge_distance: Any) -> tuple[int, int]:
    """Strength and charge distance as integers; raises `InputError` for a bad option."""
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


def checked_device(method: str, device: str) -> str:
    """The device to choose, where the method runs on one kind only; raises `InputError`."""
    if method not in CUDA_METHODS and device not in ("auto", "cpu"):
        text = _(
            "Method {method!r} runs on the CPU only; leave the device {device!r} out, or "
            "choose another method."
        )
        raise InputError(text.format(method=method, device=device))
    if method not in CPU_METHODS and device == "cpu":
        text = _(
            "Method {method!r} runs on CUDA only; leave the device 'cpu' out, or choose 'fft'."
        )
        raise InputError(text.format(method=method))
    if method not in CUDA_METHODS:
        return "cpu"
    return "cuda" if device == "auto" and method not in CPU_METHODS else device


def checked_spacing(spacing: Any) -> tuple[float, float, float]:
    """The spacing K, J, I in mm as floats; `InputError` unless these are three positive lengths."""
    try:
        sides = tuple(float(side) for side in spacing)
    except (TypeError, ValueError):
        sides = ()
    if len(sides) != 3 or not all(0 < side < inf for side in sides):
        raise InputError(f"The spacing is {spacing}; three positive lengths K, J, I are needed.")
    return sides[0], sides[1], sides[2]


def checked_object(mask: np.ndarray) -> np.ndarray:
    """Return the object of a labelmap as bool (K, J, I); raises `InputError`."""
    return checked_labelmap(mask) != 0


def checked_labelmap(mask: np.ndarray) -> np.ndarray:
    """Return a labelmap as numbers (K, J, I); raises `InputError` if it cannot be one."""
    refuse_masked(mask, "labelmap")
    mask = np.asarray(mask)
    if mask.ndim == 2:
        mask = mask[np.newaxis]
    if mask.ndim != 3 or mask.size == 0:
        raise InputError(f"The labelmap has shape {mask.shape}; K x J x I voxels are needed.")
    if mask.dtype.kind not in "biuf":
        raise InputError(f"The labelmap has voxels of type {mask.dtype.name}; numbers are needed.")
    if mask.dtype.kind == "f" and not np.isfinite(mask).all():
        raise InputError(
            f"The labelmap has {np.count_nonzero(~np.isfinite(mask))} voxels that are infinite or "
            "not a number; replace them by 0."
        )
    return mask
