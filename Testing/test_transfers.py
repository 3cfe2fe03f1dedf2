"""Large arrays on the way to the card and back, in parts: a stand-in, and a real card."""

from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyConnectedGPULib import affinity
from FuzzyVesselCommon import transfers


class CardArray(np.ndarray):
    def set(self, values):
        self[...] = values

    def get(self, out, blocking):
        out[...] = self


class Event:
    def __init__(self, disable_timing):
        pass

    def record(self):
        pass

    def synchronize(self):
        pass


CARD = SimpleNamespace(
    empty=lambda size, dtype: np.full(size, 7, dtype).view(CardArray),
    asarray=lambda array: array.copy().view(CardArray),
    asnumpy=lambda array: np.array(array),
    cuda=SimpleNamespace(Event=Event, get_current_stream=lambda: Event(True)),
)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(transfers, "PART", 64)
    monkeypatch.setattr(transfers, "WORTHWHILE", 256)
    buffers = [np.empty(0)] * 3
    monkeypatch.setattr(
        transfers,
        "_buffers",
        lambda dtype: [np.empty(64 // dtype.itemsize, dtype) for _ in buffers],
    )


@pytest.mark.parametrize("shape", [(3, 5, 7), (16, 16, 8), (13, 11, 17)])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32])
def test_arrays_come_back_as_they_went(small_parts, shape, kind):
    array = np.random.default_rng(0).integers(0, 99, shape).astype(kind)
    card = transfers.to_card(CARD, array)
    assert card.shape == shape
    np.testing.assert_array_equal(card, array)
    back = transfers.from_card(CARD, card)
    assert type(back) is np.ndarray
    assert back.dtype == kind
    np.testing.assert_array_equal(back, array)


def test_a_failing_card_is_not_waited_for(small_parts):
    class Lost(CardArray):
        def set(self, values):
            raise RuntimeError("the card is lost")

    card = SimpleNamespace(**{**vars(CARD), "empty": lambda n, d: np.empty(n, d).view(Lost)})
    with pytest.raises(RuntimeError, match="lost"):
        transfers.to_card(card, np.zeros(1000, np.int16))


def test_values_by_several_threads_are_the_same(monkeypatch):
    levels = np.random.default_rng(1).integers(0, 65536, (7, 11, 13)).astype(np.uint16)
    at_once = affinity.level_values(levels)
    monkeypatch.setattr(affinity, "VALUES_A_PART", 100)
    np.testing.assert_array_equal(affinity.level_values(levels), at_once)
    np.testing.assert_array_equal(at_once, np.float32(levels / 65535))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(40, 512, 512), (33, 511, 513)])
def test_large_arrays_reach_a_real_card_and_come_back(shape):
    cupy = pytest.importorskip("cupy")
    array = np.random.default_rng(2).integers(0, 65536, shape).astype(np.uint16)
    card = transfers.to_card(cupy, array)
    assert bool((card == cupy.asarray(array)).all())
    np.testing.assert_array_equal(transfers.from_card(cupy, card), array)
