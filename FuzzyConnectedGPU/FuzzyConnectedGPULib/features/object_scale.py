"""Object scale, and intensities averaged within it.

The scale of a voxel is the radius of the largest ball around it that is homogeneous (Saha, Udupa
and Odhner, "Scale-based fuzzy connected image segmentation: theory, algorithms, and validation",
Computer Vision and Image Understanding 77 (2000) 145-174, section on object scale). A scale-based
affinity compares the balls around two voxels instead of the voxels. Here, as in the vectorial form
(Zhuge, Udupa and Saha, Computer Vision and Image Understanding 101 (2006) 177-193), each
intensity is first replaced by its weighted mean over the voxel's ball; the affinity of two voxels
is that of the means.
"""

from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.bounding_box import Box, padded_box

from ..affinity import bell

MAX_SCALE = 4  # smallest spacings: a ball of 257 voxels takes out nine tenths of the noise
HOMOGENEOUS = 0.85  # share of a shell that has to be like the centre
# The width of the homogeneity: mean and so many deviations of the differences of neighbours, of
# which the uppermost, across borders, are left out.
WIDTH_DEVIATIONS, KEPT_DIFFERENCES = 3.0, 0.9
MAX_SAMPLES = 1 << 20
VOXELS_PER_VOXEL = 64  # that are worked on otherwise in the time of one voxel
SLICES_PER_STEP = 8  # between two progress callbacks

compiled_bell = njit(bell, cache=True)


def scale_filtered(
    volume: np.ndarray, box: Box, unit: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """Intensities (float32) of a box, averaged within each voxel's object scale.

    The mean of voxel c is weighted by ``exp(-d**2 / (2 * r**2))``, with the scale r of c and the
    distance d of a voxel to c.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    box : tuple of 3 slice
    unit : ndarray, shape (3,)
        Spacing along K, J, I in multiples of the smallest.
    progress : Progress, optional

    Returns
    -------
    ndarray, float32, of the box's shape
    """
    return _for_box(volume, box, unit, progress)[1]


def object_scale(
    volume: np.ndarray, box: Box, unit: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """Object scale (uint8, 1 to `MAX_SCALE` smallest spacings) of a box; parameters as above.

    Balls are enlarged by one until the share of the new shell's voxels that are like the centre,
    each counted by a Gaussian of its difference to the centre, is below `HOMOGENEOUS`; the scale
    is the last radius before.
    """
    return _for_box(volume, box, unit, progress)[0]


def homogeneity_width(values: np.ndarray) -> float:
    """Standard deviation of the homogeneity's Gaussian, from the differences of neighbours.

    Mean plus three standard deviations of the absolute differences along each axis, without the
    uppermost tenth of them.
    """
    differences = []
    for axis in range(3):
        if values.shape[axis] > 1:
            found = np.abs(np.diff(values, axis=axis)).ravel()
            differences.append(found[:: max(1, found.size // MAX_SAMPLES)])
    if not differences:
        return 0.0
    found = np.sort(np.concatenate(differences)).astype(np.float64)
    found = found[: max(1, int(KEPT_DIFFERENCES * found.size))]
    return float(found.mean() + WIDTH_DEVIATIONS * found.std())


def _for_box(volume, box, unit, progress):
    progress = Progress.of(progress)
    reach = np.floor(MAX_SCALE / unit).astype(int)
    wide = padded_box(box, reach.tolist(), volume.shape)
    values = np.ascontiguousarray(volume[wide], np.float32)
    origin = np.array([b.start - w.start for b, w in zip(box, wide)])
    shape = tuple(b.stop - b.start for b in box)
    scales, means = np.empty(shape, np.uint8), np.empty(shape, np.float32)
    width = homogeneity_width(values)
    factor = np.float32(1 / (np.sqrt(2) * width)) if width > 0 else np.float32(1e15)
    offsets, ends, squares = _shells(unit)
    arguments: Any = values, origin, offsets, ends, squares, factor
    for start in range(0, shape[0], SLICES_PER_STEP):
        progress.advance(start / shape[0])
        slices = min(SLICES_PER_STEP, shape[0] - start)

        def work(first: int, last: int, start: int = start) -> None:
            before = start * shape[1]
            rows = before + first, before + last
            _filter_rows(*(*arguments, *rows, scales, means))

        in_parts(work, slices * shape[1], VOXELS_PER_VOXEL * slices * scales[0].size)
    progress.advance(1.0)
    return scales, means


def _shells(unit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets of the largest ball by shell, the end of each shell, and squared distances."""
    reach = np.floor(MAX_SCALE / unit).astype(int)
    axes = [np.arange(-r, r + 1) for r in reach]
    offsets = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    squares = ((offsets * unit) ** 2).sum(axis=1)
    shell = np.ceil(np.sqrt(squares) - 1e-9).astype(int)
    order = np.argsort(shell, kind="stable")
    order = order[shell[order] <= MAX_SCALE]
    ends = np.searchsorted(shell[order], np.arange(MAX_SCALE + 1), side="right")
    return offsets[order], ends, squares[order].astype(np.float32)


@njit(nogil=True, cache=True)
def _filter_rows(values, origin, offsets, ends, squares, factor, first, last, scales, means):
    depth, height, width = values.shape
    rows = scales.shape[1]
    for row in range(first, last):
        k, j = row // rows, row % rows
        for i in range(scales.shape[2]):
            ck, cj, ci = k + origin[0], j + origin[1], i + origin[2]
            centre = values[ck, cj, ci]
            scale = 1
            for radius in range(1, len(ends)):
                alike, count = np.float32(0), 0
                for n in range(ends[radius - 1], ends[radius]):
                    a, b, c = ck + offsets[n, 0], cj + offsets[n, 1], ci + offsets[n, 2]
                    if 0 <= a < depth and 0 <= b < height and 0 <= c < width:
                        alike += compiled_bell((values[a, b, c] - centre) * factor)
                        count += 1
                if alike < HOMOGENEOUS * count:
                    break
                scale = radius
            scales[k, j, i] = scale
            total, weights = 0.0, 0.0
            for n in range(ends[scale]):
                a, b, c = ck + offsets[n, 0], cj + offsets[n, 1], ci + offsets[n, 2]
                if 0 <= a < depth and 0 <= b < height and 0 <= c < width:
                    weight = np.exp(-squares[n] / (2.0 * scale * scale))
                    total += weight * values[a, b, c]
                    weights += weight
            means[k, j, i] = total / weights
