"""Endpoints of an object: where it reaches furthest from a core, and by more than its own width.

Seen from the core, each protrusion of the object holds a local maximum of the geodesic distance.
The voxels further out than some level are connected components, one a protrusion; as that level
sinks, components grow and merge. A component's maximum is an endpoint as soon as the component is
long for its width. Bumps on a surface, blunt ends and the corners of boxes merge into larger
components before. Where a skeleton ends within a protrusion, little is left of it beyond: such an
end is extended.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import neighbour_steps, unit_of
from FuzzyVesselCoreLib.voxels.topology import adjacent_pairs

from .candidates import endpoint_candidates
from .end_caps.cap_centre import end_cap_centre
from .local_maxima import protrusion_widths

MIN_EXTENSION = 1.3  # inscribed radii at an end of the core beyond which its protrusion goes on
CAP_REACH = 0.75  # share of a protrusion's radius by which its end cap reaches back


def protrusion_endpoints(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: tuple[float, ...],
    min_length: float,
    progress: Progress,
) -> np.ndarray:
    """Ends of the object's protrusions.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object.
    depth : ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    min_length : float
        Millimetres that a protrusion is longer than `SLENDERNESS` times its radius.
    progress : Progress

    Returns
    -------
    ndarray of int64
        Flat indices, ascending.
    """
    flat, offsets = distances.reshape(-1), neighbour_steps(distances.shape, spacing)[0]
    maxima = endpoint_candidates(distances, depth, spacing, min_length, progress)
    maxima = maxima[np.lexsort((-maxima, flat[maxima]))]
    widths = progress.wait_for(
        protrusion_widths, maxima, flat, depth.reshape(-1), offsets, unit_of(spacing), min_length
    )
    endpoints = []
    for maximum, width in zip(maxima[widths >= 0], widths[widths >= 0]):
        endpoints.append(end_cap_centre(distances, maximum, CAP_REACH * width, spacing))
        progress.check()
    return np.unique(np.array(endpoints, np.int64))


def endpoints_beyond(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: tuple[float, ...],
    skeleton: np.ndarray,
    endpoints: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Ends of the protrusions that go on beyond an end of a skeleton.

    Parameters
    ----------
    distances, depth, spacing
        As for `protrusion_endpoints`; the distances from the skeleton.
    skeleton : ndarray of int
        Flat indices of its voxels, ascending.
    endpoints : ndarray of int
        Flat indices of ends that stay.
    progress : Progress
        Checked at each end of the skeleton.

    Returns
    -------
    ndarray of int64
        Flat indices, ascending.
    """
    flat, depths = distances.reshape(-1), depth.reshape(-1)
    offsets, weights = neighbour_steps(distances.shape, spacing)
    seen = np.zeros(flat.size, np.uint8)
    unit, found = unit_of(spacing), []
    for voxel in open_ends(skeleton, distances.shape, endpoints):
        progress.check()
        furthest, width = furthest_beyond(flat, offsets, weights, voxel, seen), depths[voxel]
        if flat[furthest] * unit > MIN_EXTENSION * width:
            found.append(end_cap_centre(distances, furthest, CAP_REACH * width, spacing))
    return np.unique(np.array(found, np.int64))


def open_ends(skeleton: np.ndarray, shape: tuple[int, ...], endpoints: np.ndarray) -> np.ndarray:
    """Voxels of a skeleton that have one neighbour in it and are no endpoints; flat, ascending."""
    later, earlier, _ = adjacent_pairs(skeleton, shape[2], shape[1] * shape[2])
    counts = np.bincount(np.concatenate([later, earlier]), minlength=len(skeleton))
    return np.setdiff1d(skeleton[counts == 1], endpoints)


@compiled
def furthest_beyond(
    distances: np.ndarray, offsets: np.ndarray, weights: np.ndarray, start: int, seen: np.ndarray
) -> int:
    """The voxel furthest from the skeleton of those whose shortest path to it ends at `start`."""
    waiting = [start]
    furthest = start
    while len(waiting) > 0:
        voxel = waiting.pop()
        if (distances[voxel], -voxel) > (distances[furthest], -furthest):
            furthest = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if not seen[other] and distances[other] == distances[voxel] + weights[side]:
                seen[other] = 1
                waiting.append(other)
    return furthest
