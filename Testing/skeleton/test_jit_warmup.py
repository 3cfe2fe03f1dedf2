"""JIT warm-up: code is compiled in a thread while the progress callback is called."""

import threading

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import extraction, jit_warmup
from support.solid_shapes import ball


@pytest.fixture
def nothing_begun(monkeypatch):
    monkeypatch.setattr(jit_warmup, "_threads", [])
    monkeypatch.setattr(jit_warmup, "POLL_INTERVAL", 0.001)


def test_the_callback_is_asked_until_the_work_is_done(nothing_begun):
    done, asked = threading.Event(), []

    def report(share):
        asked.append(share)
        if len(asked) == 3:
            done.set()

    jit_warmup.warm_up(lambda: done.wait(60), Progress(report))
    assert len(asked) >= 3
    assert set(asked) == {0.0}
    jit_warmup.warm_up(lambda: pytest.fail("twice"), Progress(report))


def test_a_cancelled_run_waits_for_nobody_and_the_next_one_does(nothing_begun):
    go_on, ended = threading.Event(), []

    def work():
        go_on.wait(60)
        ended.append(True)

    with pytest.raises(Cancelled):
        jit_warmup.warm_up(work, Progress(lambda share: False))
    assert not ended
    jit_warmup.wait_for_warm_up(Progress(lambda share: go_on.set()))
    assert ended


def test_errors_of_the_trial_are_left_to_the_run(nothing_begun):
    jit_warmup.warm_up(lambda: 1 / 0, Progress())
    jit_warmup.wait_for_warm_up(Progress(lambda share: pytest.fail("nothing is left to wait for")))


def test_the_small_object_has_all_that_needs_code_of_its_own():
    mask = jit_warmup.small_object()
    assert ndimage.label(mask, np.ones((3, 3, 3)))[1] == 2  # an island
    assert ndimage.label(~mask)[1] == 2  # a cavity


def test_a_run_asks_its_callback_before_the_code_is_there(nothing_begun, monkeypatch):
    compiled, asked = threading.Event(), []
    monkeypatch.setattr(extraction, "_try_out", lambda: compiled.wait(60))

    def progress(share):
        asked.append((share, compiled.is_set()))
        if len(asked) == 3:
            compiled.set()
        return True

    extraction.skeletonize(ball(4), progress=progress)
    assert asked[:3] == [(0.0, False)] * 3
    assert asked[-1] == (1.0, True)


def test_a_run_without_a_callback_waits_for_a_trial_that_goes_on(nothing_begun, monkeypatch):
    go_on, ended = threading.Event(), []

    def work():
        go_on.wait(60)
        ended.append(True)

    with pytest.raises(Cancelled):
        jit_warmup.warm_up(work, Progress(lambda share: False))
    # The trial goes on when the run that waits for it looks for the first time.
    monkeypatch.setattr(Progress, "check", lambda self: go_on.set())
    monkeypatch.setattr("PotentialSkeletonLib.assembly.assemble", lambda *_: ended.copy())
    assert extraction.skeletonize(ball(4)) == [True]


def test_the_trial_works():
    extraction._try_out()  # its errors are not seen otherwise


def test_a_skeleton_after_the_trial_is_the_same():
    mask = ball(6)
    with_progress = extraction.skeletonize(mask, progress=lambda share: True)
    without = extraction.skeletonize(mask)
    np.testing.assert_array_equal(with_progress.to_labelmap(), without.to_labelmap())
