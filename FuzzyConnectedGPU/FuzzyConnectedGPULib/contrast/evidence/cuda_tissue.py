"""Medians on the card of the samples that a tissue of the CPU was found by."""

import numpy as np

from ...affinity.gaussian_affinity import MAD_TO_SIGMA
from ..launches import each, integers, pointer
from . import cuda_background as background
from .tissue import NO_BACKGROUND

OF_TISSUE, OF_MASK = 2, 1  # flags of a sample; 0: outside the mask


class TissueOnCard:
    """The tissue round the vessels, for volumes on the card; see `contrast.tissue.Tissue`.

    Attributes
    ----------
    median, deviation : float
        Of the raw intensities.
    whole : bool
    on_host : Tissue
    """

    def __init__(self, tissue, mask, gpu):
        """tissue: of the CPU; mask: uint8 on the card, or None."""
        self.median, self.deviation, self.whole = tissue.median, tissue.deviation, tissue.whole
        self.on_host, self._mask, self._gpu = tissue, mask, gpu
        self._part, flags = tissue.samples()
        self._flags = gpu.put(flags)
        self._counted = {least: int(np.count_nonzero(flags >= least)) for least in (1, 2)}

    def noise(self, volume):
        """Deviation of the tissue's voxels."""
        median = self._median(volume, OF_TISSUE)
        return max(MAD_TO_SIGMA * self._median(volume, OF_TISSUE, median), self.on_host.least_noise)

    def centre(self, volume):
        """Subtract the tissue's median in place; the noise."""
        median = self._median(volume, OF_MASK if self.whole else OF_TISSUE)
        shift(volume, median, 1, self._gpu)
        return self.noise(volume)

    def background_cells(self, volume, sigmas):
        """See `background.background_cells`."""
        limit = NO_BACKGROUND * self.deviation if self.deviation > 0 else -1
        place = volume, self._mask, self.median, limit, sigmas
        return background.background_cells(*place, self._gpu)

    def _median(self, volume, least, centre=None):
        """Median of the samples with at least a flag, or of their distances to a centre."""
        count = self._counted[least]
        if not count:
            return 0.0
        keys = _keys(volume, self._part, self._gpu, self._flags, least, centre)
        keys.sort()
        middle = self._gpu.get(keys[(count - 1) // 2 : count // 2 + 1])
        return float(np.mean(_numbers(middle)))


def part_of(volume, part, gpu):
    """A small part of a volume on the card (slices), as a numpy array."""
    shape = [s.stop - s.start for s in part]
    return _numbers(gpu.get(_keys(volume, part, gpu))).reshape(shape)


def _keys(volume, part, gpu, flags=None, least=0, centre=None):
    """The values of a part as integers in their order; of those with at least a flag."""
    counts = [len(range(s.start, s.stop, s.step or 1)) for s in part]
    keys = gpu.xp.empty(int(np.prod(counts)), np.int32)
    _, height, width = volume.shape
    corner = np.ravel_multi_index([s.start for s in part], volume.shape)
    steps = [s.step or 1 for s in part]
    apart = steps[0] * height * width, steps[1] * width, steps[2]
    place = tuple(np.uint32(n) for n in (corner, *apart))
    which = pointer(flags), *integers((least, centre is not None)), np.float32(centre or 0)
    args = volume, *place, *integers(counts), *which, keys
    each(gpu, "evidence/samples", "take_samples", keys.size, args)
    return keys


def _numbers(keys):
    """The float32 numbers of keys on the host."""
    return (keys ^ (keys >> 31 & 0x7FFFFFFF)).view(np.float32)


def shift(volume, amount, sign, gpu):
    """Subtract an amount and multiply by 1 or -1, in place."""
    args = volume, np.uint32(volume.size), np.float32(amount), np.float32(sign)
    each(gpu, "evidence/samples", "shift_values", volume.size, args)
