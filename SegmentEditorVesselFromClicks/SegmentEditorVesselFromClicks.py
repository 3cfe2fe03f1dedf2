from pathlib import Path

import slicer
from slicer.i18n import tr as _
from slicer.i18n import translate
from slicer.ScriptedLoadableModule import ScriptedLoadableModule, ScriptedLoadableModuleTest


class SegmentEditorVesselFromClicks(ScriptedLoadableModule):
    """Hidden module: registers the Segment Editor's effect "Vessel from clicks"."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = _("Segment Editor: Vessel from clicks")
        self.parent.categories = [translate("qSlicerAbstractCoreModule", "Segmentation")]
        self.parent.dependencies = ["FuzzyVesselCore", "FuzzyConnectedGPU", "Segmentations"]
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "Adds the effect Vessel from clicks to the Segment Editor: click in a vessel, "
            "Ctrl-click anything that is not part of it."
        )
        self.parent.acknowledgementText = ""
        self.parent.hidden = True
        slicer.app.connect("startupCompleted()", registerEffect)


def registerEffect() -> None:
    """Hand the effect to the Segment Editor, from where each editor clones its own."""
    import qSlicerSegmentationsEditorEffectsPythonQt as effects

    source = Path(__file__).parent / "SegmentEditorVesselFromClicksLib" / "SegmentEditorEffect.py"
    effect = effects.qSlicerSegmentEditorScriptedEffect(None)
    effect.setPythonSource(source.as_posix())
    effect.self().register()


class SegmentEditorVesselFromClicksTest(ScriptedLoadableModuleTest):
    """Self test: each Segment Editor has the effect; Testing/segment_editor works with it."""

    def runTest(self) -> None:
        assert "Vessel from clicks" in slicer.qMRMLSegmentEditorWidget().availableEffectNames()
