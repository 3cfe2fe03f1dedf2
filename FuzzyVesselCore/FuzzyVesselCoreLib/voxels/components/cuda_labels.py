"""Connected pieces of a mask on the card: numbers, sizes, boxes, cavities, Euler characteristic.

Arrays are CuPy's, in C order; a mask is uint8 or bool, not 0 in the object.
"""

from pathlib import Path

import numpy as np

from ...errors import NoRoomError

KERNELS = Path(__file__).with_name("labels.cu")
THREADS = 256
NUMBERED = 1024  # words of a block that numbers pieces; as in pieces.cu
MOST_VOXELS = 2**31 - 1  # voxels are numbered by int32
MEASURES = 7  # of a piece: voxels, and how far it is from the volume's ends; as in measures.cuh


def label_pieces(mask, corners, gpu, report=None):
    """Number the connected pieces of a mask from 1, in the order of their first voxels.

    As `labelling.label_pieces` does, by union-find over runs of voxels (Komura 2015; Playne and
    Hawick 2018).

    Parameters
    ----------
    mask : array, uint8, shape (K, J, I)
    corners : bool
        Whether voxels are connected over edges and corners, too (26 neighbours), or over faces
        only (6 neighbours).
    gpu : CudaDevice
    report : callable, optional
        Called when the pieces are found; raises to cancel.

    Returns
    -------
    labels : array, int32, shape (K, J, I)
        0 outside of the mask.
    count : int

    Raises
    ------
    NoRoomError
        The volume has too many voxels to be numbered; so do all functions here.
    """
    rows = PackedRows(mask, gpu)
    labels = rows.joined_corners() if corners else rows.joined_faces(outside=False)
    counts = gpu.xp.empty(rows.blocks(NUMBERED), np.uint32)
    rows.run("settle", labels, counts, threads=NUMBERED)
    rows.run("number_roots", labels, counts, threads=NUMBERED)
    rows.run("spread_numbers", labels)
    _pause(report)
    return labels, int(gpu.get(counts).sum())


def sizes_of(labels, count, gpu):
    """Voxels of each piece, from number 0 (outside of all) on; int64 (count + 1,) on the host."""
    sizes = _measures(labels, count, gpu)[:, 0].astype(np.int64)
    sizes[0] = labels.size - sizes.sum()
    return sizes


def boxes_of(labels, count, gpu):
    """The box of each piece from number 1 on, as `scipy.ndimage.find_objects` gives it.

    A list of tuples of 3 slices, with None for a number that no voxel has.
    """
    return _boxes(_measures(labels, count, gpu)[1:], labels.shape)


def box_of(mask, gpu):
    """The smallest box that holds all of a mask, and how many voxels it has.

    Returns
    -------
    box : tuple of 3 slices, or None for an empty mask
    count : int
    """
    measures = gpu.xp.zeros((1, MEASURES), np.uint32)
    PackedRows(mask, gpu).run("measure_mask", measures)
    measures = gpu.get(measures)
    return _boxes(measures, mask.shape)[0], int(measures[0, 0])


def fill_cavities(mask, gpu, report=None):
    """Fill what the object encloses; as `solids.fill_cavities`.

    Returns
    -------
    filled : array, uint8
        The mask itself if there is nothing to fill.
    count : int
        Number of cavities.
    voxels : int
        Their voxels.
    """
    background = PackedRows(mask, gpu, inverted=True)
    parents = background.joined_faces(outside=True)
    found = gpu.xp.zeros(2, np.uint32)
    background.run("settle_cavities", parents, found)
    _pause(report)
    count, voxels = (int(n) for n in gpu.get(found))
    if count == 0:
        return mask, 0, 0
    filled = gpu.xp.empty(mask.shape, np.uint8)
    background.run("unpack_inverted", filled)
    return filled, count, voxels


def euler_characteristic(mask, gpu):
    """Components - tunnels + cavities of the object (26-connected); as in `topology`."""
    rows = PackedRows(mask, gpu)
    depth, height, width = mask.shape
    threads = (depth + 1) * (height + 1) * (width // 32 + 1)
    characteristic = gpu.xp.zeros(1, np.int64)
    rows.run("count_cells", characteristic, blocks=-(-threads // THREADS))
    return int(gpu.get(characteristic)[0])


def crop(labels, box, label, gpu, margin=1):
    """One piece in its box, with some empty layers around it.

    Parameters
    ----------
    labels : array of int32, uint8 or bool, shape (K, J, I)
    box : tuple of 3 slices
    label : int
        Its number.
    gpu : CudaDevice
    margin : int
        Layers; beyond the volume there is nothing.

    Returns
    -------
    array, uint8
        1 where the label is.
    """
    first = [side.start - margin for side in box]
    shape = tuple(side.stop - side.start + 2 * margin for side in box)
    mask = gpu.xp.empty(shape, np.uint8)
    numbers = labels.itemsize, *labels.shape, *first, label, *shape[1:]
    arguments = labels, *(np.int32(n) for n in numbers), mask
    gpu.kernel(KERNELS, "crop")((shape[0] * shape[1],), (64,), arguments)
    return mask


class PackedRows:
    """A mask on the card, with 32 voxels of a row in one word; rows begin with a new word.

    Parameters
    ----------
    mask : array, uint8, shape (K, J, I)
    gpu : CudaDevice
    inverted : bool
        Take the voxels that are 0.
    """

    def __init__(self, mask, gpu, inverted=False):
        _check_size(mask.size)
        self._gpu, self._shape = gpu, mask.shape
        depth, height, width = mask.shape
        self._words = gpu.xp.empty(depth * height * -(-width // 32), np.uint32)
        arguments = mask, *_sizes(mask.shape), np.int32(inverted), self._words
        gpu.kernel(KERNELS, "pack")((self.blocks(THREADS),), (THREADS,), arguments)

    def blocks(self, threads):
        """How many blocks there are with one thread a word."""
        return -(-self._words.size // threads)

    def run(self, kernel, *arguments, threads=THREADS, blocks=None):
        """Run a kernel on the words, with one thread a word if the blocks are not given."""
        kernel = self._gpu.kernel(KERNELS, kernel)
        arguments = self._words, *_sizes(self._shape), *arguments
        kernel((blocks or self.blocks(threads),), (threads,), arguments)

    def joined_faces(self, outside):
        """Parents of the runs of voxels when all that meet over faces are joined; int32.

        With `outside`, what is at the volume's border is joined as well, to voxel 0.
        """
        parents = self._runs()
        self.run("join_faces", np.int32(outside), parents)
        return parents

    def joined_corners(self):
        """The same for runs that meet over faces, edges or corners."""
        parents = self._runs()
        self.run("join_corners", parents)
        return parents

    def _runs(self):
        parents = self._gpu.xp.empty(self._shape, np.int32)
        self.run("start_runs", parents)
        return parents


def _measures(labels, count, gpu):
    _check_size(labels.size)
    measures = gpu.xp.zeros((count + 1, MEASURES), np.uint32)
    words = int(np.prod(labels.shape[:2])) * -(-labels.shape[2] // 32)
    kernel = gpu.kernel(KERNELS, "measure_labels")
    kernel((-(-words // THREADS),), (THREADS,), (labels, *_sizes(labels.shape), measures))
    return gpu.get(measures)


def _boxes(measures, shape):
    starts = (np.array(shape) - measures[:, 1:4]).tolist()
    stops = measures[:, 4:].tolist()
    return [
        tuple(slice(a, b) for a, b in zip(start, stop)) if stop[0] else None
        for start, stop in zip(starts, stops)
    ]


def _check_size(voxels):
    if voxels > MOST_VOXELS:
        raise NoRoomError(
            f"The volume has {voxels:,} voxels, and {MOST_VOXELS:,} can be numbered on the card; "
            "use device 'cpu', or work on a smaller region."
        )


def _sizes(shape):
    return (np.int32(n) for n in shape)


def _pause(report):
    if report is not None:
        report()
