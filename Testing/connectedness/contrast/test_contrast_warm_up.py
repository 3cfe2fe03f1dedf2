"""JIT warm-up of the contrast model: a run waits for it, and it compiles what runs need."""

import threading

import numpy as np

from FuzzyConnectedGPULib import segment
from FuzzyConnectedGPULib.contrast import warm_up as contrast_warm_up
from FuzzyConnectedGPULib.contrast import widest_paths
from FuzzyVesselCoreLib.jit import warm_up
from FuzzyVesselCoreLib.jit.warm_up import WarmUp

VOLUME = np.random.default_rng(0).normal(0, 1, (12, 14, 16))
VOLUME[:, 5:9, 5:9] += 30


def test_a_run_asks_its_callback_before_the_code_is_there(monkeypatch):
    monkeypatch.setattr(warm_up, "POLL_INTERVAL", 0.001)
    compiled, asked = threading.Event(), []
    monkeypatch.setattr(contrast_warm_up, "WARM_UP", WarmUp(lambda: compiled.wait(60)))

    def progress(share):
        asked.append((share, compiled.is_set()))
        if len(asked) == 4:
            compiled.set()
        return True

    found = segment(VOLUME, [[6, 7, 7]], device="cpu", progress=progress)
    assert asked[:4] == [(0.0, False)] * 4
    assert asked[-1] == (1.0, True)
    without = segment(VOLUME, [[6, 7, 7]], device="cpu")
    assert np.array_equal(found.scene.values, without.scene.values)


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
