"""Parts of a range that threads work on."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from FuzzyVesselCoreLib import threads
from FuzzyVesselCoreLib.threads import SMALL_VOLUME, in_parts


@pytest.mark.parametrize("count", [0, 1, 2, 7, 129])
@pytest.mark.parametrize("voxels", [0, SMALL_VOLUME])
def test_each_number_is_in_one_part_and_results_keep_their_order(count, voxels, monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    parts = in_parts(lambda first, last: list(range(first, last)), count, voxels)
    assert [number for part in parts for number in part] == list(range(count))
    assert all(parts)


def test_small_volumes_stay_in_the_calling_thread(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    here = threading.current_thread()
    found = in_parts(lambda first, last: threading.current_thread(), 20, SMALL_VOLUME - 1)
    assert found == [here]
    found = in_parts(lambda first, last: threading.current_thread(), 20, SMALL_VOLUME)
    assert here not in found


def test_parts_are_not_smaller_than_they_are_worth(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 16)
    found = in_parts(lambda first, last: last - first, 1000, 3 * SMALL_VOLUME // 2)
    assert sorted(found) == [333, 333, 334]


def test_an_error_in_a_part_is_the_callers(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)

    def work(first, last):
        if first:
            raise ValueError("in a part")

    with pytest.raises(ValueError, match="in a part"):
        in_parts(work, 8, SMALL_VOLUME)


def test_an_error_is_told_when_all_parts_have_ended(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)
    ended = []

    def work(first, last):
        if first == 0:
            raise ValueError("in the first part")
        time.sleep(0.01)
        ended.append(first)

    with pytest.raises(ValueError, match="in the first part"):
        in_parts(work, 8, 2 * SMALL_VOLUME)
    assert sorted(ended) == [2, 4, 6]


def test_threads_stay_for_the_next_call(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)

    def named(first, last):
        return threading.current_thread()

    found = {thread for _ in range(4) for thread in in_parts(named, 20, SMALL_VOLUME)}
    assert len(found) <= 3
    assert all(thread.is_alive() for thread in found)


def test_a_part_may_be_worked_on_in_parts(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)

    def inner(first, last):
        return list(range(first, last))

    def outer(first, last):
        return sum(map(len, in_parts(inner, 5, SMALL_VOLUME)))

    assert in_parts(outer, 8, 4 * SMALL_VOLUME) == [5] * 8


def test_parts_of_parts_may_be_worked_on_in_parts():
    source = """
import faulthandler
from FuzzyVesselCoreLib import threads
faulthandler.dump_traceback_later(30, exit=True)
threads.usable_cores = lambda: 2
def work(depth):
    if depth == 0:
        return 1
    return sum(threads.in_parts(lambda *part: work(depth - 1), 2, threads.SMALL_VOLUME))
assert work(4) == 16
"""
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer's signal here")
def test_no_part_is_worked_on_after_an_interruption(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)
    begun, ended = [], []

    def work(first, last):
        begun.append(first)
        time.sleep(0.1)
        ended.append(first)

    def interrupt(*signalled):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_parts(work, 8, 4 * SMALL_VOLUME)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 8
    in_parts(lambda *part: None, 8, 4 * SMALL_VOLUME)  # behind all that still waits
    assert len(begun) == len(ended) < 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    source = """
import os
from FuzzyVesselCoreLib import threads
threads.usable_cores = lambda: 2
work = lambda first, last: last - first
assert sum(threads.in_parts(work, 8, threads.SMALL_VOLUME)) == 8
child = os.fork()
if child == 0:
    os._exit(0 if sum(threads.in_parts(work, 8, threads.SMALL_VOLUME)) == 8 else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", source], check=True, timeout=60)
