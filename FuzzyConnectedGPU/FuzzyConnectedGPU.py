from typing import Any

import slicer
from slicer.i18n import tr as _
from slicer.i18n import translate
from slicer.ScriptedLoadableModule import (
    ScriptedLoadableModule,
    ScriptedLoadableModuleLogic,
    ScriptedLoadableModuleTest,
    ScriptedLoadableModuleWidget,
)
from slicer.util import VTKObservationMixin

# Slicer appends this file's folder to `sys.path` before it loads the file. Of the project's
# packages only the Logic's methods are imported here, which need nothing but the standard library;
# all else is imported inside functions, so that the module loads whatever is missing.
from FuzzyConnectedGPUMRML.logic import SeedsLogic, SegmentingLogic, SeveralLogic, ThresholdLogic


class FuzzyConnectedGPU(ScriptedLoadableModule):
    """Describes the module to Slicer."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = _("Fuzzy Connectedness (GPU)")
        self.parent.categories = [translate("qSlicerAbstractCoreModule", "Segmentation")]
        self.parent.dependencies = ["FuzzyVesselCore"]
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "<p>Segments vessels from a few clicks: each voxel gets its connectedness to the "
            "points, and what is connected well enough becomes a segment. It runs on an NVIDIA GPU "
            "or on the CPU.</p>"
            "<p>Choose a volume, press <i>Place</i> beside <i>Vessels</i> and click into each "
            "vessel tree (a right click ends it), press <i>Apply</i>, and move the slider between "
            "<i>Less</i> and <i>More</i>. Where it leaks, click with <i>Not vessel</i>, or search "
            "in a box or a mask (<i>Advanced</i>).</p>"
            "<p>Keys over a slice, without <i>Place</i>: <b>A</b> adds a vessel point where the "
            "mouse is, <b>N</b> a point that is no vessel; <b>Ctrl+Z</b> or <b>Z</b> takes the "
            "last click back, <b>Ctrl+Y</b> makes it again.</p>"
            "<p><i>Add vessel</i> separates vessels that touch, such as portal and hepatic veins: "
            "one segment each. Key <b>H</b> gives the branch that begins at the mouse to the "
            "vessel that is selected.</p>"
            "<p>Research software, not for diagnosis.</p>"
            '<p><a href="https://github.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU">'
            "Documentation and tutorial</a></p>"
        )
        self.parent.acknowledgementText = _(
            "<p>Method: J. K. Udupa and S. Samarasekera, Fuzzy connectedness and object "
            "definition, Graphical Models and Image Processing 58 (1996) 246-261.</p>"
            "<p>On the GPU: Y. Zhuge, Y. Cao and R. W. Miller, GPU accelerated fuzzy connected "
            "image segmentation by using CUDA (2009); L. Wang, D. Li and S. Huang, An improved "
            "parallel fuzzy connected image segmentation method based on CUDA, BioMedical "
            "Engineering OnLine 15:56 (2016), doi:10.1186/s12938-016-0165-2.</p>"
        )
        slicer.app.connect("startupCompleted()", registerSampleData)


def registerSampleData() -> None:
    """Add the phantom and Slicer's public scans to the module Sample Data."""
    import os

    from FuzzyConnectedGPUMRML.sample_data import register

    register(os.path.join(os.path.dirname(__file__), "Resources", "Icons"))


class FuzzyConnectedGPUWidget(ScriptedLoadableModuleWidget, VTKObservationMixin):
    """The panel; what it does is in the package `FuzzyConnectedGPUPanel`."""

    def __init__(self, parent=None):
        ScriptedLoadableModuleWidget.__init__(self, parent)
        VTKObservationMixin.__init__(self)
        self.logic: Any = None
        self.panel: Any = None
        self.ui: Any = None

    def setup(self) -> None:
        ScriptedLoadableModuleWidget.setup(self)
        from FuzzyConnectedGPUPanel.connectedness_panel import ConnectednessPanel

        self.logic = FuzzyConnectedGPULogic()
        self.panel = ConnectednessPanel(self)
        self.ui = self.panel.ui

    def enter(self) -> None:
        if self.panel is not None:
            self.panel.enter()

    def exit(self) -> None:
        if self.panel is not None:
            self.panel.exit()

    def cleanup(self) -> None:
        if self.panel is not None:
            self.panel.cleanup()

    def onReload(self) -> None:
        from FuzzyVesselCoreLib.widgets.module_panel import prepare_reload

        prepare_reload(self)
        ScriptedLoadableModuleWidget.onReload(self)


class FuzzyConnectedGPULogic(
    ScriptedLoadableModuleLogic, SegmentingLogic, SeveralLogic, ThresholdLogic, SeedsLogic
):
    """Segments vessels on the MRML scene; the algorithms are in `FuzzyConnectedGPULib`.

    To try it, paste this into Slicer's Python console::

        from FuzzyConnectedGPU import FuzzyConnectedGPULogic
        from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        volume, seeds, background = add_phantom(liver_phantom((96, 96, 96)))
        segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        result = FuzzyConnectedGPULogic().segment(volume, seeds, segmentationNode=segmentation)
        print(f"{result.volumeMl:.1f} ml at threshold {result.threshold:.3f}")

    With an image and points of your own: ``volume = slicer.util.getNode("CT")`` and
    ``seeds = slicer.util.getNode("F")``.
    """

    def __init__(self) -> None:
        ScriptedLoadableModuleLogic.__init__(self)
        self._wrapper: Any = None  # FuzzyConnectedGPUParameterNode
        self._kept: Any = None

    def getParameterNode(self) -> Any:
        """The choices and results of the scene: `FuzzyConnectedGPUParameterNode`."""
        from FuzzyConnectedGPUMRML.parameters import FuzzyConnectedGPUParameterNode, Model

        parameterNode = ScriptedLoadableModuleLogic.getParameterNode(self)
        if self._wrapper is None or self._wrapper.parameterNode is not parameterNode:
            # Scenes of versions that knew one model keep its meaning.
            earlier = parameterNode.GetParameter("automaticAffinity") != ""
            earlier = earlier and parameterNode.GetParameter("model") == ""
            self._wrapper = FuzzyConnectedGPUParameterNode(parameterNode)  # type: ignore[call-arg]
            if earlier:
                self._wrapper.model = Model.AFFINITY
        return self._wrapper

    def memoryNeed(self, volumeNode: Any) -> Any:
        """Bytes that a run on a volume takes on the host and on the GPU; see `memory`."""
        from FuzzyConnectedGPULib.memory import memory_need
        from FuzzyVesselCoreLib.mrml.reading import voxels_of

        voxels = voxels_of(volumeNode, copy=False)
        return memory_need(voxels.shape, voxels.dtype)

    def difference(
        self, firstNode: Any, secondNode: Any, volumeNode: Any, labelmapNode: Any = None
    ) -> Any:
        """A labelmap of where two results differ; see `FuzzyConnectedGPUMRML.difference`."""
        from FuzzyConnectedGPUMRML.difference import difference

        return difference(firstNode, secondNode, volumeNode, labelmapNode)

    def forget(self) -> None:
        """Give the memory back that is kept to make the next run of the same volume faster."""
        self._kept = None

    @property
    def kept(self) -> Any:
        """What is kept from run to run: `FuzzyConnectedGPULib.cached_connectedness`."""
        from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness

        if self._kept is None:
            self._kept = CachedConnectedness()
        return self._kept


class FuzzyConnectedGPUTest(ScriptedLoadableModuleTest):
    """Self test on the liver phantom, through the same calls and buttons as a user's."""

    newLogic = FuzzyConnectedGPULogic

    def setUp(self) -> None:
        slicer.mrmlScene.Clear()

    def runTest(self) -> None:
        from FuzzyConnectedGPUPanel import panel_self_test, self_test

        for check in (*self_test.CHECKS, *panel_self_test.CHECKS):
            self.setUp()
            self.delayDisplay((check.__doc__ or "").split("\n")[0])
            try:
                check(self)
            except self_test.NotPossible as reason:  # said; no failure of the code
                self.delayDisplay(f"Skipped: {reason}")
                continue
            self.delayDisplay("Test passed")
