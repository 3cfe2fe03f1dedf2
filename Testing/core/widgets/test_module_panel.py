"""What both panels share: runs, and the line that names the device."""

import subprocess
import sys
import types
from itertools import pairwise

import pytest

from support.places import PACKAGE_FOLDERS, ROOT

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

REASON = 'CuPy is not installed. Install it: pip install "cupy-cuda13x[ctk]".'


@pytest.fixture
def shared():
    """The modules `run` and `device_line`, on the stand-ins."""
    from emulators.qt.application import install

    install()
    from FuzzyVesselCoreLib.widgets import device_line, run

    return types.SimpleNamespace(device_line=device_line, run=run)


# --- runs


@pytest.fixture
def made(shared):
    """A run with its bar, and how often it told of a change."""
    import qt

    bar, told = qt.QProgressBar(), []
    run = shared.run.Run(bar, lambda: told.append(run.active))
    return types.SimpleNamespace(run=run, bar=bar, told=told)


def test_the_bar_is_there_while_a_run_goes_on(made):
    assert made.bar.isHidden()
    with made.run:
        assert not made.bar.isHidden()
        assert made.run.active
    assert made.bar.isHidden()
    assert made.told == [True, False]


def test_a_second_run_is_refused(made):
    with made.run, pytest.raises(RuntimeError, match="going on"), made.run:
        pass


def test_a_run_of_another_panel_is_refused_and_told_of(shared, made):
    import qt

    told = []
    other = shared.run.Run(qt.QProgressBar(), lambda: told.append(made.run.active))
    with made.run:
        assert other.busy
        assert not other.active
        with pytest.raises(RuntimeError, match="going on"), other:
            pass
    assert told == [True, False]
    assert not other.busy
    with other:
        assert made.run.busy


def test_an_error_while_a_run_begins_leaves_none(made):
    made.run._changed = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError), made.run:
        pass
    assert not made.run.busy
    assert made.bar.isHidden()


def test_cancel_holds_for_one_run_only(made):
    with made.run:
        assert made.run.progress(0.1)
        made.run.cancel()
        assert not made.run.progress(0.2)
    with made.run:
        assert made.run.progress(0.1)


def test_an_error_ends_the_run(made):
    with pytest.raises(ZeroDivisionError), made.run:
        1 / 0  # noqa: B018
    assert not made.run.active
    assert made.bar.isHidden()


def test_events_are_handled_every_few_hundredths_of_a_second(shared, made, monkeypatch):
    """Not at each of the algorithm's calls, which may be many thousands."""
    import slicer

    now, rounds = [0.0], []
    monkeypatch.setattr(shared.run.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(slicer.app, "processEvents", lambda: rounds.append(now[0]))
    with made.run:
        for step in range(1000):
            now[0] = step * 0.001
            made.run.progress(step / 1000)
    gaps = [b - a for a, b in pairwise(rounds)]
    assert 20 < len(rounds) < 40
    assert max(gaps) < 0.1
    assert made.bar.value == pytest.approx(rounds[-1] * 1000, abs=1)


def test_the_bar_says_that_a_run_has_begun(shared, made, monkeypatch):
    """Code is compiled before the first step of the first run, and only then."""
    monkeypatch.setattr(shared.run, "ROUND", 0)
    with made.run:
        assert made.bar.format.startswith("Preparing (first use only)")
        made.run.progress(0.0)
        assert made.bar.format.startswith("Preparing (first use only)")
        made.run.progress(0.5)
        assert made.bar.format.startswith("%p")
    with made.run:
        assert made.bar.format.startswith("Preparing ...")


def test_the_bar_says_how_long_a_run_takes(shared, made, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(shared.run.time, "perf_counter", lambda: now[0])
    with made.run:
        now[0] = 75.4
        made.run.progress(0.5)
        assert "1:15" in made.bar.format
    assert made.run.seconds == 75.4


def test_widgets_that_end_are_touched_no_more(made):
    with made.run:
        made.run.leave()
        made.bar.delete()
        made.bar = None
        assert not made.run.progress(0.5)
    assert made.told == [True]


# --- the device


@pytest.fixture
def line(shared, monkeypatch):
    """A device line whose machine can be made up: a driver, and what is wrong with CUDA."""
    import qt

    label, button, asked = qt.QLabel(), qt.QPushButton("install"), []
    module = shared.device_line
    machine = dict(driver=13010, reason=REASON, cupy=False)
    monkeypatch.setattr(module, "driver_version", lambda: machine["driver"])
    monkeypatch.setattr(module, "cuda_status", lambda: machine["reason"])
    monkeypatch.setattr(module, "cupy_wheel", lambda: "cupy-cuda13x")
    monkeypatch.setattr(module, "forget_cuda_status", lambda: asked.append("forgotten"))
    monkeypatch.setattr(
        module.importlib.util, "find_spec", lambda name: object() if machine["cupy"] else None
    )
    line = module.DeviceLine(label, button, "Fuzzy Connectedness")
    return types.SimpleNamespace(
        line=line, label=label, button=button, machine=machine, asked=asked, module=module
    )


def test_the_line_says_why_the_cpu_is_used(line):
    line.line.look()
    assert line.label.text == "CPU: CuPy is not installed"
    assert line.label.toolTip == REASON
    assert not line.button.isHidden()


def test_nothing_can_be_installed_where_there_is_no_driver(line):
    line.machine["driver"] = None
    line.line.look()
    assert line.label.text == "CPU: there is no NVIDIA driver"
    assert line.button.isHidden()


def test_a_driver_that_is_too_old_is_not_given_a_wheel(line):
    line.machine["driver"] = 11080
    line.line.look()
    assert line.button.isHidden()


def test_never_a_second_cupy(line):
    line.machine.update(cupy=True, reason="the NVIDIA driver is for CUDA 12.2 and CuPy for 13. Do.")
    line.line.look()
    assert line.button.isHidden()
    assert line.label.text == "CPU: the NVIDIA driver is for CUDA 12.2 and CuPy for 13"


def test_the_card_is_named_with_its_memory(line, monkeypatch):
    class Card:
        def __init__(self, ordinal):
            self.properties = {"name": b"NVIDIA H200", "totalGlobalMem": 150_000_000_000}

        def free_memory(self):
            return 148_500_000_000

    line.machine["reason"] = None
    monkeypatch.setattr(line.module, "CudaDevice", Card)
    line.line.look()
    assert line.label.text == "GPU: NVIDIA H200, 148.5 of 150.0 GB free"


def test_a_card_that_was_lost_is_no_error(line, monkeypatch):
    def lost(ordinal):
        raise RuntimeError("cudaErrorDevicesUnavailable: all are busy. Wait.")

    line.machine["reason"] = None
    monkeypatch.setattr(line.module, "CudaDevice", lost)
    line.line.look()
    assert line.label.text == "CPU: cudaErrorDevicesUnavailable: all are busy"


@pytest.fixture
def packaging(monkeypatch):
    """Slicer's module for packages, which only notes what it is asked for."""
    import slicer

    module = types.ModuleType("slicer.packaging")
    monkeypatch.setitem(sys.modules, "slicer.packaging", module)
    monkeypatch.setattr(slicer, "packaging", module, raising=False)
    return module


def test_the_button_installs_the_wheel_for_the_driver_and_tries_it(line, packaging):
    def pip_ensure(requirements, requester):
        line.asked.append((requirements, requester))
        line.machine.update(cupy=True, reason="a trial kernel does not run (no headers). Mostly.")

    packaging.pip_ensure = pip_ensure
    line.line.look()
    line.button.click()
    assert line.asked == [("cupy-cuda13x[ctk]>=14,<15", "Fuzzy Connectedness"), "forgotten"]
    assert line.label.text == "CPU: a trial kernel does not run (no headers)"
    assert line.button.isHidden()


def test_declined_is_no_change(line, packaging):
    def pip_ensure(requirements, requester):
        raise RuntimeError("User declined to install")

    packaging.pip_ensure = pip_ensure
    line.line.look()
    with pytest.raises(RuntimeError, match="declined"):
        line.line.install()
    assert line.label.text == "CPU: CuPy is not installed"
    assert not line.button.isHidden()


def test_a_line_that_has_ended_does_not_look(line):
    line.line.leave()
    line.label.text = "as it was"
    line.line.look()
    assert line.label.text == "as it was"


# --- what a run needs besides


def test_missing_packages_are_asked_for_before_the_first_run(
    slicer_scene, open_panel, packaging, monkeypatch
):
    panel = open_panel("PotentialSkeleton")
    asked = []
    packaging.pip_ensure = lambda missing, requester: asked.append((missing, requester))
    own = panel.widget.panel
    monkeypatch.setattr(type(own), "requirements", ("no_such_package>=1", "numpy>=2.0"))
    monkeypatch.setattr(own, "run", lambda parameters, progress: "done")
    own.apply()
    assert asked == [(["no_such_package>=1"], "Potential-Field Skeleton")]
    assert panel.ui.statusLabel.text == "done"


def test_nothing_is_shown_but_the_panel_at_the_start(slicer_scene, open_panel):
    from emulators.qt.application import install

    qt = install()
    before = [each for each in qt.QApplication.topLevelWidgets() if each.isVisible()]
    panel = open_panel("PotentialSkeleton")
    after = [each for each in qt.QApplication.topLevelWidgets() if each.isVisible()]
    assert [each for each in after if each not in before] == [panel.window]


@pytest.mark.parametrize("name", ["FuzzyConnectedGPU", "PotentialSkeleton"])
def test_panels_open_without_cupy_numba_and_scipy(name):
    missing = ("cupy", "numba", "scipy")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
        f"sys.path[:0] = {[str(ROOT / 'Testing'), *map(str, PACKAGE_FOLDERS)]}\n"
        "from emulators.qt.application import install; install()\n"
        "from emulators.qt.panel import Panel\n"
        f"panel = Panel({name!r}, []); panel.process_events()\n"
        "print(panel.ui.deviceLabel.text)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("CPU: ")
