"""Curve skeletons of labelled volumes larger than memory, exact, component by component.

A component's force field is a sum over all of its charges, so a component is done as a whole, in
its box. Components do not interact, except that one in a cavity of another becomes part of it when
cavities are filled. Components are numbered by first voxels, so an enclosing component comes before
what lies in its cavities.
"""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.masks import fill_cavities

from .component import skeleton_of_components
from .curve_skeleton import CurveSkeleton
from .options import EMPTY, SkeletonOptions, checked_device, checked_spacing
from .preparing import Components, input_warnings, small_components
from .report import NO_CHANGES

BOX_VOXEL = 200  # bytes that a voxel of a component's box needs: an upper estimate


def skeletonize_components(
    labels: Any,
    sizes: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    spacing: Sequence[float] = (1.0, 1.0, 1.0),
    *,
    options: SkeletonOptions | None = None,
    memory_limit: int | None = None,
    progress: Progress | ProgressCallback | None = None,
) -> CurveSkeleton:
    """Curve skeleton of a volume of numbered components that need not fit in memory.

    Equals `skeletonize` of the whole, bit for bit. One component is in memory at a time.

    Parameters
    ----------
    labels : array, shape (K, J, I), of integers
        Each 26-connected component has a number of its own, from 1, in the order of first voxels.
        Read by slices: an array of zarr, NumPy (also in a file) or Dask.
    sizes : ndarray of int, (n,)
        Voxels of each component.
    low, high : ndarray of int, (n, 3)
        First voxel of each one's box and the one after the last, K, J, I. These three are the table
        of `FuzzyConnectedGPULib.distributed.labels`.
    spacing : 3 floats K, J, I
        Voxel size in mm.
    options : SkeletonOptions, optional
        As of `skeletonize`; `close_tunnels` must be 0.
    memory_limit : int, optional
        Bytes; a component that may need more is refused before anything is computed.
    progress : callable, optional
        ``progress(share) -> bool``; the run is cancelled where it returns False.

    Returns
    -------
    CurveSkeleton

    Raises
    ------
    InputError, DeviceError, Cancelled
        As `skeletonize`; `InputError` also names a component that is too large, or cannot be read.

    Examples
    --------
    >>> bar = np.zeros((5, 5, 30), np.uint32)
    >>> bar[1:4, 1:4, 1:29] = 1
    >>> boxes = np.array([[1, 1, 1]]), np.array([[4, 4, 29]])
    >>> skeleton = skeletonize_components(bar, np.array([252]), *boxes)
    >>> [node.kind for node in skeleton.nodes]
    ['end', 'end']
    """
    options, checked = options or SkeletonOptions(), checked_spacing(spacing)
    sizes, low, high = (np.asarray(each, np.int64) for each in (sizes, low, high))
    _check(labels, sizes, low, high, options, memory_limit)
    boxes = [tuple(map(slice, *ends)) for ends in zip(low.tolist(), high.tolist())]
    choose_device(checked_device(options.method, options.device))  # an error before the work begins
    progress = Progress.of(progress)
    progress.advance(0.0)
    components = _filled_components(labels, boxes, sizes, options, progress.part(0.0, 0.02))
    shape, rest = tuple(labels.shape), progress.part(0.02, 1.0)
    return skeleton_of_components(components, shape, checked, options, rest)


def _filled_components(
    labels: Any, boxes: list, sizes: np.ndarray, options: SkeletonOptions, progress: Progress
) -> Components:
    """The components in no other's cavity, filled."""
    began = perf_counter()
    nested: set[int] = set()
    numbers, filled_sizes = [], []
    cavities = cavity_voxels = 0
    for number, box in enumerate(boxes, 1):
        progress.advance((number - 1) / len(boxes))
        if number in nested:
            continue
        part, filled = _filled(labels, box, number)
        inside = filled & (part != 0)
        nested |= set(np.unique(part[inside & (part != number)]).tolist())
        _, nested_cavities, voxels = fill_cavities(inside)
        cavities += nested_cavities
        cavity_voxels += voxels
        numbers.append(number)
        filled_sizes.append(np.count_nonzero(filled))
    kept = np.array(filled_sizes)
    changes = NO_CHANGES | dict(cavities_filled=cavities, cavity_voxels=cavity_voxels)
    if options.drop_islands > 1:
        small = small_components(np.concatenate([[0], kept]), options.drop_islands)[1:]
        changes |= dict(islands_dropped=int(small.sum()), island_voxels=int(kept[small].sum()))
        numbers = np.array(numbers)[~small].tolist()
        kept = kept[~small]
    is_full = int(sizes.sum()) == int(np.prod(labels.shape, dtype=object))
    warnings = input_warnings(np.zeros(1, bool), is_full, options.strength)

    def masks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for number in numbers:
            box = boxes[number - 1]
            yield np.array([s.start - 1 for s in box]), np.pad(_filled(labels, box, number)[1], 1)

    return Components(kept, changes, warnings, masks(), perf_counter() - began)


def _filled(labels: Any, box: tuple, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels in a component's box, and the component with its cavities filled."""
    try:
        part = np.asarray(labels[box])
    except Exception as error:
        raise InputError(
            f"Component {number} cannot be read: {type(error).__name__}: {error}. Write the labels "
            "again."
        ) from error
    if not (part == number).any():
        raise InputError(
            f"The labels hold no component {number} in its box: they are not those that the boxes "
            "were found in."
        )
    return part, fill_cavities(part == number)[0]


def _check(
    labels: Any,
    sizes: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    options: SkeletonOptions,
    limit: int | None,
) -> None:
    shape = tuple(getattr(labels, "shape", ()))
    if options.close_tunnels:
        raise InputError(
            f"close_tunnels is {options.close_tunnels:g}, but closing tunnels needs the object as "
            "a whole: give 0, or fill gaps when the labels are made."
        )
    if len(shape) != 3 or np.dtype(labels.dtype).kind not in "iu":
        raise InputError(f"The labels have shape {shape}; K x J x I numbers are needed.")
    if not sizes.size:
        raise InputError(EMPTY)
    fit = low.shape == high.shape == (sizes.size, 3)
    if not fit or ((low < 0) | (low >= high) | (high > shape)).any():
        raise InputError("Each component needs a size and a box in the labels, low below high.")
    needed = (high - low + 6).prod(axis=1) * BOX_VOXEL
    if limit is not None and needed.max() > limit:
        number = int(needed.argmax()) + 1
        raise InputError(
            f"Component {number} of {sizes[number - 1]} voxels needs up to "
            f"{needed.max() / 1e9:.3g} GB, above the limit of {limit / 1e9:.3g} GB: its skeleton "
            "is exact only as a whole. Raise the limit, or raise the threshold."
        )
