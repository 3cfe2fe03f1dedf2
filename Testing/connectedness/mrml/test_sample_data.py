"""The entries of the module Sample Data, on a stand-in for its logic."""

import sys
import types

import pytest

from support.places import ROOT

ICONS = ROOT / "FuzzyConnectedGPU" / "Resources" / "Icons"


class PlaySampleDataLogic:
    """The part of SampleData.SampleDataLogic that a module registers its data with."""

    def __init__(self):
        self.categories, self.sources = {}, {}
        known = types.SimpleNamespace(
            sampleName="CTLiver", uris=["https://example.org/1"], fileNames=["CTLiver.nrrd"],
            nodeNames=["CTLiver"], checksums=["SHA256:1"], thumbnailFileName=None,
        )  # fmt: skip
        self.built_in = {"CTLiver": known}

    def registerCustomSampleDataCategory(self, category, title):
        self.categories[category] = title

    def registerCustomSampleDataSource(
        self, category="Custom", sampleName=None, uris=None, fileNames=None, nodeNames=None,
        customDownloader=None, thumbnailFileName=None, checksums=None,
    ):  # fmt: skip
        assert category in self.categories
        assert isinstance(uris, str | list)
        self.sources[sampleName] = (uris, customDownloader, thumbnailFileName, checksums)

    def sourceForSampleName(self, sampleName):
        return self.built_in.get(sampleName)


@pytest.fixture
def sample_data(slicer_scene, monkeypatch):
    """What is registered when the application has started."""
    from FuzzyConnectedGPUMRML import sample_data

    logic = PlaySampleDataLogic()
    play = types.SimpleNamespace(SampleDataLogic=lambda: logic)
    monkeypatch.setitem(sys.modules, "SampleData", play)
    sample_data.register(str(ICONS))
    return logic


def test_phantom_and_public_scans_are_in_one_category(sample_data):
    assert list(sample_data.categories) == ["FuzzyVesselGPU"]
    assert list(sample_data.sources) == ["LiverPhantom", "CTLiver"]  # the others are not known here
    assert sample_data.sources["CTLiver"][0] == ["https://example.org/1"]
    assert sample_data.sources["CTLiver"][3] == ["SHA256:1"]


def test_the_phantom_is_made_with_its_seeds(slicer_scene, sample_data, monkeypatch):
    import slicer

    from FuzzyConnectedGPU import FuzzyConnectedGPULogic
    from FuzzyConnectedGPUMRML import sample_data as file

    shown = []
    monkeypatch.setattr(slicer.util, "setSliceViewerLayers", lambda **layers: shown.append(layers))
    monkeypatch.setattr(file, "PHANTOM_SIZE", 48)
    (volume,) = sample_data.sources["LiverPhantom"][1](None)
    assert volume.GetImageData().GetDimensions() == (48, 48, 48)
    assert shown[0]["background"] is volume
    seeds = slicer.util.getFirstNodeByName("Vessels")
    assert FuzzyConnectedGPULogic().segment(volume, seeds).volumeMl > 0


def test_the_module_registers_them_when_the_application_has_started(
    open_panel, sample_data, monkeypatch
):
    from emulators.qt import application

    monkeypatch.setattr(application, "started", [])
    open_panel("FuzzyConnectedGPU")
    (slot,) = application.started
    sample_data.sources.clear()
    slot()
    assert "LiverPhantom" in sample_data.sources
