"""Work that follows the mouse: the window lives on, the last inputs win, runs wait for its end."""

import threading
import time

import pytest

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture(scope="module", autouse=True)
def application():
    from emulators.qt.application import install

    return install()


class Follower:
    """A `LatestRun` of steps that end when they are told to, and what came of them."""

    def __init__(self):
        from FuzzyVesselCoreLib.widgets.run import LatestRun

        self.inputs, self.begun, self.shown, self.failed = 0, [], [], []
        self.go, self.cancelled, self.threads = threading.Event(), [], set()
        self.go.set()
        self.run = LatestRun(self.read, self.work, self.shown.append, self.failed.append)

    def read(self):
        if self.inputs < 0:
            raise ValueError("nothing to read")
        return self.inputs

    def work(self, inputs, progress):
        from FuzzyVesselCoreLib.errors import Cancelled

        self.begun.append(inputs)
        self.threads.add(threading.get_ident())
        while not self.go.wait(0.002):
            if not progress(0.5):
                self.cancelled.append(inputs)
                raise Cancelled("Cancelled.")
        return inputs

    def move(self, inputs):
        self.inputs = inputs
        self.run.request()


@pytest.fixture
def follower():
    made = Follower()
    yield made
    made.go.set()
    made.run.stop()
    until(lambda: not made.run.working)


def until(reached, seconds=120):
    import slicer

    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not happen"
        slicer.app.processEvents()


def test_many_changes_before_the_first_step_are_one(follower):
    for inputs in (1, 2, 3):
        follower.move(inputs)
    until(lambda: follower.shown)
    assert follower.shown == follower.begun == [3]
    assert follower.threads.isdisjoint({threading.get_ident()})


def test_a_step_that_takes_long_is_cancelled_when_it_is_overtaken(follower, monkeypatch):
    from FuzzyVesselCoreLib.widgets import run

    monkeypatch.setattr(run, "PATIENCE", 0.0)
    follower.go.clear()
    follower.move(1)
    until(lambda: follower.begun == [1])
    follower.move(2)
    until(lambda: follower.begun == [1, 2])
    follower.go.set()
    until(lambda: follower.shown)
    assert follower.cancelled == [1]
    assert follower.shown == [2]
    assert not follower.failed


def test_errors_are_told_and_the_next_step_begins(follower):
    follower.move(-1)
    until(lambda: follower.failed)
    follower.run._work = lambda _inputs, _progress: 1 / 0
    follower.move(1)
    until(lambda: len(follower.failed) == 2)
    assert [type(error) for error in follower.failed] == [ValueError, ZeroDivisionError]
    follower.run._work = follower.work
    follower.move(2)
    until(lambda: follower.shown == [2])
