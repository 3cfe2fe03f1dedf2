"""The connectedness panel as it is opened, with a volume and points, and after Apply."""

import pytest

from support.mrml_cases import add_seeds, add_volume
from support.panel_cases import POINTS, settle, until, vessel


@pytest.fixture(scope="session", autouse=True)
def loaded_once():
    """Load and compile the panel's packages now, and not anew for every panel."""
    pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    from emulators.qt.application import install

    install()
    import FuzzyConnectedGPUPanel.connectedness_panel  # noqa: F401


@pytest.fixture
def panel(open_panel):
    return open_panel("FuzzyConnectedGPU")


@pytest.fixture
def chosen(panel):
    """The panel as it is by default, with a volume and two vessel points."""
    volume = add_volume(vessel())
    panel.parameters.inputVolume = volume
    panel.parameters.seeds = add_seeds(volume, POINTS, "seeds")
    panel.process_events()
    return panel


@pytest.fixture
def done(chosen):
    """The same after Apply."""
    chosen.click("applyButton")
    return chosen


@pytest.fixture
def live(chosen, monkeypatch):
    """A panel whose result follows the points; the result is there, and all is prepared."""
    import slicer

    monkeypatch.setattr(slicer.app, "mouseButtons", lambda: 0)
    chosen.ui.autoUpdateCheckBox.checked = True
    until(chosen, lambda: chosen.parameters.labelmap is not None)
    settle(chosen)
    return chosen


@pytest.fixture
def no_runs(monkeypatch):
    """From here on nothing may be computed anew."""
    from FuzzyConnectedGPULib import segmentation

    def refuse(*_arguments, **_options):
        raise AssertionError("connectedness was computed again")

    for name in ("connectedness", "contrast_connectedness"):
        monkeypatch.setattr(segmentation, name, refuse)
