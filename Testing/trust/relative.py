"""Relative connectedness under random load: as its definitions say, on tiny volumes with ties."""

from contextlib import ExitStack
from unittest.mock import patch

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.relative import stages
from support.relative_cases import (
    assert_as_defined,
    assert_levels_as_defined,
    random_groups,
    random_volume,
)

EVERY_NTH_ON_KERNELS = 16


class Part:
    """Each case is a volume with one to five groups, divided by affinity and by contrast.

    By affinity: relative and iterative, ties unlabelled and to the nearest group. By contrast: the
    same, on the whole volume and on a list of voxels.
    """

    def __init__(self, options):
        self._seed, self._on_card = options.seed, options.device == "cuda"
        self._leave, self._played = ExitStack(), None
        self.voxels = np.zeros(3, int)

    def __enter__(self):
        if not self._on_card:
            from emulators.cuda import EmulatedDevice, what_is_missing

            if not what_is_missing():
                self._played = self._leave.enter_context(EmulatedDevice("ascending"))
        return self

    def __exit__(self, *_):
        self._leave.close()

    def check(self, number):
        """Divide case `number` in every way; another result than the definition's is a finding."""
        rng = np.random.default_rng([self._seed, number])
        volume = random_volume(rng)
        groups = random_groups(rng, volume.shape, rng.integers(1, 6), 3)
        mask = None
        if rng.random() < 0.3:
            mask = (rng.random(volume.shape) < 0.8).astype(np.uint8)
            mask[tuple(np.concatenate(groups).T)] = 1
        cut = float(rng.choice([0, 0, 0, 0.5, 0.9]))
        affinity = GaussianAffinity(100, 20, 20, side=rng.choice(["both", "bright"]))
        several = assert_as_defined(volume, groups, affinity, cut, mask)
        capacities = rng.integers(0, rng.integers(2, 6), volume.shape).astype(np.uint16)
        assert_levels_as_defined(capacities, groups)
        self.voxels += volume.size, several[0], several[2]
        if self._on_card:
            assert_as_defined(volume, groups, affinity, cut, mask, "cuda")
        elif self._played and number % EVERY_NTH_ON_KERNELS == 0:
            with patch.object(stages, "choose_device", self._choose):
                assert_as_defined(volume, groups, affinity, cut, mask, "cuda")
            return "as defined, kernels too"
        return "as defined"

    def _choose(self, word):
        return "cpu" if word == "cpu" else self._played

    def notes(self):
        """How many voxels there were, and how many of them disputed."""
        voxels, relative, iterative = self.voxels.tolist()
        yield f"{voxels:,} voxels, {relative:,} disputed, {iterative:,} after iterating"
