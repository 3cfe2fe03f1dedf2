"""Automatic seeds: voxels on the axes of the strongest tubes in the contrast of a volume."""

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import reporter

from ...input_validation import checked_mask, checked_spacing, checked_volume
from ..segmenting import evidence_function

COUNT = 6
EVIDENCE_SHARE, EVIDENCE_STEPS = 0.7, 24  # of the progress of one polarity


def automatic_seeds(
    volume,
    *,
    spacing=None,
    mask=None,
    count=COUNT,
    device="auto",
    progress=None,
    find_evidence=None,
):
    """Seeds on the strongest tubular contrast, for a person to look at and to delete.

    The Hessian of the contrast to the local background is evaluated at three scales. A tube has
    two large negative eigenvalues and a small one; a plate has one, a blob three (Sato et al.,
    Medical Image Analysis 2 (1998) 143-168; Frangi et al., MICCAI 1998, 130-137). Bright vessels
    are looked for first, dark ones only where nothing bright is tubular.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        Of the types that `connectedness` takes.
    spacing : sequence of 3 float, optional
        Distance of voxels along K, J, I; by default 1, 1, 1.
    mask : ndarray, optional
        Seeds lie where it is not 0, off its border.
    count : int
        Seeds at most; there are fewer where fewer places are tubular.
    device : str
        As in `connectedness`; this search runs on the CPU.
    progress : callable, optional
        ``progress(fraction) -> bool``; False cancels.
    find_evidence : callable, optional
        Instead of `vessel_evidence`: one that keeps what it found.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        K, J, I: the strongest first. They are at least 20 of the smallest spacing from one another,
        or 10 where there are too few otherwise.

    Raises
    ------
    InputError
        An argument cannot be used, or nothing in the volume is tubular.
    DeviceError
        The device cannot be used.
    Cancelled
        `progress` returned False.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.random.default_rng(1).normal(0, 1, (32, 32, 32))
    >>> volume[:, 14:18, 14:18] += 20
    >>> k, j, i = automatic_seeds(volume, count=1)[0]
    >>> bool(13 < j < 18 and 13 < i < 18)
    True
    """
    count = _checked_count(count)
    choose_device(device)
    report = reporter(progress)
    report(0.0)
    volume = checked_volume(volume)
    spacing = checked_spacing(spacing, volume.shape[0])
    mask = checked_mask(mask, volume.shape)
    from .tubes import Values, tubular_voxels

    values = Values(volume, mask, spacing / spacing.min())
    for part, polarity in enumerate((1, -1)):
        first = values.first_seed(polarity)
        if first is None:
            continue
        steps = _Steps(report, part / 2)
        find = evidence_function(find_evidence)
        evidence = find(volume, spacing, first, mask, steps.check, None)
        if evidence.polarity != polarity:
            continue
        seeds = tubular_voxels(evidence, values.soft, count, steps.check)
        if len(seeds):
            report(1.0)
            return seeds
    raise InputError(
        "Nothing tubular stands out from the noise"
        + ("" if mask is None else " in the mask")
        + ": place the seeds by hand, or "
        + ("mask the organ whose vessels are wanted." if mask is None else "take a larger mask.")
    )


def _checked_count(count):
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"The number of automatic seeds is {count!r}; give a number from 1 up.")
    return int(count)


class _Steps:
    """Progress of the search for one polarity."""

    def __init__(self, report, start):
        self._report, self._start, self._done = report, start, 0

    def check(self):
        self._done += 1
        share = EVIDENCE_SHARE * min(self._done / EVIDENCE_STEPS, 1)
        self._report(self._start + share / 2)
