"""JIT warm-up of the contrast model: a run waits for it, and it compiles what runs need."""

import numpy as np

from FuzzyConnectedGPULib import segment
from FuzzyConnectedGPULib.contrast import warm_up as contrast_warm_up
from FuzzyConnectedGPULib.contrast import widest_paths

VOLUME = np.random.default_rng(0).normal(0, 1, (12, 14, 16))
VOLUME[:, 5:9, 5:9] += 30


def test_the_trial_leaves_nothing_to_compile():
    functions = (widest_paths._spread,)
    contrast_warm_up.try_out()
    before = [set(function.signatures) for function in functions]
    volume = np.rint(100 * VOLUME).astype(np.int16)
    mask = np.ones(volume.shape, bool)
    clicks = dict(background_seeds=[[6, 1, 1]], spacing=(1.5, 1, 1), device="cpu")
    segment(volume, [[6, 7, 7], [1, 7, 7]], mask=mask, **clicks)
    segment(volume, [[6, 7, 7]], border="half", **clicks)
    assert [set(function.signatures) for function in functions] == before
    assert all(before)
