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
    """Self test in a Segment Editor on the liver phantom."""

    def runTest(self) -> None:
        """A click shows a preview, Apply writes it into the selected segment."""
        from importlib.util import find_spec

        from FuzzyVesselCoreLib.mrml.points import add_phantom
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        if find_spec("numba") is None:  # it is installed at the first run, after a question
            self.delayDisplay("Skipped: numba is not installed.")
            return
        slicer.mrmlScene.Clear()
        volume, seeds, _background = add_phantom(liver_phantom((48, 48, 48)))
        node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        node.CreateDefaultDisplayNodes()
        node.SetReferenceImageGeometryParameterFromVolumeNode(volume)
        segment_id = node.GetSegmentation().AddEmptySegment("portal vein")
        parameters = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentEditorNode")
        editor = slicer.qMRMLSegmentEditorWidget()
        editor.setMRMLSegmentEditorNode(parameters)
        editor.setMRMLScene(slicer.mrmlScene)
        editor.setSegmentationNode(node)
        editor.setSourceVolumeNode(volume)
        editor.setCurrentSegmentID(segment_id)
        editor.setActiveEffectByName("Vessel from clicks")
        try:
            panel = editor.activeEffect().self().panel
            panel.click(seeds.GetNthControlPointPositionWorld(0))
            while panel.run.pending:
                slicer.app.processEvents()
            panel.ui.applyButton.click()
            labels = slicer.util.arrayFromSegmentBinaryLabelmap(node, segment_id, volume)
            assert labels.sum() > 100, "the click has found no vessel"
        finally:
            editor.setActiveEffectByName("")
        self.delayDisplay("Test passed")
