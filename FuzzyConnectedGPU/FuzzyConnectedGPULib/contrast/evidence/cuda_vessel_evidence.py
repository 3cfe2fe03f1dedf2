"""Evidence of vessels found on the card, and kept there."""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from ..launches import VOXEL_NAMES, check_count
from ..neighbourhood import at_click
from ..paths.cuda_widest_paths import widest_paths
from . import cuda_background as background
from . import cuda_filters as filters
from . import vessel_evidence as rules
from .cuda_tissue import TissueOnCard, part_of, shift
from .filters import gaussian_weights
from .tissue import tissue_round

BYTES_A_VOXEL = 13  # on the card at most: smooth, gain and offset, mask; the cells are few


class EvidenceOnCard(rules.Evidence):
    """Evidence whose arrays are on a card; on the host they are as soon as they are asked for.

    Attributes
    ----------
    on_card : tuple of arrays
        Contrast and smooth (float32), and the mask (uint8) or None: 8 or 9 bytes a voxel.
    """

    def __init__(self, on_card, gpu, tissue, **known):
        vars(self).update(known, on_card=on_card, _gpu=gpu, _tissue=tissue)

    def leave_card(self):
        """The same evidence on the host alone: of the card's memory nothing is held any more."""
        host = rules.Evidence(
            self.box,
            self.contrast,
            self.noise,
            self.smooth,
            self.inside,
            self.unit,
            self.polarity,
            self._tissue.on_host,
            self._first_seed,
        )
        known = {
            name: vars(self)[name] for name in ("wide_contrast", "difference") if name in vars(self)
        }
        vars(host).update(known)
        return host

    @cached_property
    def contrast(self):
        return self._gpu.get(self.on_card[0])

    @cached_property
    def smooth(self):
        return self._gpu.get(self.on_card[1])

    @cached_property
    def wide_contrast(self):
        smooth, tissue = self.on_card[1], self._tissue
        self._turn(smooth)  # the tissue's median is one of the volume's own intensities
        try:
            wide = tissue.background_cells(smooth, rules.WIDE_BACKGROUND / self.unit)
            contrast = background.subtract(smooth, *wide, tissue.median, self._gpu)
        finally:
            self._turn(smooth)
        self._turn(contrast)
        noise = tissue.centre(contrast)
        return self._gpu.get(contrast), noise

    def _turn(self, volume):
        """Turn the sign, in place, where vessels are dark."""
        if self.polarity < 0:
            shift(volume, 0, -1, self._gpu)

    @cached_property
    def difference(self):
        difference = self.on_card[1].copy()
        noise = self._tissue.centre(difference)
        return self._gpu.get(difference), noise

    def _smooth_at(self, click):
        box = tuple(
            slice(max(c - 1, 0), min(c + 2, n)) for c, n in zip(click, self.on_card[1].shape)
        )
        near = part_of(self.on_card[1], box, self._gpu)
        return at_click(near, [c - s.start for c, s in zip(click, box)])

    def widest_paths(self, starts, unit, floor, brighter=None, gpu=None):
        contrast, smooth, mask = self.on_card
        rivals = None if brighter is None else (smooth, brighter)
        place = contrast, mask, starts, unit, floor
        return self._gpu.get(widest_paths(*place, self._gpu, rivals))


def vessel_evidence(volume, spacing, first_seed, mask, check, gpu):
    """Evidence of vessels in a volume; parameters as `contrast.evidence.vessel_evidence` has.

    Returns
    -------
    EvidenceOnCard
        Its values differ from the CPU's by float32's rounding.
    """
    unit = np.asarray(spacing, float) / min(spacing)
    box = rules.box_of(mask, volume.shape, unit)
    inside = None if mask is None else np.ascontiguousarray(mask[box])
    seed = tuple(int(c) - s.start for c, s in zip(first_seed, box))
    part = rules.clipped(volume[box])
    check_count(part.size)
    if part.dtype.name not in VOXEL_NAMES:
        part = part.astype(np.float32)
    with ThreadPoolExecutor(1) as pool:  # the volume goes to the card meanwhile
        found = pool.submit(tissue_round, part, inside, seed, unit)
        raw = gpu.put(part)
        mask = None if inside is None else gpu.put(inside)
        check()
        found = found.result()
    check()
    tissue = TissueOnCard(found, mask, gpu)
    cells = tissue.background_cells(raw, rules.BACKGROUND / unit)
    lowest = tissue.median - rules.LOWEST * tissue.deviation if tissue.deviation > 0 else -np.inf
    weights = [gaussian_weights(rules.SMOOTHING / u) for u in unit]
    smooth = filters.separable(raw, weights, gpu, lowest)
    raw = None
    radii = [round(rules.GUIDE / u) for u in unit]
    for _pass in range(rules.GUIDED_PASSES):
        check()
        filters.self_guided(smooth, radii, tissue.noise(smooth), tissue.median, gpu)
    contrast = background.subtract(smooth, *cells, tissue.median, gpu)
    noise, polarity = tissue.centre(contrast), 1
    if part_of(contrast, [slice(c, c + 1) for c in seed], gpu)[0, 0, 0] < rules.DARK * noise:
        polarity = -1
        shift(contrast, 0, -1, gpu)
        shift(smooth, 0, -1, gpu)
    check()
    known = {"box": box, "noise": noise, "inside": inside, "unit": unit, "polarity": polarity}
    known["_first_seed"] = seed
    return EvidenceOnCard((contrast, smooth, mask), gpu, tissue, **known)
