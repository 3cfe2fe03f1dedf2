"""The effect's self test in the Slicer application; CTest runs it from a build tree."""

from importlib.util import find_spec

import slicer
from slicer.ScriptedLoadableModule import ScriptedLoadableModuleTest

from FuzzyVesselCoreLib.mrml.points import add_phantom
from FuzzyVesselCoreLib.phantom.liver import liver_phantom


class EffectSelfTest(ScriptedLoadableModuleTest):
    """Self test in a Segment Editor on the liver phantom."""

    def runTest(self) -> None:
        """A click shows a preview, Apply writes it into the selected segment."""
        if find_spec("numba") is None:  # it is installed at the first run, after a question
            self.skipTest("numba is not installed")
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
