"""Connected components of a mask on a CUDA device; the functions of `labels`, and a few more.

Arrays are CuPy's, in C order; a mask is uint8 or bool, not 0 in the object. All functions raise
`DeviceMemoryError` for a volume with too many voxels to be numbered by int32.
"""

from typing import Any

import numpy as np

from ...progress import Progress
from ..bounding_box import Box
from .labels import Connectivity
from .packed_mask import KERNELS, THREADS, PackedMask, check_size, int32s

NUMBERING_THREADS = 1024  # as in labels.cu
MEASURES = 7  # of a component: voxels, and distances to the volume's ends; as in measures.cuh


def label_components(
    mask: Any, gpu: Any, connectivity: Connectivity = 26, progress: Progress | None = None
) -> tuple[Any, int]:
    """Label the connected components of a mask from 1, in the order of their first voxels.

    Union-find over runs of voxels (Komura 2015; Playne and Hawick 2018).

    Parameters
    ----------
    mask : CuPy's ndarray of uint8, shape (K, J, I)
    gpu : CudaDevice
    connectivity : int
        26: over faces, edges and corners; 6: over faces only.
    progress : Progress, optional
        Checked when the components are found.

    Returns
    -------
    labels : CuPy's ndarray of int32, shape (K, J, I)
        0 outside of the mask.
    count : int

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    bits = PackedMask(mask, gpu)
    labels = bits.joined_corners() if connectivity == 26 else bits.joined_faces(outside=False)
    counts = gpu.xp.empty(bits.block_count(NUMBERING_THREADS), np.uint32)
    bits.run("flatten_trees", labels, counts, threads=NUMBERING_THREADS)
    bits.run("number_roots", labels, counts, threads=NUMBERING_THREADS)
    bits.run("write_labels", labels)
    Progress.of(progress).check()
    return labels, int(gpu.get(counts).sum())


def component_sizes(labels: Any, count: int, gpu: Any) -> np.ndarray:
    """Return the number of voxels of each label from 0 on; numpy's int64 (count + 1,)."""
    sizes = _measures(labels, count, gpu)[:, 0].astype(np.int64)
    sizes[0] = labels.size - sizes.sum()
    return sizes


def component_boxes(labels: Any, count: int, gpu: Any) -> list[Box | None]:
    """Return the bounding box of each label from 1 on; None for a label without voxels."""
    return _boxes(_measures(labels, count, gpu)[1:], labels.shape)


def bounding_box(mask: Any, gpu: Any) -> tuple[Box | None, int]:
    """Return the smallest box that holds a mask (None if it is empty), and its voxel count."""
    measures = gpu.xp.zeros((1, MEASURES), np.uint32)
    PackedMask(mask, gpu).run("measure_mask", measures)
    measures = gpu.get(measures)
    return _boxes(measures, mask.shape)[0], int(measures[0, 0])


def fill_cavities(mask: Any, gpu: Any, progress: Progress | None = None) -> tuple[Any, int, int]:
    """Fill cavities: background that is not 6-connected to the outside of the volume.

    Returns
    -------
    filled : CuPy's ndarray of uint8, shape (K, J, I)
        The mask itself if it has no cavity.
    count : int
        Number of cavities.
    voxels : int
        Number of their voxels.
    """
    background = PackedMask(mask, gpu, inverted=True)
    parents = background.joined_faces(outside=True)
    found = gpu.xp.zeros(2, np.uint32)
    background.run("clear_cavities", parents, found)
    Progress.of(progress).check()
    count, voxels = (int(n) for n in gpu.get(found))
    if count == 0:
        return mask, 0, 0
    filled = gpu.xp.empty(mask.shape, np.uint8)
    background.run("unpack_inverted", filled)
    return filled, count, voxels


def euler_characteristic(mask: Any, gpu: Any) -> int:
    """Return components - tunnels + cavities of an object (26-connected)."""
    depth, rows, width = mask.shape
    threads = (depth + 1) * (rows + 1) * (width // 32 + 1)
    characteristic = gpu.xp.zeros(1, np.int64)
    PackedMask(mask, gpu).run("count_cells", characteristic, blocks=-(-threads // THREADS))
    return int(gpu.get(characteristic)[0])


def crop(labels: Any, box: Box, label: int, gpu: Any, margin: int = 1) -> Any:
    """Return one component in its box, with a margin of empty voxels.

    Parameters
    ----------
    labels : CuPy's ndarray of int32, uint8 or bool, shape (K, J, I)
    box : tuple of 3 slices
    label : int
    gpu : CudaDevice
    margin : int
        Layers of voxels; it may reach beyond the volume.

    Returns
    -------
    CuPy's ndarray of uint8
        1 where the label is.
    """
    first = [side.start - margin for side in box]
    shape = tuple(side.stop - side.start + 2 * margin for side in box)
    mask = gpu.xp.empty(shape, np.uint8)
    depth, rows, width = labels.shape
    volume = gpu.struct(KERNELS, "Shape", depth=depth, rows=rows, width=width)
    corner = dict(zip(("first_k", "first_j", "first_i"), first))
    crop_box = gpu.struct(KERNELS, "CropBox", **corner, rows=shape[1], width=shape[2])
    args = labels, np.int32(labels.itemsize), volume, crop_box, np.int32(label), mask
    gpu.kernel(KERNELS, "crop")((shape[0] * shape[1],), (64,), args)
    return mask


def _measures(labels: Any, count: int, gpu: Any) -> np.ndarray:
    check_size(labels.size)
    measures = gpu.xp.zeros((count + 1, MEASURES), np.uint32)
    words = int(np.prod(labels.shape[:2])) * -(-labels.shape[2] // 32)
    kernel = gpu.kernel(KERNELS, "measure_labels")
    kernel((-(-words // THREADS),), (THREADS,), (labels, *int32s(labels.shape), measures))
    return gpu.get(measures)


def _boxes(measures: np.ndarray, shape: tuple[int, ...]) -> list[Box | None]:
    starts = (np.array(shape) - measures[:, 1:4]).tolist()
    stops = measures[:, 4:].tolist()
    return [
        tuple(slice(a, b) for a, b in zip(start, stop)) if stop[0] else None
        for start, stop in zip(starts, stops)
    ]
