"""Planes that come while others are worked on: on streams that run in any order, and a real GPU."""

import threading
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from FuzzyVesselCoreLib.gpu import coming_planes, transfers


class Streams:
    """Streams whose work is put off, and then done in any order that their events allow.

    The later ones are preferred, or the earlier ones, or none.
    """

    def __init__(self, seed, preferred):
        self.random, self.lock = np.random.default_rng(seed), threading.RLock()
        self.all, self.passed = [], set()
        device = self

        class Stream:
            def __init__(self, non_blocking):
                self.work = deque()
                device.all.append(self)

            def wait_event(self, event):
                self.work.append(event.number)

            def synchronize(self):
                device.run(lambda: not self.work)

        class Event:
            def __init__(self, disable_timing):
                self.number = None

            def record(self, stream):
                self.number = number = object()
                stream.work.append(lambda: device.passed.add(number))

            def synchronize(self):
                device.run(lambda: self.number in device.passed)

        class Array(np.ndarray):
            def set(self, values, stream):
                stream.work.append(lambda: np.copyto(self, values))

        self.working, self.Array, self.preferred = Stream(True), Array, preferred
        there = SimpleNamespace(use=lambda: None)
        self.cuda = SimpleNamespace(
            Stream=Stream,
            Event=Event,
            Device=lambda: there,
            get_current_stream=lambda: self.working,
        )

    def run(self, ended):
        """Do what is put off until something has come about."""
        with self.lock:
            while not ended():
                ready = [
                    stream
                    for stream in self.all
                    if stream.work and (callable(stream.work[0]) or stream.work[0] in self.passed)
                ]
                number = (
                    self.random.integers(len(ready)) if self.preferred is None else self.preferred
                )
                work = ready[number].work.popleft()
                if callable(work):
                    work()


@pytest.mark.parametrize(("seed", "preferred"), [(0, 0), (0, -1), *((n, None) for n in range(4))])
@pytest.mark.parametrize("parts", [[(0, 4), (3, 9), (8, 12), (11, 17), (16, 17)], [(2, 5)]])
def test_each_part_is_there_while_it_is_worked_on(monkeypatch, seed, preferred, parts):
    monkeypatch.setattr(transfers, "CHUNK_BYTES", 64)
    monkeypatch.setattr(
        transfers,
        "_buffers",
        lambda dtype, _: [np.empty(64 // dtype.itemsize, dtype) for _ in "ab"],
    )
    xp, found = Streams(seed, preferred), []
    array = np.random.default_rng(seed).integers(0, 9999, (17, 5, 9)).astype(np.uint16)
    memory = np.full(coming_planes.slot_bytes(array, parts) + 3, 7, np.uint8).view(xp.Array)
    for planes in coming_planes.coming_planes(xp, array, parts, memory):
        xp.working.work.append(lambda planes=planes: found.append(np.array(planes)))
    xp.working.synchronize()
    assert len(found) == len(parts)
    for planes, (first, last) in zip(found, parts):
        np.testing.assert_array_equal(planes, array[first:last])


@pytest.mark.gpu
def test_each_part_is_there_on_a_real_gpu():
    cupy = pytest.importorskip("cupy")
    array = np.random.default_rng(2).integers(0, 65536, (100, 511, 513)).astype(np.uint16)
    parts = [(max(n - 1, 0), min(n + 17, 100)) for n in range(0, 100, 16)]
    memory = cupy.empty(coming_planes.slot_bytes(array, parts), np.uint8)
    found = [planes.copy() for planes in coming_planes.coming_planes(cupy, array, parts, memory)]
    for planes, (first, last) in zip(found, parts):
        np.testing.assert_array_equal(cupy.asnumpy(planes), array[first:last])
