"""Code compiled ahead: a thread that runs wait for, and processes that fill numba's cache."""

import gc
import os
import subprocess
import sys
import threading
import time

import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.jit import compiling_processes, warm_up
from FuzzyVesselCoreLib.jit.compiling_processes import compiling_beside, is_cached
from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch):
    monkeypatch.setattr(warm_up, "POLL_INTERVAL", 0.001)


def test_the_callback_is_asked_until_the_work_is_done():
    done, asked, works = threading.Event(), [], []

    def report(share):
        asked.append(share)
        if len(asked) == 3:
            done.set()

    def work():
        works.append(done.wait(60))

    ahead = WarmUp(work)
    ahead.begin()
    ahead.wait(Progress(report))
    ahead.begin()
    ahead.wait(Progress(report))
    assert len(asked) >= 3
    assert set(asked) == {0.0}
    assert works == [True]


def test_a_cancelled_run_waits_for_nobody_and_the_next_one_does():
    go_on, ended = threading.Event(), []

    def work():
        go_on.wait(60)
        ended.append(True)

    ahead = WarmUp(work)
    ahead.begin()
    with pytest.raises(Cancelled):
        ahead.wait(Progress(lambda share: False))
    assert not ended
    ahead.wait(Progress(lambda share: go_on.set()))
    assert ended


def test_what_was_not_begun_is_not_waited_for():
    WarmUp(lambda: pytest.fail("begun")).wait(Progress(lambda share: pytest.fail("waited")))


def test_errors_of_the_trial_are_left_to_the_run():
    ahead = WarmUp(lambda: 1 / 0)
    ahead.begin()
    ahead.wait(Progress())


def test_a_trial_that_runs_what_waits_for_it_does_not_wait():
    ended = []
    ahead = WarmUp(lambda: (ahead.wait(Progress()), ended.append(True)))
    ahead.begin()
    ahead.wait(Progress())
    assert ended


def test_nothing_begins_before_numba_is_installed(monkeypatch):
    begun = []
    ahead = WarmUp(lambda: begun.append(True))
    with monkeypatch.context() as missing:
        missing.setitem(sys.modules, "numba", None)
        ahead.begin()
    ahead.wait(Progress())
    assert not begun
    ahead.begin()
    ahead.wait(Progress())
    assert begun


def test_a_numba_that_is_too_old_for_numpy_stops_no_panel(monkeypatch):
    class TooOld:
        def find_spec(self, name, path=None, target=None):
            if name == "numba":
                raise ImportError("Numba needs NumPy 2.2 or less. Got NumPy 2.4.")

    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.setattr(sys, "meta_path", [TooOld(), *sys.meta_path])
    begun = []
    WarmUp(lambda: begun.append(True)).begin()
    assert not begun


def test_numba_is_imported_before_the_thread_starts():
    """Two threads that import it can wait for each other for ever."""
    code = (
        "import sys, threading\n"
        "from FuzzyVesselCoreLib.jit.warm_up import WarmUp\n"
        "start, found = threading.Thread.start, []\n"
        "threading.Thread.start = lambda t: (found.append('numba' in sys.modules), start(t))\n"
        "assert 'numba' not in sys.modules\n"
        "WarmUp(lambda: None).begin()\n"
        "print(found)\n"
    )
    paths = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": paths}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.stdout.strip() == "[True]", run.stderr


def test_trials_run_one_at_a_time():
    going, most = [], []

    def work():
        going.append(1)
        most.append(len(going))
        threading.Event().wait(0.02)
        going.pop()

    trials = [WarmUp(work) for _ in range(4)]
    for trial in trials:
        trial.begin()
    for trial in trials:
        trial.wait(Progress())
    assert most == [1] * 4


# --- processes

RECIPES = """
import os
import time
from pathlib import Path

FOLDER = Path(__file__).parent

def first():
    (FOLDER / "first").write_text(str(os.getpid()))

def sleeps():
    time.sleep(600)

def fails():
    raise ValueError("of this recipe alone")

def last():
    (FOLDER / "last").write_text(str(os.getpid()))
"""


@pytest.fixture
def recipes(tmp_path, monkeypatch):
    (tmp_path / "some_recipes.py").write_text(RECIPES)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def thresholds():
    """Those of Python's garbage collection, as they are where no test has changed them."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield 700, 10, 10
    gc.set_threshold(*before)


def test_recipes_share_the_processes_and_one_that_fails_ends_alone(
    recipes, thresholds, monkeypatch
):
    monkeypatch.setattr(compiling_processes, "usable_cores", lambda: 3)
    names = ("first", "fails", "sleeps", "last")  # who sleeps is ended
    with compiling_beside([f"some_recipes:{name}" for name in names]):
        assert len(compiling_processes.going_on()) == 2
        assert gc.get_threshold()[0] > thresholds[0]
        until(lambda: (recipes / "first").exists() and (recipes / "last").exists())
    assert not compiling_processes.going_on()
    assert gc.get_threshold() == thresholds
    pids = {(recipes / name).read_text() for name in ("first", "last")}
    assert len(pids) == 2
    assert str(os.getpid()) not in pids


def until(happened):
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def test_processes_end_where_the_body_fails(recipes, monkeypatch):
    monkeypatch.setattr(compiling_processes, "usable_cores", lambda: 2)
    with pytest.raises(ZeroDivisionError), compiling_beside(["some_recipes:sleeps"]):
        1 / 0  # noqa: B018
    assert not compiling_processes.going_on()


def test_where_no_process_begins_the_body_compiles_alone(thresholds, monkeypatch):
    def used_up(*arguments, **options):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(compiling_processes, "usable_cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", used_up)
    done = []
    with compiling_beside(["some_recipes:sleeps"]):
        done.append(gc.get_threshold()[0])
    assert done == [compiling_processes.OBJECTS_BETWEEN_COLLECTIONS]


@pytest.mark.parametrize("reason", ["one core", "no Python", "nothing to compile"])
def test_nothing_is_started_where_it_would_not_help(reason, recipes, monkeypatch):
    names = [] if reason == "nothing to compile" else ["some_recipes:sleeps"]
    monkeypatch.setattr(compiling_processes, "usable_cores", lambda: 1 + (reason != "one core"))
    if reason == "no Python":
        monkeypatch.setattr(sys, "executable", "/opt/Slicer/bin/SlicerApp-real")
        monkeypatch.setenv("PATH", "")
    with compiling_beside(names):
        assert not compiling_processes.going_on()


def test_within_slicer_its_own_python_is_found(tmp_path, monkeypatch):
    program = tmp_path / "PythonSlicer"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", "/opt/Slicer/bin/SlicerApp-real")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiling_processes.python_executable() == str(program)


def test_processes_that_go_on_end_with_this_one(tmp_path):
    (tmp_path / "long_recipe.py").write_text("def sleep():\n    import time; time.sleep(600)\n")
    code = (
        "import threading, time\n"
        "from FuzzyVesselCoreLib.jit import compiling_processes as ahead\n"
        "ahead.usable_cores = lambda: 2\n"
        "def work():\n"
        "    with ahead.compiling_beside(['long_recipe:sleep']):\n"
        "        time.sleep(600)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "started = []\n"
        "while not started:\n"
        "    time.sleep(0.01)\n"
        "    started = list(ahead.going_on())\n"
        "print(started[0].pid)\n"
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(run.stdout), 0)


def test_what_is_in_numbas_cache_is_seen(tmp_path, monkeypatch):
    source = tmp_path / "cached_function.py"
    source.write_text(
        "from numba import njit\n\n@njit(cache=True)\ndef twice(n):\n    return 2 * n\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from cached_function import twice

    assert not is_cached(twice)
    assert twice(2) == 4
    assert is_cached(twice)
    later = source.stat().st_mtime + 10
    os.utime(source, (later, later))
    assert not is_cached(twice)
