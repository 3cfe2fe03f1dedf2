"""Public entry point: from a labelmap to its curve skeleton, component by component."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from .curve_skeleton import Branch, CurveSkeleton, Node
from .options import SkeletonOptions, checked_device, checked_spacing

if TYPE_CHECKING:  # they need numba, without which this package can be imported
    from .preparing import Components


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
        from .preparing import prepare
    choose_device(checked_device(options.method, options.device))  # an error before the work begins
    progress = Progress.of(progress)
    progress.advance(0.0)
    labelmap = np.asanyarray(mask)
    shape = labelmap.shape if labelmap.ndim == 3 else (1, *labelmap.shape)
    components = prepare(labelmap, sides, options, progress.part(0.0, 0.02))
    return skeleton_of_components(components, shape, sides, options, progress.part(0.02, 1.0))


def skeleton_of_components(
    components: "Components",
    shape: tuple[int, ...],
    spacing: tuple[float, float, float],
    options: SkeletonOptions,
    progress: Progress,
) -> CurveSkeleton:
    """One skeleton of all components, which lie in a volume of that shape (K, J, I)."""
    with needs_numba():  # the package can be imported without it
        from .component import skeletonize_component
        from .report import skeleton_report
    nodes: list[Node] = []
    branches: list[Branch] = []
    critical_points, voxels, reports = [], [], []
    ends = np.cumsum(components.sizes) / components.sizes.sum()
    shares = pairwise([0.0, *ends])  # of the progress
    for number, ((origin, mask), share) in enumerate(zip(components.masks, shares), 1):
        part = skeletonize_component(mask, spacing, options, progress.part(*share))
        first_node = len(nodes)
        reports.append(part.report)
        voxels.append(part.voxels + origin)
        critical_points += [replace(p, position=p.position + origin) for p in part.critical_points]
        for node in part.nodes:
            nodes.append(replace(node, position=node.position + origin, component=number))
        for branch in part.branches:
            start, end = branch.start + first_node, branch.end + first_node
            branches.append(Branch(branch.points + origin, branch.radius, start, end, number))
    report = skeleton_report(components, reports, nodes, branches)
    progress.advance(1.0)
    all_voxels = np.concatenate(voxels)
    all_voxels = all_voxels[np.lexsort(all_voxels.T[::-1])]
    return CurveSkeleton(nodes, branches, critical_points, all_voxels, shape, spacing, report)
