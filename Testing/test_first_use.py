"""The first use in a process: code is compiled in a thread while the callback is asked."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCommon.errors import Cancelled
from PotentialSkeletonLib import first_use
from solid_shapes import ball


@pytest.fixture
def nothing_begun(monkeypatch):
    monkeypatch.setattr(first_use, "_threads", [])
    monkeypatch.setattr(first_use, "LOOK", 0.001)


def test_the_callback_is_asked_until_the_work_is_done(nothing_begun):
    done, asked = threading.Event(), []

    def report(share):
        asked.append(share)
        if len(asked) == 3:
            done.set()

    first_use.make_ready(lambda: done.wait(60), report)
    assert len(asked) >= 3
    assert set(asked) == {0.0}
    first_use.make_ready(lambda: pytest.fail("twice"), report)


def test_a_cancelled_run_waits_for_nobody_and_the_next_one_does(nothing_begun):
    go_on, ended = threading.Event(), []

    def work():
        go_on.wait(60)
        ended.append(True)

    def cancel(share):
        raise Cancelled

    with pytest.raises(Cancelled):
        first_use.make_ready(work, cancel)
    assert not ended
    first_use.wait_until_ready(lambda share: go_on.set())
    assert ended


def test_errors_of_the_trial_are_left_to_the_run(nothing_begun):
    first_use.make_ready(lambda: 1 / 0, lambda share: None)
    first_use.wait_until_ready(lambda share: pytest.fail("nothing is left to wait for"))


def test_the_small_object_has_all_that_needs_code_of_its_own():
    mask = first_use.small_object()
    assert ndimage.label(mask, np.ones((3, 3, 3)))[1] == 2  # an island
    assert ndimage.label(~mask)[1] == 2  # a cavity


def test_a_new_process_asks_the_callback_before_the_code_is_there():
    program = (
        "import sys, numpy as np\n"
        "from PotentialSkeletonLib import skeletonize\n"
        "def progress(share):\n"
        "    print('compiled' if 'PotentialSkeletonLib.assembly' in sys.modules else 'not yet')\n"
        "    return False\n"
        "skeletonize(np.ones((5, 5, 5)), progress=progress)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.splitlines() == ["not yet"]
    assert "Cancelled" in run.stderr


def test_a_skeleton_after_the_trial_is_the_same():
    from PotentialSkeletonLib import skeletonize

    mask = ball(6)
    with_progress = skeletonize(mask, progress=lambda share: True)
    np.testing.assert_array_equal(with_progress.to_labelmap(), skeletonize(mask).to_labelmap())
