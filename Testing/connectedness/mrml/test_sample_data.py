"""The phantom in the module Sample Data, on a stand-in for its logic."""

import sys
import types

import pytest

from support.places import ROOT


@pytest.fixture
def registered(slicer_scene, monkeypatch):
    """What is registered in Sample Data, by its name."""
    sources = {}
    logic = types.SimpleNamespace(
        registerCustomSampleDataCategory=lambda category, title: None,
        registerCustomSampleDataSource=lambda **source: sources.update(
            {source["sampleName"]: source}
        ),
    )
    play = types.SimpleNamespace(SampleDataLogic=lambda: logic)
    monkeypatch.setitem(sys.modules, "SampleData", play)
    return sources


def test_the_phantom_is_registered_at_the_start_and_made_with_its_seeds(
    open_panel, registered, monkeypatch
):
    import slicer

    from emulators.qt import application
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic
    from FuzzyConnectedGPUMRML import sample_data

    monkeypatch.setattr(application, "started", [])
    open_panel("FuzzyConnectedGPU")
    (slot,) = application.started
    slot()
    source, shown = registered["LiverPhantom"], []
    assert (ROOT / source["thumbnailFileName"]).is_file()
    monkeypatch.setattr(slicer.util, "setSliceViewerLayers", lambda **layers: shown.append(layers))
    monkeypatch.setattr(sample_data, "PHANTOM_SIZE", 48)
    (volume,) = source["customDownloader"](None)
    assert volume.GetImageData().GetDimensions() == (48, 48, 48)
    assert shown[0]["background"] is volume
    seeds = slicer.util.getFirstNodeByName("Vessels")
    assert FuzzyConnectedGPULogic().segment(volume, seeds).volumeMl > 0
