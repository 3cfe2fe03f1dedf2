"""Memory that is made while a card works: on threads that are stopped, fail, or never begin."""

import threading
from concurrent.futures import wait
from contextlib import nullcontext

import numpy as np
import pytest

from FuzzyVesselCoreLib.threads import kept_threads
from FuzzyVesselCoreLib.voxels import memory_soon
from FuzzyVesselCoreLib.voxels.memory_soon import MemorySoon


@pytest.mark.parametrize("begins", [False, True])
def test_the_array_is_there_whether_its_pages_are_made_or_not(begins):
    with MemorySoon((3, 700, 800), np.float32) as memory:
        if begins:
            memory.begin()
            memory.begin()
        array = memory.result()
        array.fill(2)
    assert (array.shape, array.dtype) == ((3, 700, 800), np.float32)
    assert memory.result() is array
    assert array.min() == array.max() == 2  # no thread writes afterwards


def test_all_pages_are_made_where_there_is_time(monkeypatch):
    monkeypatch.setattr(memory_soon, "PAGES", 2)
    with MemorySoon((5, 4096), np.uint8) as memory:
        memory._array.fill(7)
        memory.begin()
        wait(memory._making)
        found = memory.result()
    np.testing.assert_array_equal(found[:, 0], 0)
    np.testing.assert_array_equal(found[:, 1:], 7)


def test_a_given_array_is_taken_as_it_is():
    given = np.full((5, 4096), 7, np.uint8)
    with MemorySoon(given.shape, given.dtype, given) as memory:
        memory.begin()
        assert memory.result() is given
    assert (given == 7).all()


@pytest.mark.parametrize("fails", [False, True])
def test_no_page_is_made_once_the_array_is_wanted(fails):
    entered, may_go_on, made = threading.Event(), threading.Event(), []

    class Part:
        def fill(self, value):
            entered.set()
            made.append(self)
            assert may_go_on.wait(20)

    parts = [Part(), Part()]
    with pytest.raises(KeyError) if fails else nullcontext(), MemorySoon((1,), np.uint8) as memory:
        memory._making = [kept_threads(1, "pages").submit(memory._make, iter(parts))]
        assert entered.wait(20)
        threading.Timer(0.05, may_go_on.set).start()
        if fails:
            raise KeyError
        memory.result()
    assert all(future.done() for future in memory._making)
    assert made == parts[:1]
