"""Large arrays on the way to the card and back, in parts: a stand-in, and a real card."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyConnectedGPULib.affinity import gaussian_affinity as affinity
from FuzzyVesselCoreLib.gpu import transfers


class LazyCard:
    """A card that copies when somebody waits: no more than is waited for, or all it was told to."""

    def __init__(self, runs_ahead=False):
        self.copies, self.done, self.lock = [], 0, threading.RLock()
        card = self

        class Array(np.ndarray):
            def set(self, values):
                card.copies.append((self, values))

            def get(self, out, blocking):
                assert not blocking
                card.copies.append((out, self))

        class Event:
            def __init__(self, disable_timing):
                pass

            def record(self):
                self.copies = len(card.copies)

            def synchronize(self):
                card.copy(len(card.copies) if runs_ahead else self.copies)

        class Device:
            def use(self):
                card.threads.add(threading.get_ident())

        self.Array, self.threads = Array, set()
        self.cuda = SimpleNamespace(Event=Event, Device=Device, get_current_stream=lambda: self)

    def empty(self, size, dtype):
        return np.full(size, 7, dtype).view(self.Array)

    def asarray(self, array):
        return array.copy().view(self.Array)

    def asnumpy(self, array):
        return np.array(array)

    def synchronize(self):
        self.copy(len(self.copies))

    def copy(self, count):
        with self.lock:
            for target, source in self.copies[self.done : count]:
                np.copyto(target, source)
            self.done = max(self.done, count)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(transfers, "PART", 64)
    monkeypatch.setattr(transfers, "WORTHWHILE", 256)
    monkeypatch.setattr(transfers, "AT_ONCE", -1)
    monkeypatch.setattr(
        transfers, "_buffers", lambda dtype: [np.empty(64 // dtype.itemsize, dtype) for _ in "abc"]
    )


@pytest.mark.parametrize(
    "shape", [(0, 3), (3, 5, 7), (4, 4, 4), (4, 8, 8), (16, 16, 8), (13, 11, 17)]
)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32])
@pytest.mark.parametrize("runs_ahead", [False, True])
def test_arrays_come_back_as_they_went(small_parts, shape, kind, runs_ahead):
    xp = LazyCard(runs_ahead)
    array = np.random.default_rng(0).integers(0, 99, shape).astype(kind)
    card = transfers.to_card(xp, array)
    assert card.shape == shape
    np.testing.assert_array_equal(card, array)
    back = transfers.from_card(xp, card)
    assert type(back) is np.ndarray
    assert back.dtype == kind
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("shape", [(0,), (8,), (4, 1, 3)])
def test_small_arrays_are_taken_over_at_once(shape):
    class Array(np.ndarray):
        def set(self, values):
            self[...] = values

    xp = SimpleNamespace(empty=lambda shape, dtype: np.empty(shape, dtype).view(Array))
    array = np.random.default_rng(3).random(shape, np.float32)
    card = transfers.to_card(xp, array)
    assert card.dtype == array.dtype
    np.testing.assert_array_equal(card, array)


def test_threads_work_with_the_callers_card(small_parts):
    # CUDA gives a new thread the first card of the machine.
    xp, waiting = LazyCard(), set()
    copy = xp.copy
    xp.copy = lambda count: (waiting.add(threading.get_ident()), copy(count))
    transfers.from_card(xp, xp.asarray(np.zeros(1000, np.int16)))
    assert waiting
    assert waiting <= xp.threads


def lose_card(*_, **__):
    raise RuntimeError("the card is lost")


@pytest.mark.parametrize("what", ["set", "record", "synchronize"])
def test_a_card_that_fails_on_the_way_there_is_not_waited_for(small_parts, monkeypatch, what):
    xp = LazyCard()
    monkeypatch.setattr(xp.Array if what == "set" else xp.cuda.Event, what, lose_card)
    with pytest.raises(RuntimeError, match="lost"):
        transfers.to_card(xp, np.zeros(1000, np.int16))


@pytest.mark.parametrize("part", [1, 5, 32])
def test_a_card_that_fails_on_the_way_back_is_not_waited_for(small_parts, monkeypatch, part):
    xp = LazyCard()
    copy = xp.copy
    monkeypatch.setattr(xp, "copy", lambda count: lose_card() if count == part else copy(count))
    with pytest.raises(RuntimeError, match="lost"):
        transfers.from_card(xp, xp.asarray(np.zeros(1000, np.int16)))


def test_values_by_several_threads_are_the_same(monkeypatch):
    levels = np.random.default_rng(1).integers(0, 65536, (7, 11, 13)).astype(np.uint16)
    at_once = affinity.level_values(levels)
    monkeypatch.setattr(affinity, "VALUES_A_PART", 100)
    np.testing.assert_array_equal(affinity.level_values(levels), at_once)
    np.testing.assert_array_equal(at_once, np.float32(levels / 65535))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(0, 3), (1,), (2, 3, 5), (40, 512, 512), (33, 511, 513)])
def test_arrays_reach_a_real_card_and_come_back(shape):
    cupy = pytest.importorskip("cupy")
    array = np.random.default_rng(2).integers(0, 65536, shape).astype(np.uint16)
    card = transfers.to_card(cupy, array)
    assert bool((card == cupy.asarray(array)).all())
    np.testing.assert_array_equal(transfers.from_card(cupy, card), array)
