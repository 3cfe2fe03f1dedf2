"""Connectedness run after run: only what a change of the seeds asks for is computed."""

from dataclasses import dataclass, replace

import numpy as np

from .affinity.gaussian_affinity import estimate_affinity
from .contrast.automatic.automatic_seeds import automatic_seeds
from .contrast.segmenting import contrast_connectedness, evidence_function
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene

# What a run had to compute.
NOTHING, NEW_SEEDS, EVERYTHING = "nothing", "new seeds", "everything"

# Share of the progress of a run that first computes the seeds which stay.
STAYING_SHARE = 0.9


@dataclass(frozen=True)
class _Run:
    """A scene and the seeds that it comes from."""

    seeds: frozenset
    scene: FuzzyScene


class KeptConnectedness:
    """Computes fuzzy scenes and keeps the last one, as long as only the seeds change.

    The scene of some seeds is the voxelwise largest of each seed's own scene. So seeds that are
    added only raise it, and the paths of the others need not be walked again. Of a seed that is
    moved, the scene of all others is kept as well: each further step of a drag then costs what
    the one seed reaches. Any other change, of volume, mask, affinity, cut or solver, and a seed
    that is taken away, computes everything. Inputs are compared by value, so nothing old is ever
    returned as new; volume and mask are held until `forget` and must not be changed in place.

    Attributes
    ----------
    work : str
        What the last run computed: "nothing", "new seeds" or "everything".
    """

    def __init__(self):
        self.work = EVERYTHING
        self.forget()

    def forget(self):
        """Give the memory of volume and scenes back."""
        self._inputs = None
        self._last = self._staying = None
        self._evidence = self._evidence_inputs = None

    def connectedness(self, volume, seeds, affinity=None, *, progress=None, **options):
        """The same scene as `fuzzy_connectedness.connectedness`, with the same parameters."""
        if affinity is None:
            affinity = estimate_affinity(volume, seeds)
        inputs = (volume, affinity, options)
        if self._inputs is None or not _same(self._inputs, inputs):
            self.forget()

        def run(wanted, report, start=None):
            voxels = np.array(sorted(wanted), np.int64)
            scene = start and start.scene
            return _Run(
                wanted,
                connectedness(volume, voxels, affinity, progress=report, start=scene, **options),
            )

        wanted = frozenset(map(tuple, np.atleast_2d(seeds).tolist()))
        known = self._known(wanted)
        staying = self._staying
        if known is not None and known.seeds == wanted:
            self.work = NOTHING
            self._last = known
            return replace(known.scene, seconds=dict.fromkeys(known.scene.seconds, 0.0))
        if known is None and self._last is not None:
            kept = self._last.seeds & wanted
            if kept and len(wanted) == len(self._last.seeds) == len(kept) + 1:
                self._staying = run(kept, _part(progress, 0.0, STAYING_SHARE))
                self._last = run(wanted, _part(progress, STAYING_SHARE, 1.0), self._staying)
                self.work = EVERYTHING
                return self._last.scene
        result = run(wanted, progress, known)
        self.work = EVERYTHING if known is None else NEW_SEEDS
        self._inputs, self._last = inputs, result
        self._staying = staying if known is staying else None
        return result.scene

    def contrast_connectedness(self, volume, seeds, **options):
        """The same as `contrast.contrast_connectedness`; the evidence is kept."""
        return contrast_connectedness(volume, seeds, find_evidence=self._find_evidence, **options)

    def automatic_seeds(self, volume, **options):
        """The same as `contrast.automatic_seeds`; the evidence is kept for the next run."""
        return automatic_seeds(volume, find_evidence=self._find_evidence, **options)

    def _find_evidence(self, volume, spacing, first_seed, mask, check, gpu):
        inputs = volume, mask, spacing
        same = self._evidence is not None and all(map(_equal, self._evidence_inputs, inputs))
        if same and self._evidence.holds_for(first_seed):
            self.work = NEW_SEEDS
            return self._evidence
        self._evidence = None  # its memory is free before the next is found
        self.work = EVERYTHING
        evidence = evidence_function(None)(volume, spacing, first_seed, mask, check, gpu)
        # The card's memory is given back between runs.
        self._evidence = evidence if gpu is None else evidence.leave_card()
        self._evidence_inputs = inputs
        return self._evidence

    def _known(self, wanted):
        """The kept run with most of the wanted seeds and no other; None if there is none."""
        usable = [run for run in (self._last, self._staying) if run and run.seeds <= wanted]
        return max(usable, key=lambda run: len(run.seeds), default=None)


def _same(one, other):
    """Whether volume, affinity and options of two runs are the same."""
    options, others = one[2], other[2]
    return (
        one[1] == other[1]
        and options.keys() == others.keys()
        and all(_equal(options[name], others[name]) for name in options)
        and _equal(one[0], other[0])
    )


def _equal(one, other):
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other


def _part(progress, first, last):
    """A progress callback for a part of a run."""
    if progress is None:
        return None
    return lambda fraction: progress(first + (last - first) * fraction)
