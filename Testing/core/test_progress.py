"""Progress: shares of parts, cancellation, and waiting for compiled code."""

import time

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress


def test_shares_of_parts_are_shares_of_the_run():
    shares = []
    progress = Progress(shares.append)
    progress.advance(0.1)
    second = progress.part(0.2, 0.6)
    second.advance(0.5)
    second.part(0.5, 1.0).advance(1.0)
    assert shares == pytest.approx([0.1, 0.4, 0.6])


def test_the_reported_share_never_falls_and_stays_within_0_and_1():
    shares = []
    progress = Progress(shares.append)
    for share in (-1.0, 0.7, 0.3, 5.0):
        progress.advance(share)
    assert shares == [0.0, 0.7, 0.7, 1.0]


@pytest.mark.parametrize("answer", [False, np.False_, 0])
def test_false_cancels(answer):
    progress = Progress(lambda share: answer)
    with pytest.raises(Cancelled, match="nothing was changed"):
        progress.check()
    with pytest.raises(Cancelled):
        progress.part(0.0, 0.5).advance(1.0)


@pytest.mark.parametrize("answer", [None, True, 1])
def test_anything_else_goes_on(answer):
    Progress(lambda share: answer).advance(0.5)


def test_a_progress_is_a_callback_and_stands_for_itself():
    shares = []
    progress = Progress(shares.append)
    assert Progress.of(progress) is progress
    Progress(progress.part(0.5, 1.0)).advance(0.5)
    assert shares == [0.75]
    assert not Progress.of(None).has_callback


def wait(turns, stop):
    for turn in range(turns):
        if stop[0]:
            return -turn
        time.sleep(0.01)
    return turns


def test_waiting_gives_the_result_and_asks_meanwhile():
    asked = []
    assert Progress(asked.append).wait_for(wait, 20) == 20
    assert asked
    assert Progress().wait_for(wait, 2) == 2


def test_waiting_ends_when_the_run_is_cancelled():
    began = []

    def work(stop):
        began.append(wait(100000, stop))

    with pytest.raises(Cancelled):
        Progress(lambda share: False).wait_for(work)
    assert began
    assert began[0] <= 0
