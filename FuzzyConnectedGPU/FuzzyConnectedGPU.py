from typing import Annotated

import numpy as np
import slicer
import vtk
from slicer import (
    vtkMRMLLabelMapVolumeNode,
    vtkMRMLMarkupsFiducialNode,
    vtkMRMLScalarVolumeNode,
)
from slicer.i18n import tr as _
from slicer.i18n import translate
from slicer.parameterNodeWrapper import WithinRange, parameterNodeWrapper
from slicer.ScriptedLoadableModule import (
    ScriptedLoadableModule,
    ScriptedLoadableModuleLogic,
    ScriptedLoadableModuleTest,
    ScriptedLoadableModuleWidget,
)
from slicer.util import VTKObservationMixin

# The project's packages are imported inside functions: Slicer knows their folder only after it
# has seen this file, and nothing but Slicer's own packages may be needed to show the panel.


class FuzzyConnectedGPU(ScriptedLoadableModule):
    """Describes the module to Slicer."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = _("Fuzzy Connectedness (GPU)")
        self.parent.categories = [translate("qSlicerAbstractCoreModule", "Segmentation")]
        self.parent.dependencies = []
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "Segments vessels, or any object that hangs together, from a few clicked seeds: every "
            "voxel gets its fuzzy connectedness to the seeds, and a threshold makes it a labelmap. "
            "Runs on an NVIDIA GPU or on the CPU, with the same result bit for bit. "
            'See the <a href="https://github.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU">'
            "documentation</a>."
        )
        self.parent.acknowledgementText = _(
            "Method: J. K. Udupa and S. Samarasekera, Graphical Models and Image Processing 58 "
            "(1996) 246-261; on the GPU: Y. Zhuge and others (2009, 2011, 2013)."
        )


@parameterNodeWrapper
class FuzzyConnectedGPUParameterNode:
    """The panel's choices, kept in the scene; as in `FuzzyConnectedGPULogic.segment`."""

    inputVolume: vtkMRMLScalarVolumeNode | None
    seeds: vtkMRMLMarkupsFiducialNode | None
    automaticThreshold: bool = True
    threshold: Annotated[float, WithinRange(0.0, 1.0)] = 0.5
    sceneVolume: vtkMRMLScalarVolumeNode | None
    labelmap: vtkMRMLLabelMapVolumeNode | None


class FuzzyConnectedGPUWidget(ScriptedLoadableModuleWidget, VTKObservationMixin):
    """A plain panel: volume, seeds, threshold, Apply."""

    def __init__(self, parent=None):
        ScriptedLoadableModuleWidget.__init__(self, parent)
        VTKObservationMixin.__init__(self)
        self.logic = None
        self._parameterNode = None
        self._guiTag = None
        self._running = False
        self._cancelled = False

    def setup(self):
        ScriptedLoadableModuleWidget.setup(self)
        self.logic = FuzzyConnectedGPULogic()
        self._createWidgets()
        self.applyButton.connect("clicked(bool)", self.onApply)
        scene = slicer.mrmlScene
        self.addObserver(scene, scene.StartCloseEvent, self.onSceneStartClose)
        self.addObserver(scene, scene.EndCloseEvent, self.onSceneEndClose)
        self.setParameterNode(self.logic.getParameterNode())

    def _createWidgets(self):
        import ctk
        import qt

        self.volumeSelector = self._nodeSelector("vtkMRMLScalarVolumeNode")
        self.seedsSelector = self._nodeSelector("vtkMRMLMarkupsFiducialNode")
        self.automaticCheckBox = qt.QCheckBox()
        self.thresholdSlider = ctk.ctkSliderWidget()
        self.thresholdSlider.maximum = 1.0
        self.thresholdSlider.decimals = 3
        self.thresholdSlider.singleStep = 0.01
        self.applyButton = qt.QPushButton(_("Apply"))
        self.resultLabel = qt.QLabel()
        self.resultLabel.wordWrap = True
        form = qt.QFormLayout()
        form.addRow(_("Volume:"), self.volumeSelector)
        form.addRow(_("Seeds:"), self.seedsSelector)
        form.addRow(_("Automatic threshold:"), self.automaticCheckBox)
        form.addRow(_("Threshold:"), self.thresholdSlider)
        form.addRow(self.applyButton)
        form.addRow(self.resultLabel)
        self.layout.addLayout(form)
        self.layout.addStretch(1)

    def _nodeSelector(self, className):
        selector = slicer.qMRMLNodeComboBox()
        selector.nodeTypes = [className]
        selector.addEnabled = className == "vtkMRMLMarkupsFiducialNode"
        selector.noneEnabled = True
        selector.setMRMLScene(slicer.mrmlScene)
        return selector

    def cleanup(self):
        self.onSceneStartClose()
        self.removeObservers()

    def enter(self):
        self.setParameterNode(self.logic.getParameterNode())

    def exit(self):
        self.setParameterNode(None)

    def onReload(self):
        import sys

        packages = ("FuzzyConnectedGPULib", "FuzzyConnectedGPUMRML", "FuzzyVesselCommon")
        for name in [name for name in sys.modules if name.split(".")[0] in packages]:
            del sys.modules[name]
        ScriptedLoadableModuleWidget.onReload(self)

    def onSceneStartClose(self, caller=None, event=None):
        self._cancelled = True
        self.setParameterNode(None)

    def onSceneEndClose(self, caller, event):
        if self.parent.isEntered:
            self.setParameterNode(self.logic.getParameterNode())

    def setParameterNode(self, parameterNode):
        """Show and observe other choices; None shows none."""
        changed = vtk.vtkCommand.ModifiedEvent
        if self._parameterNode is not None:
            self._parameterNode.disconnectGui(self._guiTag)
            self.removeObserver(self._parameterNode, changed, self.onParameterNodeModified)
        self._parameterNode = parameterNode
        if parameterNode is not None:
            self._guiTag = parameterNode.connectParametersToGui(
                {
                    "inputVolume": self.volumeSelector,
                    "seeds": self.seedsSelector,
                    "automaticThreshold": self.automaticCheckBox,
                    "threshold": self.thresholdSlider,
                }
            )
            self.addObserver(parameterNode, changed, self.onParameterNodeModified)
            self.onParameterNodeModified()

    def onParameterNodeModified(self, caller=None, event=None):
        choices = self._parameterNode
        self.applyButton.enabled = self._running or bool(choices.inputVolume and choices.seeds)
        self.thresholdSlider.enabled = not choices.automaticThreshold

    def onApply(self, checked=False):
        """Run, or cancel the run that is going on."""
        if self._running:
            self._cancelled = True
            return
        from FuzzyVesselCommon.errors import Cancelled

        self._running, self._cancelled = True, False
        self.applyButton.text = _("Cancel")
        with slicer.util.tryWithErrorDisplay(_("Failed to segment."), waitCursor=True):
            try:
                self.resultLabel.text = self._run(self._parameterNode)
            except Cancelled:
                self.resultLabel.text = _("Cancelled.")
            finally:
                self._running = False
                self.applyButton.text = _("Apply")

    def _run(self, choices):
        """Segment with the choices, keep the outputs for the next run; what there is to say."""
        result = self.logic.segment(
            choices.inputVolume,
            choices.seeds,
            threshold=None if choices.automaticThreshold else choices.threshold,
            sceneVolumeNode=choices.sceneVolume,
            labelmapNode=choices.labelmap,
            progress=self.onProgress,
        )
        choices.labelmap, choices.sceneVolume = result
        slicer.util.setSliceViewerLayers(label=result.labelmapNode)
        summary = _("{volume:.2f} ml at threshold {threshold:.3f}").format(
            volume=result.volumeMl, threshold=result.threshold
        )
        return "\n".join([summary, *result.warnings])

    def onProgress(self, fraction):
        """Show how far the run is; returns False after Cancel."""
        self.resultLabel.text = f"{fraction:.0%}"
        slicer.app.processEvents()
        return not self._cancelled


class FuzzyConnectedGPULogic(ScriptedLoadableModuleLogic):
    """Segments vessels on the MRML scene; the algorithms are in `FuzzyConnectedGPULib`.

    To try it, paste this into Slicer's Python console::

        from FuzzyConnectedGPU import FuzzyConnectedGPULogic
        from FuzzyVesselCommon.mrml_phantom import add_phantom
        from FuzzyVesselCommon.phantom import liver_phantom

        volume, seeds, background = add_phantom(liver_phantom((96, 96, 96)))
        segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        result = FuzzyConnectedGPULogic().segment(volume, seeds, segmentationNode=segmentation)
        print(f"{result.volumeMl:.1f} ml at threshold {result.threshold:.3f}")

    With an image and points of your own: ``volume = slicer.util.getNode("CT")`` and
    ``seeds = slicer.util.getNode("F")``.
    """

    def __init__(self):
        ScriptedLoadableModuleLogic.__init__(self)
        self._wrapper = None
        self._kept = None

    def getParameterNode(self):
        parameterNode = ScriptedLoadableModuleLogic.getParameterNode(self)
        if self._wrapper is None or self._wrapper.parameterNode is not parameterNode:
            self._wrapper = FuzzyConnectedGPUParameterNode(parameterNode)
        return self._wrapper

    def segment(
        self,
        volumeNode,
        seedsNode,
        *,
        backgroundSeedsNode=None,
        maskNode=None,
        roiNode=None,
        threshold=None,
        cut=0.0,
        solver="exact",
        device="auto",
        affinity=None,
        radius=2,
        side="both",
        maskSegmentID="",
        sceneVolumeNode=None,
        labelmapNode=None,
        segmentationNode=None,
        segmentID="",
        progress=None,
        **variant,
    ):
        """Segment what hangs together with the seeds; the scene changes only if all goes well.

        Parameters
        ----------
        volumeNode : vtkMRMLScalarVolumeNode
            One component; any axes, under any transform.
        seedsNode : vtkMRMLMarkupsNode
            Its placed points are the seeds; those outside the volume or mask are left out.
        backgroundSeedsNode : vtkMRMLMarkupsNode, optional
            Points that must not belong to the vessels: the threshold is set above them.
        maskNode : vtkMRMLLabelMapVolumeNode or vtkMRMLSegmentationNode, optional
            Paths stay inside it; of any geometry.
        roiNode : vtkMRMLMarkupsROINode, optional
            Paths stay inside it: voxels count whose centre is in the box.
        threshold : float, optional
            Above 0, up to 1. By default from the scene's histogram and the background seeds.
        cut : float
            Affinities below it count as 0, which saves time; not above the threshold.
        solver, device : str
            See `FuzzyConnectedGPULib.SOLVERS`; "auto", "cpu", "cuda", "cuda:1".
        affinity : FuzzyConnectedGPULib.GaussianAffinity, optional
            By default estimated round the seeds.
        radius, side : int, str
            Of that estimate: voxels round each seed (1 for thin vessels); "bright" or "dark" where
            intensities on that side of the mean are vessel, too.
        maskSegmentID : str
            Of a segmentation as mask: only this segment.
        sceneVolumeNode, labelmapNode : nodes, optional
            Filled; by default new nodes are added.
        segmentationNode : vtkMRMLSegmentationNode, optional
            Gets a segment named as the seeds' list; a later run with the same list replaces it,
            unless it was edited meanwhile: then a new one is added.
        segmentID : str
            Of the segment to overwrite instead.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.
        **variant
            ``corrections`` and ``directions`` of the solver "cuda-kfoe-corrected".

        Returns
        -------
        FuzzyVesselCommon.result.SegmentationResult
            ``labelmapNode, sceneNode = logic.segment(...)`` works, too.

        Raises
        ------
        FuzzyVesselCommon.errors.InputError
            Something given cannot be used; the message names it.
        FuzzyVesselCommon.errors.DeviceError
            The device cannot be used.
        FuzzyVesselCommon.errors.Cancelled
            `progress` returned False, or the volume was removed meanwhile.
        """
        from FuzzyConnectedGPUMRML.segmenting import segment

        options = dict(
            backgroundSeedsNode=backgroundSeedsNode,
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
            threshold=threshold,
            cut=cut,
            solver=solver,
            device=device,
            affinity=affinity,
            radius=radius,
            side=side,
            **variant,
        )
        outputs = _outputs(sceneVolumeNode, labelmapNode, segmentationNode, segmentID)
        return segment(volumeNode, seedsNode, options, outputs, progress, self.kept)

    def thresholdScene(
        self,
        sceneVolumeNode,
        threshold=None,
        *,
        backgroundSeedsNode=None,
        cut=0.0,
        labelmapNode=None,
        segmentationNode=None,
        segmentID="",
    ):
        """Cut a fuzzy scene at another threshold, without computing it again.

        Parameters
        ----------
        sceneVolumeNode : vtkMRMLScalarVolumeNode
            Of an earlier run, also of one that was saved and loaded.
        threshold, backgroundSeedsNode, cut, labelmapNode, segmentationNode, segmentID
            As in `segment`.

        Returns
        -------
        FuzzyVesselCommon.result.SegmentationResult
            Its affinity and scene are None.

        Raises
        ------
        FuzzyVesselCommon.errors.InputError
        """
        from FuzzyConnectedGPUMRML.segmenting import threshold_scene

        outputs = _outputs(None, labelmapNode, segmentationNode, segmentID)
        return threshold_scene(sceneVolumeNode, backgroundSeedsNode, threshold, cut, outputs)

    def automaticThreshold(self, sceneVolumeNode, backgroundSeedsNode=None, cut=0.0):
        """The threshold that `segment` would choose: a float, mostly with confidence and reason."""
        from FuzzyConnectedGPULib.threshold_choice import choose_threshold
        from FuzzyConnectedGPUMRML.segmenting import background_seeds
        from FuzzyConnectedGPUMRML.volume_curve import scene_values

        values = scene_values(sceneVolumeNode)
        background = background_seeds(backgroundSeedsNode, sceneVolumeNode, values.shape)
        return choose_threshold(values, background and background.voxels, cut)

    def backgroundThreshold(self, sceneVolumeNode, backgroundSeedsNode):
        """The lowest threshold (float) that keeps every background seed out of the object."""
        from FuzzyConnectedGPULib import background_threshold
        from FuzzyConnectedGPUMRML.volume_curve import scene_values
        from FuzzyVesselCommon.mrml import seeds_of

        values = scene_values(sceneVolumeNode)
        seeds = seeds_of(backgroundSeedsNode, sceneVolumeNode, values.shape, kind="background seed")
        return background_threshold(values, seeds.voxels)

    def volumeCurve(self, sceneVolumeNode):
        """V(t) of a fuzzy scene: `FuzzyConnectedGPUMRML.volume_curve.VolumeCurve`, in ml."""
        from FuzzyConnectedGPUMRML.volume_curve import VolumeCurve

        return VolumeCurve(sceneVolumeNode)

    def estimateAffinity(self, volumeNode, seedsNode, radius=2, side="both"):
        """The affinity that the intensities round the seeds give.

        Returns
        -------
        FuzzyConnectedGPULib.GaussianAffinity

        Raises
        ------
        FuzzyVesselCommon.errors.InputError
            There is no seed in the volume.
        """
        from FuzzyConnectedGPULib import estimate_affinity
        from FuzzyVesselCommon.mrml import seeds_of

        voxels = slicer.util.arrayFromVolume(volumeNode)
        seeds = seeds_of(seedsNode, volumeNode, voxels.shape)
        return estimate_affinity(voxels, seeds.voxels, radius=radius, side=side)

    def seedRows(self, volumeNode, seedsNode, radius=2):
        """Label, voxel, intensity and neighbourhood of each seed; see `seed_rows.SeedRow`."""
        from FuzzyConnectedGPUMRML.seed_rows import seed_rows

        return seed_rows(volumeNode, seedsNode, radius)

    def memoryNeed(self, volumeNode):
        """Bytes that a run on a volume takes on the host and on the card; see `memory`."""
        from FuzzyConnectedGPULib.memory import memory_need

        voxels = slicer.util.arrayFromVolume(volumeNode)
        return memory_need(voxels.shape, voxels.dtype)

    def difference(self, firstNode, secondNode, volumeNode, labelmapNode=None):
        """A labelmap of where two results differ; see `FuzzyConnectedGPUMRML.difference`."""
        from FuzzyConnectedGPUMRML.difference import difference

        return difference(firstNode, secondNode, volumeNode, labelmapNode)

    def forget(self):
        """Give the memory back that is kept to make the next run of the same volume faster."""
        self._kept = None

    @property
    def kept(self):
        """What is kept from run to run: `FuzzyConnectedGPULib.kept_connectedness`."""
        from FuzzyConnectedGPULib.kept_connectedness import KeptConnectedness

        if self._kept is None:
            self._kept = KeptConnectedness()
        return self._kept


def _outputs(sceneVolumeNode, labelmapNode, segmentationNode, segmentID):
    return dict(
        sceneVolumeNode=sceneVolumeNode,
        labelmapNode=labelmapNode,
        segmentationNode=segmentationNode,
        segmentID=segmentID,
    )


class FuzzyConnectedGPUTest(ScriptedLoadableModuleTest):
    """Self test on the liver phantom, through the same calls as a user's script."""

    def setUp(self):
        slicer.mrmlScene.Clear()

    def runTest(self):
        for test in (self.test_SegmentsPhantom, self.test_RefusesWithoutSeeds):
            self.setUp()
            test()

    def addPhantom(self, size):
        """A liver phantom, and the nodes of its volume and seeds."""
        from FuzzyVesselCommon.mrml_phantom import add_phantom
        from FuzzyVesselCommon.phantom import liver_phantom

        phantom = liver_phantom((size, size, size))
        return phantom, *add_phantom(phantom)[:2]

    def test_SegmentsPhantom(self):
        """Most of the phantom's vessels are found, in the labelmap and in the segment."""
        from FuzzyVesselCommon.errors import DeviceError

        self.delayDisplay("Segmenting the liver phantom")
        phantom, volume, seeds = self.addPhantom(64)
        segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        logic = FuzzyConnectedGPULogic()
        try:
            result = logic.segment(volume, seeds, segmentationNode=segmentation)
        except DeviceError as error:  # neither CUDA nor numba: said, and no failure of the code
            self.delayDisplay(f"Skipped: {error}")
            return
        found = slicer.util.arrayFromVolume(result.labelmapNode) > 0
        true = phantom.mask > 0
        dice = 2 * np.count_nonzero(found & true) / (found.sum() + true.sum())
        self.assertGreater(dice, 0.5)
        segment = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
        self.assertTrue(np.array_equal(segment > 0, found))
        self.delayDisplay("Test passed")

    def test_RefusesWithoutSeeds(self):
        """Without a seed there is a message and nothing new in the scene."""
        from FuzzyVesselCommon.errors import InputError

        self.delayDisplay("Asking for a segmentation without seeds")
        _phantom, volume, seeds = self.addPhantom(16)
        seeds.RemoveAllControlPoints()
        before = slicer.mrmlScene.GetNumberOfNodes()
        with self.assertRaises(InputError) as refusal:
            FuzzyConnectedGPULogic().segment(volume, seeds)
        self.assertIn(seeds.GetName(), str(refusal.exception))
        self.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)
        self.delayDisplay("Test passed")
