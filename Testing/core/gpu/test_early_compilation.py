"""Kernels that threads compile before the device is open."""

import os
import subprocess
import sys
import threading
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu import early_compilation, nvrtc

SOURCE = 'extern "C" __global__ void twice(float* a) { a[threadIdx.x] *= FACTOR; }\n'


@pytest.fixture
def card(monkeypatch, tmp_path):
    """A file of kernels, and what is compiled and loaded on a card of compute capability 9.0."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    card = SimpleNamespace(file=tmp_path / "twice.cu", compiled=[], loaded=[])
    card.file.write_text(SOURCE)
    compile_kernels = nvrtc.compile_kernels

    def listed(*key):
        card.compiled.append(key)
        return compile_kernels(*key)

    module = SimpleNamespace(load=card.loaded.append, get_function=lambda name: name)
    device = SimpleNamespace(compute_capability="90")
    for place in (nvrtc, early_compilation):
        monkeypatch.setattr(place, "compile_kernels", listed)
    monkeypatch.setattr(early_compilation, "compute_capability", lambda ordinal: 90)
    monkeypatch.setattr(early_compilation, "driver_version", lambda: 13000)
    monkeypatch.setattr(early_compilation, "_opened", {})
    monkeypatch.setattr(cupy.cuda, "Device", lambda ordinal: device)
    monkeypatch.setattr(cupy.cuda.function, "Module", lambda: module)
    return card


def test_what_is_compiled_early_is_compiled_once_and_loaded(card):
    files = [(card.file, ("FACTOR=2",)), (card.file, ("FACTOR=3",))]
    early_compilation.compile_early(0, files)
    early_compilation.compile_early(0, files)
    for file, defines in files:
        assert nvrtc.load_kernel(0, file, "twice", defines) == "twice"
    assert sorted(key[1:3] for key in card.compiled if key[2]) == [
        ("sm_90", ("FACTOR=2",)),
        ("sm_90", ("FACTOR=3",)),
    ]
    assert card.loaded[0] != card.loaded[1]
    assert card.loaded == [
        nvrtc.compile_kernels(SOURCE_LINES + SOURCE, "sm_90", defines)[0] for _, defines in files
    ]


SOURCE_LINES = '#line 1 "twice.cu"\n'


def test_a_first_run_gets_a_draft_and_later_ones_what_is_compiled_for_speed(card, monkeypatch):
    defines, go_on = ("FACTOR=6",), threading.Event()
    compile_kernels = early_compilation.compile_kernels

    def drafts_first(*key):
        return compile_kernels(*key) if key[-1] is True or go_on.wait(60) else None

    monkeypatch.setattr(early_compilation, "compile_kernels", drafts_first)
    monkeypatch.setattr(early_compilation, "PAUSE", 0.0)
    early_compilation.compile_early(0, [], drafts=[(card.file, defines)])
    for _ in range(2):
        assert nvrtc.load_kernel(0, card.file, "twice", defines) == "twice"
    assert len(card.loaded) == 1
    go_on.set()
    early_compilation.wait_for_drafts()
    assert (0, card.file, defines) in nvrtc.finished
    for _ in range(2):
        assert nvrtc.load_kernel(0, card.file, "twice", defines) == "twice"
    versions = [(SOURCE_LINES + SOURCE, "sm_90", defines, draft) for draft in (True, False)]
    assert card.loaded == [nvrtc.compile_kernels(*version)[0] for version in versions]
    assert card.loaded[0] != card.loaded[1]


def test_a_draft_that_nobody_asked_for_in_time_is_not_kept(card, monkeypatch):
    monkeypatch.setattr(early_compilation, "PAUSE", 0.0)
    before, defines = set(nvrtc.compiled_early), ("FACTOR=8",)
    early_compilation.compile_early(0, [], drafts=[(card.file, defines)])
    early_compilation.wait_for_drafts()
    assert nvrtc.load_kernel(0, str(card.file), "twice", defines) == "twice"
    key = SOURCE_LINES + SOURCE, "sm_90", defines
    assert card.loaded == [nvrtc.compile_kernels(*key)[0]]
    left = {each for each in set(nvrtc.compiled_early) - before if each[2] == defines}
    assert not left


def test_no_thread_begins_to_compile_while_the_process_ends(card, monkeypatch):
    """Nobody would join it, and NVRTC is unloaded: such a process crashed at its end."""
    ended = SimpleNamespace(is_alive=lambda: False)
    monkeypatch.setattr(early_compilation.threading, "main_thread", lambda: ended)
    opened = Future()
    opened.set_result(None)
    early_compilation._begin_to_finish(0, card.file, ("FACTOR=4",), opened)
    assert not early_compilation._finishing


def test_where_nvrtc_knows_no_drafts_the_first_run_waits(card, monkeypatch):
    monkeypatch.setattr(nvrtc, "DRAFT", "--no-such-option")
    early_compilation.compile_early(0, [], drafts=[(card.file, ("FACTOR=7",))])
    assert nvrtc.load_kernel(0, card.file, "twice", ("FACTOR=7",)) == "twice"
    assert (0, card.file, ("FACTOR=7",)) not in nvrtc.finished
    key = SOURCE_LINES + SOURCE, "sm_90", ("FACTOR=7",)
    assert card.loaded == [nvrtc.compile_kernels(*key)[0]]


def test_a_device_is_opened_once_and_before_its_files_are_known(card, monkeypatch):
    asked = []
    monkeypatch.setattr(early_compilation, "compute_capability", lambda n: asked.append(n) or 90)
    early_compilation.open_early(0)
    early_compilation.open_early(0)
    early_compilation.compile_early(0, [(card.file, ("FACTOR=5",))])
    assert nvrtc.load_kernel(0, card.file, "twice", ("FACTOR=5",)) == "twice"
    assert asked == [0]


def test_what_does_not_compile_is_told_where_it_is_used(card):
    early_compilation.compile_early(0, [(card.file, ())])  # FACTOR is missing
    with pytest.raises(DeviceError, match="FACTOR"):
        nvrtc.load_kernel(0, card.file, "twice", ())


def test_a_thread_that_cannot_begin_is_not_waited_for(card, monkeypatch):
    def used_up(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(early_compilation.threading.Thread, "start", used_up)
        with pytest.raises(RuntimeError):
            early_compilation._begin(0, [(card.file, ("FACTOR=2",))], Future())
    assert nvrtc.load_kernel(0, card.file, "twice", ("FACTOR=2",)) == "twice"


def test_nothing_is_compiled_where_there_is_no_card(card, monkeypatch):
    monkeypatch.setattr(early_compilation, "compute_capability", lambda ordinal: None)
    early_compilation.compile_early(7, [(card.file, ("FACTOR=2",))])
    monkeypatch.setattr(early_compilation, "driver_version", lambda: None)
    early_compilation.compile_early(8, [(card.file, ("FACTOR=2",))])
    for thread in nvrtc.compiling.values():
        thread.join()
    assert card.compiled == []
    assert not any(ordinal == 8 for ordinal, _, _ in nvrtc.compiling)


IMPORTS = """
import sys, threading
class Watch:
    def find_spec(self, name, path=None, target=None):
        imported.append((name.split(".")[0], threading.current_thread() is threading.main_thread()))
imported = []
sys.meta_path.insert(0, Watch())
from pathlib import Path
from FuzzyVesselCoreLib.gpu import availability, early_compilation, nvrtc
early_compilation.compute_capability = lambda ordinal: 90
early_compilation.driver_version = lambda: 13000
early_compilation.compile_early(0, [(availability.TRIAL, ("A=1",))])
for thread in nvrtc.compiling.values():
    thread.join()
print(len(nvrtc.compiled_early), {main for _, main in imported}, "cupy" in dict(imported))
"""


FORKS = """
import os, threading
from FuzzyVesselCoreLib.gpu import early_compilation
held = threading.Event()
early_compilation.compute_capability = lambda ordinal: held.wait() and 90
early_compilation.driver_version = lambda: 13000
early_compilation.open_early(0)
early_compilation._one_at_a_time.acquire()
if child := os.fork():
    held.set()
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
free = early_compilation._one_at_a_time.acquire(timeout=5)
os._exit(0 if free and not early_compilation._opened else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not():
    paths = os.pathsep.join(path for path in sys.path if path)
    run = [sys.executable, "-W", "ignore", "-c", FORKS]
    subprocess.run(run, env={**os.environ, "PYTHONPATH": paths}, check=True, timeout=60)


def test_threads_that_compile_import_nothing():
    # Two threads that import CuPy at the same time make the import of either fail.
    pytest.importorskip("cupy", reason="CuPy is not installed")
    paths = os.pathsep.join(path for path in sys.path if path)
    run = [sys.executable, "-c", IMPORTS]
    told = subprocess.run(
        run, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["2", "{True}", "False"]


def test_a_machine_without_a_driver_has_no_compute_capability(monkeypatch):
    def missing():
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(early_compilation, "driver_library", missing)
    assert early_compilation.compute_capability(0) is None


@pytest.mark.parametrize("failing", [None, "cuInit", "cuDeviceGet", "cuDeviceGetAttribute"])
def test_the_driver_is_asked_for_the_compute_capability(monkeypatch, failing):
    def answer(name, value=None):
        def call(*arguments):
            if value is not None:
                arguments[0]._obj.value = value(*arguments[1:])
            return int(name == failing)

        return call

    driver = SimpleNamespace(
        cuInit=answer("cuInit"),
        cuDeviceGet=answer("cuDeviceGet", lambda ordinal: ordinal),
        cuDeviceGetAttribute=answer(
            "cuDeviceGetAttribute", lambda attribute, device: {75: 8, 76: 9}[attribute]
        ),
    )
    monkeypatch.setattr(early_compilation, "driver_library", lambda: driver)
    assert early_compilation.compute_capability(0) == (89 if failing is None else None)


def test_the_context_is_opened_with_the_first_files(card, monkeypatch):
    calls = []
    driver = SimpleNamespace(
        cuDeviceGet=lambda device, ordinal: calls.append(("device", ordinal)),
        cuDevicePrimaryCtxRetain=lambda context, device: calls.append(("context", device.value)),
    )
    monkeypatch.setattr(early_compilation, "driver_library", lambda: driver)
    early_compilation.open_context(3)
    assert calls == [("device", 3), ("context", 0)]


@pytest.mark.gpu
def test_the_driver_and_cupy_agree_on_a_real_gpu():
    cupy = pytest.importorskip("cupy")
    found = early_compilation.compute_capability(0)
    assert found == int(cupy.cuda.Device(0).compute_capability)


def test_a_process_that_ends_after_one_run_does_not_wait_for_more_than_the_draft(card, monkeypatch):
    monkeypatch.setattr(early_compilation, "PAUSE", 3600.0)
    early_compilation.compile_early(0, [], drafts=[(card.file, ("FACTOR=9",))])
    early_compilation.compiling[0, card.file, ("FACTOR=9",)].join()
    (waits,) = early_compilation._finishing
    assert waits.daemon
    assert waits.is_alive()
    early_compilation._finishing.clear()
    waits.cancel()
