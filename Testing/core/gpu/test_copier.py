"""Copies beside the kernels: they wait for what was launched before, and nothing waits for them."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyConnectedGPULib.affinity import levels as affinity
from FuzzyVesselCoreLib.gpu.copier import Copier


class BusyDevice:
    """Launched kernels end when the test says so; only then may the copies of a stream begin."""

    def __init__(self):
        self.kernels_ended, self.streams = threading.Event(), []
        device = self

        class Array(np.ndarray):
            def set(self, values):
                device.check()
                self[...] = values

        class Event:
            def __init__(self, disable_timing):
                pass

            def record(self):
                pass

        class Stream:
            def __init__(self, non_blocking):
                assert non_blocking
                device.streams.append(self)
                self.waited = False

            def __enter__(self):
                device.current.stream = self

            def __exit__(self, *_):
                del device.current.stream

            def wait_event(self, event):
                assert isinstance(event, Event)
                self.waited = device.kernels_ended.wait(20)

            def synchronize(self):
                pass

        class Device:
            def __enter__(self):
                device.current.is_set = True

            def __exit__(self, *_):
                device.current.is_set = False

        self.Array, self.current = Array, threading.local()
        self.cuda = SimpleNamespace(Event=Event, Stream=Stream, Device=Device)

    def check(self):
        assert self.current.is_set
        assert self.current.stream.waited

    def empty(self, shape, dtype):
        assert not hasattr(self.current, "stream")  # by the caller, whose allocator it is
        return np.full(shape, 7, dtype).view(self.Array)

    def asnumpy(self, array):
        self.check()
        return np.array(array)


def test_an_upload_waits_for_the_kernels_before_it():
    xp, array = BusyDevice(), np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    with Copier(xp) as copier:
        coming = copier.put(array[:, 1:])
        assert not coming.done()
        xp.kernels_ended.set()
        np.testing.assert_array_equal(coming.result(), array[:, 1:])


def test_a_download_waits_for_the_kernels_before_it():
    xp, levels = BusyDevice(), np.arange(24, dtype=np.uint16).reshape(2, 3, 4)
    values = np.full(levels.shape, 7, np.float32)
    with Copier(xp) as copier:
        written = copier.get_converted(levels.view(xp.Array), values, affinity.write_level_values)
        assert (values == 7).all()
        xp.kernels_ended.set()
        written.result()
        np.testing.assert_array_equal(values, affinity.level_values(levels))


def test_a_failure_is_told_where_the_copy_is_needed():
    xp = BusyDevice()

    def lose_device(*_):
        raise RuntimeError("the device is lost")

    xp.Array.set = lose_device
    xp.kernels_ended.set()
    with Copier(xp) as copier:
        coming = copier.put(np.zeros(5))
        with pytest.raises(RuntimeError, match="lost"):
            coming.result()


@pytest.mark.gpu
def test_copies_beside_kernels_on_a_real_gpu():
    cupy = pytest.importorskip("cupy")
    arrays = [
        np.random.default_rng(n).integers(0, 65536, (40, 512, 512), np.uint16) for n in (1, 2)
    ]
    results = [np.empty(array.shape, np.float32) for array in arrays]
    with Copier(cupy) as puts, Copier(cupy) as gets:
        coming, going = [puts.put(array) for array in arrays], []
        for soon, result in zip(coming, results):
            turned = cupy.bitwise_not(soon.result())
            going.append(gets.get_converted(turned, result, affinity.write_level_values))
            del turned
        for each in going:
            each.result()
    for array, result in zip(arrays, results):
        np.testing.assert_array_equal(result, affinity.level_values(~array))
