"""The places where the axes of limbs leave them, on the card; see `..caps`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..caps import OUTSIDE, bounds, middle_of, places_in

KERNELS = Path(__file__).with_name("kernels") / "caps.cu"
THREADS = 256
LARGEST_BOX = 2048  # words of 32 voxels, as in caps.cu
A_LAUNCH = 1 << 10  # caps


@dataclass
class Cap:
    """A cap that is looked for; see `caps.bounds`."""

    top: int
    low: np.ndarray
    high: np.ndarray
    lowest: np.ndarray

    @property
    def is_box(self):
        """Whether it is the whole box."""
        return self.lowest[0] <= OUTSIDE

    @property
    def ends_in_box(self):
        """Whether what is behind it is not the whole box."""
        return self.lowest[1] > OUTSIDE

    @property
    def is_small(self):
        return not self.is_box and self.words <= LARGEST_BOX

    @property
    def words(self):
        """Words of 32 voxels of a row."""
        k, j, i = self.high - self.low
        return int(k * j * -(-i // 32))

    @property
    def numbers(self):
        """The top, the box, and the least distances in the cap, and in it with what is behind."""
        far, near = (int(np.ceil(lowest)) for lowest in self.lowest)
        return [self.top, *self.low, *self.high, far, near if self.ends_in_box else far]


def middles_of_caps(heights, tops, reaches, distances, spacing, large, gpu, report=None):
    """The voxels where limbs' axes leave them; see `caps.middle_of_cap`.

    Parameters
    ----------
    heights : ndarray of int32
        The distances of the tops.
    tops, reaches : ndarrays
        As for `caps.middle_of_cap`.
    distances : CuPy's ndarray of int32, shape (K, J, I)
        From the core, along the object; -1 outside.
    spacing : 3 floats K, J, I, in mm
    large : LargePieces
    gpu : CudaDevice
    report : callable, optional
        Called between launches, and with each cap; raises to cancel.

    Returns
    -------
    list of int
    """
    shape, found = distances.shape, []
    caps = [
        Cap(int(top), *bounds(height, top, reach, shape, spacing))
        for height, top, reach in zip(heights, tops, reaches)
    ]
    for n in range(0, len(caps), A_LAUNCH):
        some = caps[n : n + A_LAUNCH]
        parts = _parts_of_small([cap for cap in some if cap.is_small], distances, gpu)
        for cap in some:
            if cap.is_small:
                voxels = next(parts)
            elif cap.is_box:
                voxels = [np.argwhere(np.ones(cap.high - cap.low, bool)).astype(np.int32)]
            else:
                voxels = _parts_of_large(cap, large, shape, gpu)
            behind = voxels[1] if cap.ends_in_box else None
            found.append(middle_of(voxels[0], behind, cap.low, cap.high, cap.top, shape, spacing))
            if report is not None:
                report()
    return found


def _parts_of_small(caps, distances, gpu):
    """For each cap the voxels (n, 3) of it, and of it with what is behind it, from the box on."""
    ends = 2 * np.cumsum([cap.words for cap in caps])
    table = [[*cap.numbers, end - 2 * cap.words] for cap, end in zip(caps, ends)]
    table, bits = np.array(table, np.int32), gpu.xp.empty(int(ends[-1]), np.uint32)
    plane = distances.shape[1] * distances.shape[2]
    gpu.kernel(KERNELS, "find_caps")(
        (len(caps),), (THREADS,),
        (distances, np.int32(distances.shape[2]), np.int32(plane), gpu.put(table), bits),
    )  # fmt: skip
    bits = np.unpackbits(gpu.get(bits).view(np.uint8), bitorder="little")
    for cap, part in zip(caps, np.split(bits, 32 * ends[:-1])):
        k, j, i = cap.high - cap.low
        yield [np.argwhere(some[..., :i]).astype(np.int32) for some in part.reshape(2, k, j, -1)]


def _parts_of_large(cap, large, shape, gpu):
    """The same of one cap."""
    top, *box, far, near = cap.numbers
    parts = [large.voxels[:size] for size in large.cap_sizes(top, box, far, near)]
    return [places_in(gpu.get(gpu.xp.sort(voxels)), cap.low, shape) for voxels in parts]
