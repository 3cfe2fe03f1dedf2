"""What all tests share: real data, the CUDA kernels on the CPU, and the marker for a real GPU."""

import gc
import os
import re
import sys
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from emulators.slicer_files import use_files
from FuzzyVesselCoreLib.compilation import prepare_numba
from support.places import ROOT

# Other programs on the machine must not let a test fail: no time is asserted.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure(config):
    """What must be set before a test is imported.

    With Slicer's own source every test must find it, also those that need no panel; and functions
    that the tests import have numba's cache of the project, as in the processes that they start.
    """
    prepare_numba()
    use_files()
    if os.environ.get("FUZZYVESSEL_SLICER_SOURCE"):
        from emulators.qt.application import install

        install()


def pytest_collection_finish(session):
    """Let Python look for cycles among objects rarely, and not among those of all modules.

    numba's compiling makes millions of objects; looking often is a sixth of its time here.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def pytest_runtest_setup(item):
    """Skip a test marked `gpu` where CUDA cannot be used, and say what is missing."""
    if item.get_closest_marker("gpu"):
        from FuzzyVesselCoreLib.gpu.device import cuda_status

        reason = cuda_status()
        if reason is not None:
            pytest.skip(reason)


@pytest.fixture(params=["ascending", "descending"])
def cpu_cuda(request):
    """An emulated device, once for each order in which its threads run.

    A kernel that lacks a barrier gives a wrong result in at least one of the two orders.
    """
    from emulators.cuda import EmulatedDevice, what_is_missing

    if what_is_missing():
        pytest.skip(what_is_missing())
    return EmulatedDevice(request.param == "descending")


@pytest.fixture
def gpu():
    """The first real GPU; for tests that carry the marker `gpu`."""
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    with CudaDevice(0) as device:
        yield device


@pytest.fixture(scope="session")
def data_folder():
    """The folder with the real scans: FUZZY_VESSEL_DATA, or ../shared/data beside the project."""
    folder = Path(os.environ.get("FUZZY_VESSEL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(
            f"the real data are not here: {folder} (FUZZY_VESSEL_DATA names another folder)"
        )
    return folder


@pytest.fixture
def slicer_scene():
    """An empty MRML scene on slicer-core, with slicer.util and the modules' logics."""
    from fuzzy_vessel import headless
    from FuzzyVesselCoreLib.errors import InputError

    try:
        application = headless.start()
    except InputError as error:
        pytest.skip(str(error))
    application.clear()
    yield application.scene
    application.clear()


@pytest.fixture
def logic(slicer_scene):
    """The logic of Fuzzy Connectedness on an empty scene."""
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    return FuzzyConnectedGPULogic()


def _own_modules():
    """Everything of the project that is loaded, by name; not the command line's host."""
    own = re.compile(r"(FuzzyConnectedGPU|PotentialSkeleton|FuzzyVesselCore)")
    return {name: module for name, module in sys.modules.copy().items() if own.match(name)}


@pytest.fixture
def open_panel(slicer_scene):
    """A function ``open_panel(module_name)`` that opens a panel; see `emulators.qt`."""
    pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
    from emulators.qt.application import install

    install()
    from emulators.qt.panel import Panel

    errors, panels, previous = [], [], sys.excepthook
    modules = _own_modules()

    def keep(kind, error, trace):
        errors.append(error)
        traceback.print_exception(kind, error, trace)

    def open_panel(name):
        panels.append(Panel(name, errors))
        return panels[-1]

    sys.excepthook = keep
    yield open_panel
    for panel in panels:
        panel.close()
    sys.excepthook = previous
    if any(sys.modules.get(name) is not module for name, module in modules.items()):
        for name in _own_modules():  # Reload was pressed: other tests hold on to the first ones
            del sys.modules[name]
        sys.modules.update(modules)
    assert not errors, f"an error in a slot, an observer or an event: {errors[0]!r}"
