"""From a labelmap to its curve skeleton: the face that a person meets first."""

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress

from .field.force_field import check_options
from .jit_warmup import SPACING, small_object, wait_for_warm_up, warm_up
from .stages import Stages

LEVELS = (1, 2, 3)
HUGE = 1e300  # but not infinite
LARGEST = {"divergence": 100, "drop_islands": HUGE, "close_tunnels": HUGE}


@dataclass(frozen=True)
class Options:
    """What `skeletonize` was asked for."""

    strength: int
    level: int
    divergence: float
    charge_distance: int | None
    method: str
    device: str
    drop_islands: int
    close_tunnels: float


def skeletonize(
    mask,
    spacing=(1.0, 1.0, 1.0),
    *,
    strength=6,
    level=2,
    divergence=20.0,
    charge_distance=None,
    method="auto",
    device="auto",
    drop_islands=0,
    close_tunnels=0.0,
    progress=None,
):
    """Curve skeleton of an object by the potential-field method.

    Charges on the surface repel what is inside; curves follow their force from the saddles of the
    field (Zhao et al. 2016; Cornea et al. 2005), and homotopic growing and thinning with these
    curves as their guide make the result connected, thin and of the object's topology. Cavities
    are filled.

    Parameters
    ----------
    mask : ndarray, shape (K, J, I) or (J, I)
        The object is where it is not 0. Each 26-connected component is taken by itself.
    spacing : 3 floats K, J, I
        Voxel size in mm.
    strength : int
        Exponent of the distance in the force law, 3 to 9 (2 has no attractors: a warning).
    level : int
        1: the core alone. 2: also the limbs of the object, and curves from places of low
        divergence. 3: also curves from sharp places of the surface. Each contains the one before.
    divergence : float
        0 to 100: share, in per cent, of the range of the unit force's divergence, from the lowest
        value up, in which level 2 looks for seeds.
    charge_distance : int, optional
        Layers by which the charges lie outside of the surface. By default 0 to 2, chosen for each
        component so that thin parts are resolved.
    method : str
        Of `force_field`.
    device : str
        "auto" (CUDA where it is usable, else the CPU; small components always on the CPU), "cpu",
        "cuda", "cuda:1". What touches every voxel is done on the card; where its memory does not
        suffice for that, the force field alone is. Warnings in the report say so.
    drop_islands : int
        Remove components of fewer voxels first (never the largest).
    close_tunnels : float
        Close tunnels up to so many mm wide first, and none that is wider; measured between the
        faces of the object's voxels. One that winds between the axes may need a voxel more.
    progress : callable, optional
        ``progress(fraction) -> bool``; the run is cancelled where it returns False.

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
        ordinal and name of the CUDA card), seconds for each stage, and warnings: sentences of what
        was changed, assumed, not held, or is to be doubted.

    Raises
    ------
    InputError
        If the mask or an option cannot be worked with.
    DeviceError
        If the device that was asked for is not usable or has too little memory.
    Cancelled
        If `progress` returned False.
    """
    options = Options(
        strength, level, divergence, charge_distance, method, device, drop_islands, close_tunnels
    )
    spacing = _checked_options(options, spacing)
    if progress is not None:
        warm_up(_try_out, Progress(progress))
    else:
        wait_for_warm_up(Progress())
    with needs_numba():
        from .assembly import assemble

    return assemble(mask, spacing, options, Stages(progress))


def _try_out():
    """Work on a small object in all ways that have code of their own."""
    from .assembly import assemble

    for charge_distance in (None, 2):
        options = Options(6, 3, 20.0, charge_distance, "auto", "cpu", 27, 2.0)
        assemble(small_object(), SPACING, options, Stages(None))


def _checked_options(options, spacing):
    """The spacing as a tuple of floats; `InputError` for what cannot be worked with."""
    check_options(options.strength, options.method, options.charge_distance or 0)
    if options.level not in LEVELS or not isinstance(options.level, Integral):
        raise InputError(f"The level is {options.level!r}; choose 1, 2 or 3.")
    try:
        steps = tuple(float(step) for step in spacing)
    except (TypeError, ValueError):
        steps = ()
    if len(steps) != 3 or not all(0 < step < inf for step in steps):
        raise InputError(f"The spacing is {spacing}; three positive lengths K, J, I are needed.")
    for name, largest in LARGEST.items():
        value = getattr(options, name)
        if not isinstance(value, Real) or not 0 <= value <= largest:
            limit = f"from 0 to {largest:g}" if largest < HUGE else "from 0 up"
            raise InputError(f"{name} is {value!r}; a number {limit} is needed.")
    return steps
