"""Writing the field of one solid to the volume, by threads for parts of its planes."""

import numpy as np

from FuzzyVesselCoreLib.jit import compiled
from FuzzyVesselCoreLib.threads import in_parts

from ..object.voxel_classes import BOUNDARY, OUTSIDE


def place(
    own_classes: np.ndarray,
    forces: np.ndarray,
    first: list[int],
    label: int,
    labels: np.ndarray,
    classes: np.ndarray,
    vectors: np.ndarray,
) -> None:
    """Write the classes of a solid's box and the forces (n, 3) of its voxels to the volume.

    The box begins at `first` in the volume and may reach beyond it. Voxels of other components
    (`labels` is not `label`) are not written, nor those outside of all components that have a class
    already.
    """
    counts = [np.count_nonzero(plane >= BOUNDARY) for plane in own_classes]
    starts = np.cumsum([0, *counts])

    def work(a: int, b: int) -> None:
        here, own_first = forces[starts[a] : starts[b]], (first[0] + a, first[1], first[2])
        place_planes(own_classes[a:b], here, own_first, label, labels, classes, vectors)

    in_parts(work, len(own_classes), own_classes.size)


@compiled
def place_planes(own_classes, forces, first, label, labels, classes, vectors):
    """`place` for some planes of the box."""
    depth, rows, width = classes.shape
    count = 0
    for k in range(own_classes.shape[0]):
        for j in range(own_classes.shape[1]):
            for i in range(own_classes.shape[2]):
                own = own_classes[k, j, i]
                count += own >= BOUNDARY
                a, b, c = first[0] + k, first[1] + j, first[2] + i
                is_there = 0 <= a < depth and 0 <= b < rows and 0 <= c < width
                if own == OUTSIDE or not is_there:
                    continue
                other = labels[a, b, c]
                if other != label and (other != 0 or classes[a, b, c] != OUTSIDE):
                    continue
                classes[a, b, c] = own
                if own >= BOUNDARY:
                    for axis in range(3):
                        vectors[a, b, c, axis] = forces[count - 1, axis]
