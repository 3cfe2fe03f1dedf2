"""Transfers of large arrays in chunks: on a fake device and on a real GPU."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyConnectedGPULib.affinity import levels as affinity
from FuzzyVesselCoreLib.gpu import transfers


class LazyDevice:
    """Copies only when waited for: what is waited for, or all that was enqueued."""

    def __init__(self, runs_ahead=False):
        self.copies, self.done, self.lock = [], 0, threading.RLock()
        device = self

        class Array(np.ndarray):
            def set(self, values):
                device.copies.append((self, values))

            def get(self, out, blocking):
                assert not blocking
                device.copies.append((out, self))

        class Event:
            def __init__(self, disable_timing):
                pass

            def record(self):
                self.copies = len(device.copies)

            def synchronize(self):
                device.copy(len(device.copies) if runs_ahead else self.copies)

        class Device:
            def use(self):
                device.threads.add(threading.get_ident())

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
def small_chunks(monkeypatch):
    monkeypatch.setattr(transfers, "CHUNK_BYTES", 64)
    monkeypatch.setattr(transfers, "PINNED_THRESHOLD", 256)
    monkeypatch.setattr(transfers, "STAGED_BYTES", -1)
    monkeypatch.setattr(
        transfers,
        "_buffers",
        lambda dtype, _: [np.empty(64 // dtype.itemsize, dtype) for _ in "abc"],
    )


@pytest.mark.parametrize(
    "shape", [(0, 3), (3, 5, 7), (4, 4, 4), (4, 8, 8), (16, 16, 8), (13, 11, 17)]
)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32])
@pytest.mark.parametrize("runs_ahead", [False, True])
def test_arrays_come_back_as_they_went(small_chunks, shape, kind, runs_ahead):
    xp = LazyDevice(runs_ahead)
    array = np.random.default_rng(0).integers(0, 99, shape).astype(kind)
    device = transfers.to_device(xp, array)
    assert device.shape == shape
    np.testing.assert_array_equal(device, array)
    back = transfers.to_host(xp, device)
    assert type(back) is np.ndarray
    assert back.dtype == kind
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("shape", [(0, 3), (3, 1, 7), (13, 11, 17)])
@pytest.mark.parametrize("runs_ahead", [False, True])
def test_levels_are_converted_on_their_way(small_chunks, shape, runs_ahead):
    xp = LazyDevice(runs_ahead)
    levels = np.random.default_rng(4).integers(0, 65536, shape).astype(np.uint16)
    values = np.full(shape, 7, np.float32)
    device = transfers.to_device(xp, levels)
    transfers.convert_to_host(xp, device, values, affinity.write_level_values)
    np.testing.assert_array_equal(values, affinity.level_values(levels))


def boxes_of_an_array(kind):
    array = np.random.default_rng(6).integers(0, 9999, (21, 40, 90)).astype(kind)
    yield array[3:14, 5:9, 2:5]  # several planes fit a buffer
    yield array[:, 1:38, 10:30]  # rows of a plane
    yield array[2:5, 7:9]  # parts of a row
    yield array[..., 7]
    yield array.T[5:80]


@pytest.mark.parametrize("runs_ahead", [False, True])
def test_boxes_of_an_array_go_and_come_without_a_copy_of_their_own(small_chunks, runs_ahead):
    for box in boxes_of_an_array(np.uint16):
        xp = LazyDevice(runs_ahead)
        device = transfers.to_device(xp, box)
        np.testing.assert_array_equal(device, box)
        whole = np.full([n + 5 for n in box.shape], 7, np.float32)
        part = whole[tuple(slice(2, 2 + n) for n in box.shape)]
        transfers.convert_to_host(xp, device, part, affinity.write_level_values)
        np.testing.assert_array_equal(part, affinity.level_values(box))
        part[...] = 7
        assert (whole == 7).all()  # no voxel outside the box was written


@pytest.mark.parametrize("shape", [(0,), (8,), (4, 1, 3)])
def test_small_arrays_are_taken_over_at_once(shape):
    class Array(np.ndarray):
        def set(self, values):
            self[...] = values

    xp = SimpleNamespace(empty=lambda shape, dtype: np.empty(shape, dtype).view(Array))
    array = np.random.default_rng(3).random(shape, np.float32)
    device = transfers.to_device(xp, array)
    assert device.dtype == array.dtype
    np.testing.assert_array_equal(device, array)


def test_threads_work_with_the_callers_device(small_chunks):
    # CUDA gives a new thread the first device of the machine.
    xp, waiting = LazyDevice(), set()
    copy = xp.copy
    xp.copy = lambda count: (waiting.add(threading.get_ident()), copy(count))
    transfers.to_host(xp, xp.asarray(np.zeros(1000, np.int16)))
    assert waiting
    assert waiting <= xp.threads


def lose_device(*_, **__):
    raise RuntimeError("the device is lost")


@pytest.mark.parametrize("what", ["set", "record", "synchronize"])
def test_a_device_that_fails_on_the_way_there_is_not_waited_for(small_chunks, monkeypatch, what):
    xp = LazyDevice()
    monkeypatch.setattr(xp.Array if what == "set" else xp.cuda.Event, what, lose_device)
    with pytest.raises(RuntimeError, match="lost"):
        transfers.to_device(xp, np.zeros(1000, np.int16))


@pytest.mark.parametrize("chunk", [1, 5, 32])
def test_a_device_that_fails_on_the_way_back_is_not_waited_for(small_chunks, monkeypatch, chunk):
    xp = LazyDevice()
    copy = xp.copy
    monkeypatch.setattr(xp, "copy", lambda count: lose_device() if count == chunk else copy(count))
    with pytest.raises(RuntimeError, match="lost"):
        transfers.to_host(xp, xp.asarray(np.zeros(1000, np.int16)))


def test_values_by_several_threads_are_the_same(monkeypatch):
    levels = np.random.default_rng(1).integers(0, 65536, (7, 11, 13)).astype(np.uint16)
    at_once = affinity.level_values(levels)
    monkeypatch.setattr(affinity, "VALUES_PER_TASK", 100)
    np.testing.assert_array_equal(affinity.level_values(levels), at_once)
    np.testing.assert_array_equal(at_once, np.float32(levels / 65535))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(0, 3), (1,), (2, 3, 5), (40, 512, 512), (33, 511, 513)])
def test_arrays_reach_a_real_gpu_and_come_back(shape):
    cupy = pytest.importorskip("cupy")
    array = np.random.default_rng(2).integers(0, 65536, shape).astype(np.uint16)
    device = transfers.to_device(cupy, array)
    assert bool((device == cupy.asarray(array)).all())
    np.testing.assert_array_equal(transfers.to_host(cupy, device), array)
    values = np.empty(shape, np.float32)
    transfers.convert_to_host(cupy, device, values, affinity.write_level_values)
    np.testing.assert_array_equal(values, affinity.level_values(array))


@pytest.mark.gpu
def test_a_number_comes_as_it_was_when_it_was_asked_for():
    cupy = pytest.importorskip("cupy")
    numbers = cupy.arange(7)
    soon = transfers.get_soon(cupy, numbers[2:5])
    numbers.fill(0)
    np.testing.assert_array_equal(soon(), [2, 3, 4])
