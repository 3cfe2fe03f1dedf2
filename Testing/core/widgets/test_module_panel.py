"""What both panels share: runs, and the line that names the device."""

import subprocess
import sys
import types
from itertools import pairwise

import pytest

from FuzzyVesselCoreLib.errors import NoCuda
from support.places import PACKAGE_FOLDERS, ROOT

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

REASON = NoCuda(
    "cupy missing", 'CuPy is not installed. Install it: pip install "cupy-cuda13x[ctk]".'
)


@pytest.fixture
def shared():
    """The modules `run` and `device_line`, on the stand-ins."""
    from emulators.qt.application import install

    install()
    from FuzzyVesselCoreLib.widgets import device_line, packages, run

    return types.SimpleNamespace(device_line=device_line, packages=packages, run=run)


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


def test_the_bar_says_how_much_is_left_to_prepare(shared, made, monkeypatch):
    """Numba's functions are counted: those that are compiled, and all."""
    monkeypatch.setattr(shared.run, "ROUND", 0)
    left = iter([(0, 0), (12, 130), (13, 130)])
    monkeypatch.setattr(shared.run, "compiled_functions", lambda: next(left))
    with made.run:
        assert made.bar.format.startswith("Preparing (first use only) ...")
        made.run.progress(0.0)
        assert made.bar.format.startswith("Preparing (first use only): 12 of 130")
        made.run.progress(0.0)
        assert made.bar.format.startswith("Preparing (first use only): 13 of 130")


def test_compiled_functions_are_counted():
    numba = pytest.importorskip("numba")
    from FuzzyVesselCoreLib.jit import warm_up
    from FuzzyVesselCoreLib.widgets.run import compiled_functions

    module = types.ModuleType("PotentialSkeletonLib.of_this_test")
    module.one, module.other = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    with warm_up._one_at_a_time:  # a thread that an earlier test began may be compiling
        ready, known = compiled_functions()
        sys.modules[module.__name__] = module
        try:
            assert compiled_functions() == (ready, known + 2)
            module.one(1)
            assert compiled_functions() == (ready + 1, known + 2)
        finally:
            del sys.modules[module.__name__]


def test_the_bar_s_row_stays_while_there_is_no_run(made):
    assert made.bar.isHidden()
    assert made.bar.sizePolicy.retainSizeWhenHidden()


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
    """A device line whose machine can be made up: a driver, CuPy, and what is wrong with CUDA."""
    import qt

    label, button, asked = qt.QLabel(), qt.QPushButton("install"), []
    module, packages = shared.device_line, shared.packages
    machine = dict(driver=13010, reason=REASON, cupy=[], imports=True)
    for each in (module, packages):
        monkeypatch.setattr(each, "driver_version", lambda: machine["driver"])
        monkeypatch.setattr(each, "cuda_status", lambda: machine["reason"])
    monkeypatch.setattr(packages, "cupy_wheel", lambda: "cupy-cuda13x")
    monkeypatch.setattr(packages, "reset_cuda_status", lambda: asked.append("forgotten"))
    monkeypatch.setattr(packages, "installed_cupy", lambda: machine["cupy"])

    def import_module(name):
        if not machine["imports"]:
            raise ImportError("libcudart is missing")

    monkeypatch.setattr(packages.importlib, "import_module", import_module)
    line = module.DeviceLine(label, button, "Fuzzy Connectedness")
    return types.SimpleNamespace(
        line=line, label=label, button=button, machine=machine, asked=asked, module=module
    )


def test_the_line_says_why_the_cpu_is_used(line):
    line.line.look()
    assert line.label.text == "Computes on the CPU: CuPy is not installed"
    assert line.label.toolTip == REASON
    assert not line.button.isHidden()
    assert line.button.text == "Use this computer's GPU ..."


def test_packages_are_looked_at_again_when_something_has_changed(line, shared, monkeypatch):
    looked = []
    monkeypatch.setattr(shared.packages, "installed_cupy", lambda: looked.append(1) or [])
    for _ in range(3):
        line.line.look()
    assert len(looked) == 1
    line.machine["reason"] = "CuPy cannot be imported."
    line.line.look()
    assert len(looked) == 2


def test_what_an_installation_says_stays_until_the_next_look(line, shared, monkeypatch):
    monkeypatch.setattr(shared.packages, "install_cupy", lambda _requester: "It was declined.")
    line.line.look()
    line.line.install()
    assert line.label.text == "It was declined."
    line.line.look()
    assert line.label.text == "Computes on the CPU: CuPy is not installed"


def test_nothing_can_be_installed_where_there_is_no_driver(line):
    line.machine["driver"] = None
    line.line.look()
    assert line.label.text == "Computes on the CPU: no NVIDIA GPU"
    assert line.button.isHidden()


def test_a_driver_that_is_too_old_is_not_given_a_wheel(line):
    line.machine["driver"] = 11080
    line.line.look()
    assert line.button.isHidden()


def test_the_gpu_is_named_without_its_memory(line, shared, monkeypatch):
    # Nor are all packages looked at.
    monkeypatch.setattr(shared.packages, "installed_cupy", lambda: 1 / 0)

    class Gpu:
        def __init__(self, ordinal):
            self.properties = {"name": b"NVIDIA H200", "totalGlobalMem": 150_000_000_000}

    line.machine["reason"] = None
    monkeypatch.setattr(line.module, "CudaDevice", Gpu)
    line.line.look()
    assert line.label.text == "Computes on the GPU (NVIDIA H200)"


def test_a_gpu_that_was_lost_is_no_error(line, packaging, monkeypatch):
    def lost(ordinal):
        raise RuntimeError("cudaErrorDevicesUnavailable: all are busy. Wait.")

    line.machine.update(reason=None, cupy=["cupy-cuda13x"])
    monkeypatch.setattr(line.module, "CudaDevice", lost)
    line.line.look()
    assert line.label.text == "Computes on the CPU: the GPU does not answer"
    assert line.label.toolTip == "cudaErrorDevicesUnavailable: all are busy. Wait."


@pytest.fixture
def packaging(monkeypatch):
    """Slicer's module for packages, which only notes what it is asked for."""
    import slicer

    module = types.ModuleType("slicer.packaging")
    module.satisfied, module.calls = set(), []
    module.pip_check = lambda requirement: requirement in module.satisfied
    module.pip_ensure = lambda missing, requester: module.calls.append((missing, requester))
    module.pip_install = lambda missing, requester: module.calls.append(("install", missing))
    module.pip_uninstall = lambda names: module.calls.append(("uninstall", names))
    monkeypatch.setitem(sys.modules, "slicer.packaging", module)
    monkeypatch.setattr(slicer, "packaging", module, raising=False)
    return module


CUDA = ["cupy-cuda13x[ctk]>=14,<15", "cuda-core>=1.2,<2", "cuda-bindings==13.*"]


def test_the_button_installs_the_wheel_for_the_driver_and_tries_it(line, packaging):
    def pip_ensure(requirements, requester):
        line.asked.append((requirements, requester))
        packaging.satisfied.update(CUDA)
        reason = NoCuda("no device", "there is no CUDA device. Use the CPU.")
        line.machine.update(cupy=["cupy-cuda13x"], reason=reason)

    packaging.pip_ensure = pip_ensure
    line.line.look()
    line.button.click()
    assert line.asked == [(CUDA, "Fuzzy Connectedness"), "forgotten"]
    assert line.label.text == "Computes on the CPU: no NVIDIA GPU that can be used"
    assert line.button.isHidden()


def declines(requirements, requester):
    raise RuntimeError("User declined package installation")


def fails(requirements, requester):
    raise subprocess.CalledProcessError(1, ["pip"])


@pytest.mark.parametrize(
    ("answer", "said"), [(declines, "was not installed"), (fails, "could not be installed")]
)
def test_cupy_that_was_not_installed_is_a_sentence(line, packaging, answer, said):
    packaging.pip_ensure = answer
    line.line.look()
    line.line.install()
    assert said in line.label.text
    assert not line.button.isHidden()  # it can be tried again


@pytest.mark.parametrize(
    ("cupy", "imports", "satisfied"),
    [
        (["cupy-cuda12x"], True, False),  # for another driver, or too old, or without NVRTC
        (["cupy-cuda12x", "cupy-cuda13x"], True, True),
        (["cupy-cuda13x"], False, True),  # files are missing
    ],
)
def test_a_broken_cupy_is_replaced_after_a_question(
    line, packaging, monkeypatch, cupy, imports, satisfied
):
    import slicer

    asked, answers = [], [False, True]
    monkeypatch.setattr(
        slicer.util,
        "confirmOkCancelDisplay",
        lambda text, **_: asked.append(text) or answers.pop(0),
    )
    packaging.satisfied = set(CUDA) if satisfied else set()
    line.machine.update(cupy=cupy, imports=imports, reason="CuPy is for CUDA 12. Do something.")
    line.line.look()
    assert line.button.text == "Repair GPU support ..."
    line.button.click()
    assert packaging.calls == []
    line.button.click()
    assert packaging.calls == [("uninstall", cupy), ("install", CUDA)]
    assert "CuPy is for CUDA 12" in asked[0]
    assert "Restart Slicer" in line.label.text


def test_what_a_repair_does_not_cure_offers_none(line, packaging):
    packaging.satisfied = set(CUDA)
    line.machine.update(cupy=["cupy-cuda13x"], reason="there is no CUDA device. Use device 'cpu'.")
    line.line.look()
    assert line.button.isHidden()


def test_a_line_that_has_ended_does_not_look(line):
    line.line.leave()
    line.label.text = "as it was"
    line.line.look()
    assert line.label.text == "as it was"


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


def test_a_package_that_is_too_old_is_asked_for(slicer_scene, open_panel, monkeypatch):
    """It can be imported; only its version tells."""
    import slicer.packaging

    asked = []
    monkeypatch.setattr(
        slicer.packaging, "pip_ensure", lambda missing, requester: asked.append(missing)
    )
    panel = open_panel("PotentialSkeleton").widget.panel
    monkeypatch.setattr(type(panel), "requirements", ("numpy>=99", "numpy>=1"))
    monkeypatch.setattr(panel, "run", lambda parameters, progress: "done")
    panel.apply()
    assert asked == [["numpy>=99"]]


def test_declined_packages_do_not_stop_a_run_that_can_do_without(own, packaging):
    packaging.pip_ensure = declines
    own.apply()
    assert own.ui.statusLabel.text == "done"


def needs_numba(parameters, progress):
    """As a solver that is compiled by numba, where that is not installed."""
    from FuzzyVesselCoreLib.errors import DeviceError

    try:
        raise ModuleNotFoundError("No module named 'numba'", name="numba")
    except ModuleNotFoundError as error:
        raise DeviceError("numba is not installed") from error


def test_declined_packages_that_a_run_needs_are_a_sentence(own, packaging, monkeypatch):
    import slicer

    monkeypatch.setattr(slicer.util, "errorDisplay", lambda *_, **__: pytest.fail("a dialog"))
    packaging.pip_ensure = declines
    own.run = needs_numba
    own.apply()
    assert own.ui.statusLabel.text == "needed was not installed. Press Apply to be asked again."
    assert not own.running.busy


def test_a_run_that_ends_for_want_of_a_package_asks_for_it_and_runs_again(own, packaging):
    """Whatever solver it was that needed it, and whether or not the panel knew."""
    packaging.satisfied.add("needed>=2")

    def pip_ensure(missing, requester):
        packaging.calls.append(missing)
        own.run = lambda parameters, progress: "done"
        own.run_again = True

    packaging.pip_ensure = pip_ensure
    own.start(lambda *inputs: own.run(*inputs) if packaging.calls else needs_numba(*inputs))
    assert packaging.calls == [["numba>=0.61,<1"]]
    assert own.ui.statusLabel.text == "done"


def test_a_module_that_is_missing_for_other_reasons_is_a_fault(own, packaging):
    packaging.satisfied.add("needed>=2")

    def broken(parameters, progress):
        raise ModuleNotFoundError("No module named 'sub'", name="FuzzyVesselCoreLib.sub")

    with pytest.raises(ModuleNotFoundError):
        own.start(broken)
    assert packaging.calls == []


# --- both modules together


@pytest.fixture
def both(slicer_scene, open_panel, monkeypatch):
    """The panels of both modules, where nothing is missing for a run."""
    panels = [open_panel(name) for name in ("FuzzyConnectedGPU", "PotentialSkeleton")]
    for panel in panels:
        monkeypatch.setattr(type(panel.widget.panel), "why_not", lambda self: "")
        panel.widget.panel.update()
    return panels


def test_one_module_s_run_disables_the_other_s_apply(both, monkeypatch):
    connectedness, skeleton = both
    seen, ran = [], []
    monkeypatch.setattr(skeleton.widget.panel, "run", lambda *_: ran.append("skeleton") or "ran")

    def run(parameters, progress):
        seen.append((skeleton.ui.applyButton.enabled, skeleton.ui.applyButton.toolTip))
        skeleton.widget.panel.apply()
        skeleton.widget.panel.apply_quietly()
        return "done"

    connectedness.widget.panel.start(run)
    ((enabled, why),) = seen
    assert not enabled
    assert why.startswith("Fuzzy Connectedness (GPU) is running")
    assert ran == []
    assert connectedness.ui.statusLabel.text == "done"
    assert "is running" not in skeleton.ui.applyButton.toolTip


def test_an_error_of_the_other_panel_does_not_end_a_run(both, monkeypatch):
    connectedness, skeleton = both
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: said.append(kind))
    said = []
    monkeypatch.setattr(skeleton.widget.panel, "show", lambda: 1 / 0)
    connectedness.widget.panel.start(lambda *_: "done")
    assert connectedness.ui.statusLabel.text == "done"
    assert set(said) == {ZeroDivisionError}


def test_an_error_while_a_run_begins_does_not_disable_apply(both, monkeypatch):
    connectedness, skeleton = both
    own, calls = connectedness.widget.panel, []

    def show():
        calls.append(own.running.active)
        if calls == [True]:
            raise ZeroDivisionError

    monkeypatch.setattr(own, "show", show)
    with pytest.raises(ZeroDivisionError):
        own.start(lambda *_: pytest.fail("it began"))
    assert connectedness.ui.applyButton.enabled
    assert skeleton.ui.applyButton.enabled
    own.start(lambda *_: "done")
    assert connectedness.ui.statusLabel.text == "done"


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
def test_reload_works_after_a_setup_that_failed(slicer_scene, open_panel, monkeypatch, name):
    import slicer

    panel = open_panel(name)
    before = {each for each in sys.modules if each.startswith(f"{name}Panel")}
    load = slicer.util.loadUI
    monkeypatch.setattr(slicer.util, "loadUI", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        panel.widget.onReload()
    broken = getattr(slicer.modules, f"{name}Widget")
    assert broken.panel is None
    for method in (broken.enter, broken.exit, broken.cleanup):
        method()
    slicer_scene.Clear(False)  # what was half made does not go on observing
    monkeypatch.setattr(slicer.util, "loadUI", load)
    broken.onReload()
    panel.process_events()
    assert panel.widget.panel is not None
    after = {each for each in sys.modules if each.startswith(f"{name}Panel")}
    assert {f"{name}Panel"} < after <= before


def test_compiled_code_survives_a_reload(slicer_scene, open_panel):
    """The next run compiled everything again, for a minute."""
    import PotentialSkeletonLib
    import PotentialSkeletonPanel

    open_panel("PotentialSkeleton").widget.onReload()
    assert sys.modules["PotentialSkeletonLib"] is PotentialSkeletonLib
    assert sys.modules["PotentialSkeletonPanel"] is not PotentialSkeletonPanel


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
    assert run.stdout.startswith("Computes on the CPU: ")
