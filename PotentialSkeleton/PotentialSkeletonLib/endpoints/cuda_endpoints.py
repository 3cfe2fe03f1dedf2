"""Endpoints of an object on the device; see `endpoints`."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .cuda_local_maxima import SuperlevelComponents
from .device_object import DeviceObject, split_keys
from .endpoints import CAP_REACH, MIN_EXTENSION, open_ends

KERNELS = Path(__file__).with_name("endpoints.cu")
THREADS, BLOCKS = 128, 4096
CAPACITY = 1 << 16  # maxima in the list of the first launch
MAX_COPIED_AT_ONCE = 1 << 10  # maxima that are copied together with their number
MAX_STEPS_PER_LAUNCH = 1 << 14  # of the paths that one warp follows


def protrusion_endpoints(
    device_object: DeviceObject, min_length: float, progress: Progress
) -> np.ndarray:
    """Ends of the object's protrusions; see `endpoints.protrusion_endpoints`.

    Returns
    -------
    ndarray of int64
        Flat indices on the host, ascending.
    """
    heights, maxima = ordered_candidates(device_object, min_length, progress)
    if len(maxima) == 0:
        return np.array([], np.int64)
    components = SuperlevelComponents(device_object, progress)
    widths = components.protrusion_widths(maxima, min_length)
    ends = widths >= 0
    reaches = CAP_REACH * widths[ends]
    return np.unique(components.end_cap_centres(heights[ends], maxima[ends], reaches))


def endpoints_beyond(
    device_object: DeviceObject, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
) -> np.ndarray:
    """Ends of protrusions beyond ends of a skeleton; see `endpoints.endpoints_beyond`.

    Parameters
    ----------
    device_object : DeviceObject
        The distances from the skeleton.
    skeleton, endpoints : ndarray of int
        Flat indices, ascending, of its voxels and of ends that stay; on the host.
    progress : Progress

    Returns
    -------
    ndarray of int64
        Flat indices on the host, ascending.
    """
    ends = open_ends(skeleton, device_object.distances.shape, endpoints)
    if len(ends) == 0:
        return np.array([], np.int64)
    components, gpu = SuperlevelComponents(device_object, progress), device_object.gpu
    heights, maxima = components.furthest_beyond(ends)
    widths = gpu.get(device_object.depth.reshape(-1)[gpu.put(np.asarray(ends, np.int64))])
    go_on = heights * device_object.unit > MIN_EXTENSION * widths
    reaches = CAP_REACH * widths[go_on]
    return np.unique(components.end_cap_centres(heights[go_on], maxima[go_on], reaches))


def endpoint_candidates(
    device_object: DeviceObject, min_length: float, progress: Progress
) -> np.ndarray:
    """Flat indices, ascending, of the maxima that pass a quick test; see `candidates`."""
    return np.sort(ordered_candidates(device_object, min_length, progress)[1]).astype(np.int64)


def ordered_candidates(
    device_object: DeviceObject, min_length: float, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The maxima that pass a quick test, which all endpoints do; see `candidates`.

    Returns
    -------
    heights, maxima : ndarray of int32, (n,)
        Distances and flat indices, on the host; lower ones first, of equally high ones the last in
        memory.
    """
    capacity = CAPACITY
    while True:
        count, keys = _candidate_keys(device_object, min_length, capacity, progress)
        if count <= capacity:
            return split_keys(np.sort(keys))
        capacity = count


def _candidate_keys(
    device_object: DeviceObject, min_length: float, capacity: int, progress: Progress
) -> tuple[int, np.ndarray]:
    """How many maxima there are, and, if within the capacity, the keys of the candidates."""
    size, gpu = device_object.distances.size, device_object.gpu
    rule = device_object.volume(KERNELS), device_object.limits(KERNELS, min_length)
    maxima, found = gpu.xp.empty(capacity, np.int32), gpu.xp.zeros(capacity + 2, np.uint64)
    counts, positions = found[:2].view(np.int32), gpu.xp.empty(2 * capacity, np.int32)
    listed = gpu.struct(KERNELS, "MaximaList", capacity=capacity, maxima=maxima, counts=counts)
    gpu.kernel(KERNELS, "find_local_maxima")(
        (min(-(-size // THREADS), BLOCKS),), (THREADS,), (rule[0], np.int32(size), rule[1], listed)
    )
    paths = dict(steps=device_object.step_lengths(), max_steps=MAX_STEPS_PER_LAUNCH)
    paths.update(positions=positions, found=found[2:])
    begin, left = True, True
    while left:
        launch = gpu.struct(KERNELS, "Paths", **paths, begin=begin)
        gpu.kernel(KERNELS, "follow_paths")((BLOCKS // 8,), (THREADS,), (*rule, listed, launch))
        first = gpu.get(found[: MAX_COPIED_AT_ONCE + 2])
        of_maxima, count, left = first[:2].view(np.int32)[:3]
        if left:
            begin, counts[2:3] = False, 0
        progress.check()
    is_copied = count <= MAX_COPIED_AT_ONCE
    return int(of_maxima), first[2 : count + 2] if is_copied else gpu.get(found[2 : count + 2])
