"""What both panels share: runs, packages, and the line that names the device."""

import itertools
import subprocess
import sys
import time
import types

import pytest

from FuzzyVesselCoreLib.compilation import needs_numba
from support.places import PACKAGE_FOLDERS, ROOT

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

REASON = 'CuPy is not installed. Install it: pip install "cupy-cuda13x[ctk]".'
CUDA = ["cupy-cuda13x[ctk]>=14,<15", "cuda-core>=1.2,<2", "cuda-bindings==13.*"]


@pytest.fixture
def packaging(monkeypatch):
    """Slicer's module for packages, which only notes what it is asked for."""
    import slicer

    module = types.ModuleType("slicer.packaging")
    module.satisfied, module.calls = set(), []
    module.pip_check = lambda requirement: requirement in module.satisfied
    module.pip_ensure = lambda missing, requester: module.calls.append((missing, requester))
    monkeypatch.setitem(sys.modules, "slicer.packaging", module)
    monkeypatch.setattr(slicer, "packaging", module, raising=False)
    return module


@pytest.fixture
def qt():
    """What Slicer calls `qt`, on the stand-ins."""
    from emulators.qt.application import install

    return install()


def test_the_button_installs_the_wheel_for_the_driver_and_tries_it(qt, packaging, monkeypatch):
    from FuzzyVesselCoreLib.widgets import packages

    label, button, asked = qt.QLabel(), qt.QPushButton("install"), []
    machine = {"reason": REASON, "cupy": None}
    monkeypatch.setattr(packages, "driver_version", lambda: 13010)
    monkeypatch.setattr(packages, "cuda_status", lambda: machine["reason"])
    monkeypatch.setattr(packages, "cuda_packages", lambda: tuple(CUDA))
    monkeypatch.setattr(packages, "reset_cuda_status", lambda: asked.append("forgotten"))
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: machine["cupy"])

    def pip_ensure(requirements, requester):
        asked.append((requirements, requester))
        packaging.satisfied.update(CUDA)
        machine.update(cupy="found", reason="there is no CUDA device. Use the CPU.")

    packaging.pip_ensure = pip_ensure
    line = packages.DeviceLine(label, button, "Fuzzy Connectedness")
    line.look()
    assert not button.isHidden()
    button.click()
    assert asked == [(CUDA, "Fuzzy Connectedness"), "forgotten"]
    assert label.text == "Computes on the CPU: there is no CUDA device"
    assert button.isHidden()


# --- what a run needs besides


@pytest.fixture
def own(slicer_scene, open_panel, packaging, monkeypatch):
    """A panel whose runs need one package, and only say that they ran."""
    panel = open_panel("PotentialSkeleton").widget.panel
    monkeypatch.setattr(type(panel), "requirements", ("needed>=2",))
    monkeypatch.setattr(panel, "run", lambda parameters, progress: "done")
    return panel


def test_missing_packages_are_asked_for_before_the_first_run(own, packaging):
    own.apply()
    assert packaging.calls == [(["needed>=2"], own.title())]
    assert own.ui.statusLabel.text == "done"
    packaging.satisfied.add("needed>=2")
    own.apply()
    assert len(packaging.calls) == 1


def test_declined_packages_that_a_run_needs_are_a_sentence(own, packaging, monkeypatch):
    import slicer

    monkeypatch.setattr(slicer.util, "errorDisplay", lambda *_, **__: pytest.fail("a dialog"))

    def declines(requirements, requester):
        raise RuntimeError("User declined package installation")

    def compiled(parameters, progress):  # by numba, which is not installed
        with needs_numba():
            raise ModuleNotFoundError("No module named 'numba'", name="numba")

    own.run = compiled
    packaging.satisfied.add("needed>=2")
    own.apply()
    assert own.ui.statusLabel.text.startswith("numba is not installed: pip install numba")
    packaging.satisfied.clear()
    packaging.pip_ensure = declines
    own.apply()
    assert own.ui.statusLabel.text == "needed was not installed. Press Apply to be asked again."
    assert not own.running.busy


# --- both modules together


@pytest.fixture
def both(slicer_scene, open_panel, monkeypatch):
    """The panels of both modules, where nothing is missing for a run."""
    panels = [open_panel(name) for name in ("FuzzyConnectedGPU", "PotentialSkeleton")]
    for panel in panels:
        monkeypatch.setattr(type(panel.widget.panel), "why_not", lambda self: "")
        panel.widget.panel.update()
    return panels


@pytest.mark.parametrize("reloaded", [0, 1])
def test_reload_of_one_module_leaves_the_other_s_errors_sentences(both, reloaded, monkeypatch):
    """A class that was loaded twice is two classes: `except InputError` would miss one of them."""
    import slicer

    monkeypatch.setattr(slicer.util, "errorDisplay", lambda *_, **__: pytest.fail("a dialog"))
    both[reloaded].widget.onReload()
    monkeypatch.setattr(type(both[reloaded].widget.panel), "why_not", lambda self: "")
    for panel in both:

        def refuse(parameters, progress):
            from FuzzyVesselCoreLib.errors import InputError

            raise InputError("The volume is empty.")

        panel.widget.panel.start(refuse)
        assert panel.ui.statusLabel.text == "The volume is empty."
    assert both[1 - reloaded].widget.panel.running.why_busy() == ""


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
    assert run.stdout.startswith("Computes on the CPU: ")


# --- work in another thread


@pytest.mark.parametrize("looks", [True, False])
def test_cancel_ends_work_in_another_thread(qt, monkeypatch, looks):
    """Also work that ends before it looks; and what the caller's progress raises."""
    import slicer

    from FuzzyVesselCoreLib.errors import Cancelled
    from FuzzyVesselCoreLib.widgets import run

    own = run.PanelRun(qt.QProgressBar(), lambda: None)
    monkeypatch.setattr(run, "ROUND", 0)
    rounds = itertools.count()  # of events: from the third on it works
    monkeypatch.setattr(slicer.app, "processEvents", lambda: next(rounds) > 1 and own.cancel())

    def work(progress):
        while looks and progress(0.1):
            time.sleep(0.001)
        time.sleep(0.05)
        return "made"

    with own as progress, pytest.raises(Cancelled):
        progress.carry_out(work)
    monkeypatch.setattr(slicer.app, "processEvents", lambda: next(rounds) > 5 and 1 / 0)
    with own as progress, pytest.raises(ZeroDivisionError):
        progress.carry_out(work)
