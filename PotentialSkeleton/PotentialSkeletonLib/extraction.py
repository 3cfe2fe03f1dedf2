"""Public entry point: from a labelmap to its curve skeleton, and the options."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from .curve_skeleton import CurveSkeleton
from .force_field import check_options

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
        Where the force field is computed and, in a large object, its roots, seeds, distances, end
        caps and radii; all else is done on the CPU. "auto" (CUDA where it is usable, but for small
        components; a component for which it fails is begun anew on the CPU), "cpu", "cuda",
        "cuda:1".
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


def skeletonize(
    mask: np.ndarray,
    spacing: Sequence[float] = (1.0, 1.0, 1.0),
    *,
    options: SkeletonOptions | None = None,
    progress: Progress | ProgressCallback | None = None,
    **keywords: Any,
) -> CurveSkeleton:
    """Curve skeleton of an object by the potential-field method.

    Charges on the surface repel what is inside; curves follow their force from the saddles of the
    field (Zhao et al. 2016; Cornea et al. 2005), and homotopic growing and thinning guided by these
    curves make the result connected, thin and of the object's topology. Cavities are filled.

    Parameters
    ----------
    mask : ndarray, shape (K, J, I) or (J, I)
        The object is where it is not 0. Each 26-connected component has a skeleton of its own.
    spacing : 3 floats K, J, I
        Voxel size in mm.
    options : SkeletonOptions, optional
    progress : callable, optional
        ``progress(share) -> bool``; the run is cancelled where it returns False.
    **keywords
        Instead of `options` what `SkeletonOptions` takes: strength, level, divergence,
        charge_distance, method, device, drop_islands, close_tunnels.

    Returns
    -------
    CurveSkeleton
        Its `report` (dict) has: components, tiny_components, object_cycles, skeleton_cycles,
        cavities_filled and cavity_voxels, islands_dropped and island_voxels, tunnels_closed and
        tunnel_voxels, joins (gaps between traced curves that were closed), thinned_voxels
        (skeleton voxels off the traced curves), skeleton_voxels, removable_voxels (neither ends nor
        needed, but of the level before, which stays whole), level_voxels (for each level),
        charge_distances (for each component; None where it is too small for a field), index_sums
        and euler_characteristics (likewise), guarantees (name to bool), device ("cpu", or the
        ordinal and name of the GPU if a field was computed there), seconds for each stage, and
        warnings: sentences on what was changed, assumed, not held, or is doubtful.

    Raises
    ------
    InputError
        The mask or an option is not valid.
    DeviceError
        The device that was asked for is not usable or has too little memory.
    Cancelled
        `progress` returned False.

    Examples
    --------
    >>> bar = np.zeros((5, 5, 30), bool)
    >>> bar[1:4, 1:4, 1:29] = True
    >>> skeleton = skeletonize(bar, device="cpu")
    >>> [node.kind for node in skeleton.nodes]
    ['end', 'end']
    >>> skeleton.report["components"], skeleton.report["skeleton_cycles"]
    (1, 0)
    """
    if options is not None and keywords:
        raise InputError("Options were given twice: as `options` and as keyword arguments.")
    chosen = options or SkeletonOptions(**keywords)
    checked = checked_spacing(spacing)
    root = Progress.of(progress)
    with needs_numba():
        from .component import assemble
        from .preparing import prepare

    given = np.asanyarray(mask)
    shape = given.shape if given.ndim == 3 else (1, *given.shape)
    return assemble(
        lambda part: prepare(given, checked, chosen, part), shape, checked, chosen, root
    )
