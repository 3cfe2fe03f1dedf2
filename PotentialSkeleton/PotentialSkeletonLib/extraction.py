"""Public entry point: from a labelmap to its curve skeleton, component by component."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from .curve_skeleton import CurveSkeleton
from .options import SkeletonOptions, checked_device, checked_spacing


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
    options, sides = options or SkeletonOptions(**keywords), checked_spacing(spacing)
    with needs_numba():  # the package can be imported without it
        from .component import skeleton_of_components
        from .preparing import prepare
    choose_device(checked_device(options.method, options.device))  # an error before the work begins
    progress = Progress.of(progress)
    progress.advance(0.0)
    labelmap = np.asanyarray(mask)
    shape = labelmap.shape if labelmap.ndim == 3 else (1, *labelmap.shape)
    components = prepare(labelmap, sides, options, progress.part(0.0, 0.02))
    return skeleton_of_components(components, shape, sides, options, progress.part(0.02, 1.0))
