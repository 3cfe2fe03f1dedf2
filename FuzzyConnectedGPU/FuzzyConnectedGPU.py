import enum
import importlib.util
from typing import Annotated

import numpy as np
import slicer
from slicer import (
    vtkMRMLLabelMapVolumeNode,
    vtkMRMLMarkupsFiducialNode,
    vtkMRMLMarkupsROINode,
    vtkMRMLScalarVolumeNode,
    vtkMRMLSegmentationNode,
)
from slicer.i18n import tr as _
from slicer.i18n import translate
from slicer.parameterNodeWrapper import Choice, WithinRange, parameterNodeWrapper
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
        self.parent.dependencies = ["FuzzyVesselCore"]
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "<p>Segments vessels, or any object that hangs together, from a few clicked seeds: "
            "every voxel gets its fuzzy connectedness to the seeds, and a threshold makes it a "
            "segment. Runs on an NVIDIA GPU or on the CPU, with the same result bit for bit.</p>"
            "<p>Choose a volume, press <i>Place</i> and click into each vessel tree (a right "
            "click ends it), press <i>Apply</i>, and move the threshold until the vessels are "
            "whole and nothing leaks. Points in the background, a box or a mask keep it out of "
            "what is as bright as the vessels.</p>"
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


def registerSampleData():
    """Add the phantom and Slicer's public scans to the module Sample Data."""
    import os

    from FuzzyConnectedGPUMRML.sample_data import register

    register(os.path.join(os.path.dirname(__file__), "Resources", "Icons"))


class Region(enum.Enum):
    """Where paths may go."""

    WHOLE = "whole"
    BOX = "roi"
    MASK = "mask"

    def label(self):
        return {
            Region.WHOLE: _("The whole volume"),
            Region.BOX: _("A box (ROI)"),
            Region.MASK: _("A mask or segment"),
        }[self]


class Model(enum.Enum):
    """What makes a voxel a vessel's; see `FuzzyConnectedGPULib.segmentation.MODELS`."""

    CONTRAST = "contrast"
    AFFINITY = "affinity"

    def label(self):
        return {
            Model.CONTRAST: _("Contrast to the surroundings"),
            Model.AFFINITY: _("Affinity to the points (published)"),
        }[self]


class Border(enum.Enum):
    """Where a vessel ends; see `FuzzyConnectedGPULib.contrast.clicks.borders`."""

    DRAWN = "drawn"
    HALF = "half"

    def label(self):
        return {
            Border.DRAWN: _("As experts draw it"),
            Border.HALF: _("At half the contrast"),
        }[self]


class Side(enum.Enum):
    """Which intensities beside the mean belong to the vessels, too."""

    BOTH = "both"
    BRIGHT = "bright"
    DARK = "dark"

    def label(self):
        return {
            Side.BOTH: _("Like the points"),
            Side.BRIGHT: _("Brighter as well"),
            Side.DARK: _("Darker as well"),
        }[self]


class Form(enum.Enum):
    """How intensity and difference make the affinity."""

    GEOMETRIC = "geometric"
    WEIGHTED = "weighted"

    def label(self):
        return {
            Form.GEOMETRIC: _("Geometric mean (published)"),
            Form.WEIGHTED: _("Weighted sum (ITK 3)"),
        }[self]


class Solver(enum.Enum):
    """How connectedness is computed; see `FuzzyConnectedGPULib.SOLVERS`."""

    EXACT = "exact"
    CONTRACTION = "contraction"
    ACTIVE_TILES = "active-tiles"
    BLOCKS = "blocks"
    DIAL = "dial"
    KFOE = "kfoe"
    CUDA_KFOE = "cuda-kfoe"
    CUDA_KFOE_CORRECTED = "cuda-kfoe-corrected"

    def label(self):
        return {
            Solver.EXACT: _("Exact"),
            Solver.CONTRACTION: _("Exact, contraction (CUDA)"),
            Solver.ACTIVE_TILES: _("Exact, active tiles (CUDA)"),
            Solver.BLOCKS: _("Exact, blocks (CPU)"),
            Solver.DIAL: _("Exact, bucket queue (CPU)"),
            Solver.KFOE: _("Exact, FIFO queue (CPU, slow)"),
            Solver.CUDA_KFOE: _("CUDA-kFOE (with errors)"),
            Solver.CUDA_KFOE_CORRECTED: _("CUDA-kFOE, corrected"),
        }[self]


class ThresholdSource(enum.Enum):
    """Who chooses the threshold."""

    AUTOMATIC = "automatic"
    BACKGROUND = "background"
    MANUAL = "manual"


DEVICES = ["auto", "cpu", "cuda:0", "cuda:1", "cuda:2", "cuda:3"]
Share = Annotated[float, WithinRange(0.0, 1.0)]
Intensity = Annotated[float, WithinRange(-1e9, 1e9)]


@parameterNodeWrapper
class FuzzyConnectedGPUParameterNode:
    """The panel's choices and results, kept in the scene; see `FuzzyConnectedGPULogic.segment`."""

    inputVolume: vtkMRMLScalarVolumeNode | None
    seeds: vtkMRMLMarkupsFiducialNode | None
    backgroundSeeds: vtkMRMLMarkupsFiducialNode | None
    model: Model = Model.CONTRAST
    border: Border = Border.DRAWN
    automaticAffinity: bool = True
    mean: Intensity = 0.0
    sigma: Intensity = 1.0
    gradientSigma: Intensity = 1.0
    radius: Annotated[int, WithinRange(1, 9)] = 2
    side: Side = Side.BOTH
    form: Form = Form.GEOMETRIC
    weight: Share = 0.5
    region: Region = Region.WHOLE
    roi: vtkMRMLMarkupsROINode | None
    mask: vtkMRMLScalarVolumeNode | vtkMRMLSegmentationNode | None
    maskSegmentID: str = ""
    cut: Share = 0.0
    solver: Solver = Solver.EXACT
    device: Annotated[str, Choice(DEVICES)] = "auto"
    corrections: Annotated[int, WithinRange(0, 10)] = 2
    directions: Annotated[int, WithinRange(0, 6)] = 6
    autoUpdate: bool = False
    thresholdSource: ThresholdSource = ThresholdSource.AUTOMATIC
    threshold: Share = 0.5
    fillGaps: Annotated[int, WithinRange(0, 10)] = 0
    sceneVolume: vtkMRMLScalarVolumeNode | None
    labelmap: vtkMRMLLabelMapVolumeNode | None
    segmentation: vtkMRMLSegmentationNode | None
    segmentID: str = ""
    show3D: bool = True
    showOverlay: bool = False
    overlayOpacity: Share = 0.5
    firstResult: vtkMRMLLabelMapVolumeNode | vtkMRMLSegmentationNode | None
    secondResult: vtkMRMLLabelMapVolumeNode | vtkMRMLSegmentationNode | None
    differenceLabelmap: vtkMRMLLabelMapVolumeNode | None


class FuzzyConnectedGPUWidget(ScriptedLoadableModuleWidget, VTKObservationMixin):
    """The panel; what it does is in the package `FuzzyConnectedGPUPanel`."""

    def __init__(self, parent=None):
        ScriptedLoadableModuleWidget.__init__(self, parent)
        VTKObservationMixin.__init__(self)
        self.logic = self.panel = self.ui = None

    def setup(self):
        ScriptedLoadableModuleWidget.setup(self)
        from FuzzyConnectedGPUPanel.connectedness_panel import ConnectednessPanel

        self.logic = FuzzyConnectedGPULogic()
        self.panel = ConnectednessPanel(self)
        self.ui = self.panel.ui

    def enter(self):
        if self.panel is not None:
            self.panel.enter()

    def exit(self):
        if self.panel is not None:
            self.panel.exit()

    def cleanup(self):
        if self.panel is not None:
            self.panel.cleanup()

    def onReload(self):
        from FuzzyVesselCoreLib.widgets.module_shell import prepare_reload

        prepare_reload(self)
        ScriptedLoadableModuleWidget.onReload(self)


class FuzzyConnectedGPULogic(ScriptedLoadableModuleLogic):
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

    def __init__(self):
        ScriptedLoadableModuleLogic.__init__(self)
        self._wrapper = None
        self._kept = None

    def getParameterNode(self):
        parameterNode = ScriptedLoadableModuleLogic.getParameterNode(self)
        if self._wrapper is None or self._wrapper.parameterNode is not parameterNode:
            # Scenes of versions that knew one model keep its meaning.
            earlier = parameterNode.GetParameter("automaticAffinity") != ""
            earlier = earlier and parameterNode.GetParameter("model") == ""
            self._wrapper = FuzzyConnectedGPUParameterNode(parameterNode)
            if earlier:
                self._wrapper.model = Model.AFFINITY
        return self._wrapper

    def segment(
        self,
        volumeNode,
        seedsNode,
        *,
        backgroundSeedsNode=None,
        maskNode=None,
        roiNode=None,
        model=None,
        border=None,
        threshold=None,
        cut=None,
        solver=None,
        device="auto",
        affinity=None,
        radius=None,
        side=None,
        maskSegmentID="",
        fillGaps=0,
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
            Points that do not belong to the vessels; each takes away the leak that it sits in.
        maskNode : vtkMRMLLabelMapVolumeNode or vtkMRMLSegmentationNode, optional
            Paths stay inside it; of any geometry.
        roiNode : vtkMRMLMarkupsROINode, optional
            Paths stay inside it: voxels count whose centre is in the box.
        model : {"contrast", "affinity"}, optional
            "contrast", the default: contrast to the surroundings, connected from the seeds.
            "affinity": the papers' affinity, taken also where one of its own parameters is given:
            affinity, radius, side, cut, solver.
        border : {"drawn", "half"}, optional
            Of the model "contrast": where experts draw it, or at half the contrast.
        threshold : float, optional
            Above 0, up to 1. By default 0.5 in the model "contrast" (lower: more, higher: less);
            in the model "affinity" from the scene's histogram and the background seeds.
        device : str
            "auto", "cpu", "cuda", "cuda:1".
        cut, solver : float, str
            Affinities below the cut count as 0, which saves time; see
            `FuzzyConnectedGPULib.SOLVERS`.
        affinity : FuzzyConnectedGPULib.GaussianAffinity, optional
            By default estimated round the seeds.
        radius, side : int, str
            Of that estimate: voxels round each seed (2); "bright" or "dark" where intensities on
            that side of the mean are vessel, too ("both").
        maskSegmentID : str
            Of a segmentation as mask: only this segment.
        fillGaps : int
            Rounds in which voxels are added that the vessels surround: what noise has left out of
            a wide vessel. 0 to 10.
        sceneVolumeNode, labelmapNode : nodes, optional
            Filled; by default new nodes are added.
        segmentationNode : vtkMRMLSegmentationNode or True, optional
            Gets a segment named as the seeds' list; True adds a new segmentation. A later run with
            the same list and volume gives the segment other voxels and leaves all else of it,
            unless it was edited meanwhile: then a new one is added.
        segmentID : str
            Of the segment to overwrite instead.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.
        **variant
            ``corrections`` and ``directions`` of the solver "cuda-kfoe-corrected".

        Returns
        -------
        FuzzyConnectedGPUMRML.result.SegmentationResult
            ``labelmapNode, sceneNode = logic.segment(...)`` works, too.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            Something given cannot be used, or an output is an input or the mask; the message names
            it.
        FuzzyVesselCoreLib.errors.DeviceError
            The device cannot be used.
        FuzzyVesselCoreLib.errors.Cancelled
            `progress` returned False, or an input was removed meanwhile.
        """
        from FuzzyConnectedGPUMRML.segmenting import segment

        options = dict(
            backgroundSeedsNode=backgroundSeedsNode,
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
            model=model,
            border=border,
            threshold=threshold,
            cut=cut,
            solver=solver,
            device=device,
            affinity=affinity,
            radius=radius,
            side=side,
            fillGaps=fillGaps,
            **variant,
        )
        outputs = _outputs(sceneVolumeNode, labelmapNode, segmentationNode, segmentID)
        return segment(volumeNode, seedsNode, options, outputs, progress, self.kept)

    def findSeeds(
        self,
        volumeNode,
        *,
        maskNode=None,
        maskSegmentID="",
        roiNode=None,
        count=6,
        seedsNode=None,
        device="auto",
        progress=None,
    ):
        """Find seeds without a click: where the contrast is most tubular, in volume or region.

        They are proposals: look at them and delete what is no vessel. In a whole CT other bright
        tubes (contrast in the bowel, calcifications) may be among them: give the organ as mask.

        Parameters
        ----------
        volumeNode : vtkMRMLScalarVolumeNode
        maskNode, maskSegmentID, roiNode
            As in `segment`; seeds lie inside.
        count : int
            Seeds at most (6).
        seedsNode : vtkMRMLMarkupsFiducialNode, optional
            Keeps its points and gets the new ones, labelled automatic-1, automatic-2, ...; by
            default a new list is added.
        device : str
            As in `segment`; the search runs on the CPU.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.

        Returns
        -------
        vtkMRMLMarkupsFiducialNode
            The strongest seed first.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            Something given cannot be used, or nothing is tubular.
        FuzzyVesselCoreLib.errors.DeviceError
            The device cannot be used, or numba is missing.
        FuzzyVesselCoreLib.errors.Cancelled
            `progress` returned False, or an input was removed meanwhile.
        """
        from FuzzyConnectedGPUMRML.finding import find_seeds

        options = dict(
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
            count=count,
            device=device,
        )
        return find_seeds(volumeNode, options, seedsNode, progress, self.kept)

    def thresholdScene(
        self,
        sceneVolumeNode,
        threshold=None,
        *,
        backgroundSeedsNode=None,
        cut=0.0,
        fillGaps=0,
        maskNode=None,
        maskSegmentID="",
        roiNode=None,
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
        fillGaps, maskNode, maskSegmentID, roiNode
            As in `segment`: gaps are filled within mask and box.

        Returns
        -------
        FuzzyConnectedGPUMRML.result.SegmentationResult
            Its affinity and scene are None.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
        """
        from FuzzyConnectedGPUMRML.segmenting import threshold_scene

        options = dict(
            threshold=threshold,
            backgroundSeedsNode=backgroundSeedsNode,
            cut=cut,
            fillGaps=fillGaps,
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
        )
        outputs = _outputs(None, labelmapNode, segmentationNode, segmentID)
        return threshold_scene(sceneVolumeNode, options, outputs)

    def automaticThreshold(self, sceneVolumeNode, backgroundSeedsNode=None, cut=0.0):
        """The threshold that `segment` would choose: a float, mostly with a reason."""
        from FuzzyConnectedGPULib.threshold.choice import choose_threshold
        from FuzzyConnectedGPUMRML.run_inputs import contrast_threshold
        from FuzzyConnectedGPUMRML.segmenting import background_seeds
        from FuzzyConnectedGPUMRML.volume_curve import scene_values

        values = scene_values(sceneVolumeNode)
        known = contrast_threshold(sceneVolumeNode)
        if known is not None:
            return known
        background = background_seeds(backgroundSeedsNode, sceneVolumeNode, values.shape)
        return choose_threshold(values, background and background.voxels, cut)

    def backgroundThreshold(self, sceneVolumeNode, backgroundSeedsNode):
        """The lowest threshold (float) that keeps every background seed out of the object."""
        from FuzzyConnectedGPULib import background_threshold
        from FuzzyConnectedGPUMRML.volume_curve import scene_values
        from FuzzyVesselCoreLib.mrml.reading import seeds_of

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
        FuzzyVesselCoreLib.errors.InputError
            There is no seed in the volume.
        """
        from FuzzyConnectedGPULib import estimate_affinity
        from FuzzyVesselCoreLib.mrml.reading import seeds_of, voxels_of

        voxels = voxels_of(volumeNode, copy=False)
        seeds = seeds_of(seedsNode, volumeNode, voxels.shape)
        return estimate_affinity(voxels, seeds.voxels, radius=radius, side=side)

    def seedRows(self, volumeNode, seedsNode, radius=2):
        """Label, voxel, intensity and neighbourhood of each seed; see `seed_rows.SeedRow`."""
        from FuzzyConnectedGPUMRML.seed_rows import seed_rows

        return seed_rows(volumeNode, seedsNode, radius)

    def memoryNeed(self, volumeNode):
        """Bytes that a run on a volume takes on the host and on the card; see `memory`."""
        from FuzzyConnectedGPULib.memory import memory_need
        from FuzzyVesselCoreLib.mrml.reading import voxels_of

        voxels = voxels_of(volumeNode, copy=False)
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


class DeviceMissing(Exception):
    """What a self test needs is not there."""


class FuzzyConnectedGPUTest(ScriptedLoadableModuleTest):
    """Self test on the liver phantom, through the same calls as a user's script."""

    def setUp(self):
        slicer.mrmlScene.Clear()

    def runTest(self):
        for test in (
            self.test_SegmentsPhantom,
            self.test_CutsSceneAgain,
            self.test_KeepsEditedSegment,
            self.test_KeepsLooksOfSegment,
            self.test_RefusesWithoutSeeds,
            self.test_RefusesMaskAsOutput,
            self.test_PanelSegments,
            self.test_PanelLeavesOthersAlone,
        ):
            self.setUp()
            try:
                test()
            except DeviceMissing as reason:  # neither CUDA nor numba: said, no failure of the code
                self.delayDisplay(f"Skipped: {reason}")
                continue
            self.delayDisplay("Test passed")

    def addPhantom(self, size):
        """A liver phantom, and the nodes of its volume and seeds."""
        from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        phantom = liver_phantom((size, size, size))
        return phantom, *add_phantom(phantom)[:2]

    def segmented(self, **options):
        """A phantom and what a run on it gave."""
        from FuzzyVesselCoreLib.errors import DeviceError

        phantom, volume, seeds = self.addPhantom(128)
        segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        try:
            result = FuzzyConnectedGPULogic().segment(
                volume, seeds, segmentationNode=segmentation, **options
            )
        except DeviceError as error:
            raise DeviceMissing(str(error)) from error
        return phantom, volume, seeds, segmentation, result

    def test_SegmentsPhantom(self):
        """Most of the phantom's vessels are found, in the labelmap and in the segment."""
        self.delayDisplay("Segmenting the liver phantom")
        phantom, volume, _seeds, segmentation, result = self.segmented()
        found = slicer.util.arrayFromVolume(result.labelmapNode) > 0
        true = phantom.mask > 0
        dice = 2 * np.count_nonzero(found & true) / (found.sum() + true.sum())
        self.assertGreater(dice, 0.5)
        segment = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
        self.assertTrue(np.array_equal(segment > 0, found))

    def test_CutsSceneAgain(self):
        """Another threshold of the scene that is there, its volume, and where the two differ."""
        self.delayDisplay("Cutting the fuzzy scene at another threshold")
        _phantom, volume, _seeds, _segmentation, result = self.segmented(threshold=0.5)
        logic = FuzzyConnectedGPULogic()
        wider = logic.thresholdScene(result.sceneNode, 0.2)
        values = slicer.util.arrayFromVolume(result.sceneNode)
        labels = slicer.util.arrayFromVolume(wider.labelmapNode)
        self.assertTrue(np.array_equal(labels > 0, values >= np.float32(0.2)))
        self.assertAlmostEqual(logic.volumeCurve(result.sceneNode).at(0.2), wider.volumeMl)
        found = logic.difference(result.labelmapNode, wider.labelmapNode, volume)
        self.assertEqual(found.onlyFirstMl, 0)
        self.assertAlmostEqual(found.bothMl, result.volumeMl)
        self.assertAlmostEqual(found.bothMl + found.onlySecondMl, wider.volumeMl)

    def test_KeepsEditedSegment(self):
        """A segment that somebody edited stays, and the next run makes another one."""
        self.delayDisplay("Editing a segment and running again")
        _phantom, volume, seeds, segmentation, result = self.segmented(threshold=0.5)
        edited = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
        edited[:2] = 1
        slicer.util.updateSegmentBinaryLabelmapFromArray(
            edited, segmentation, result.segmentID, volume
        )
        again = FuzzyConnectedGPULogic().segment(
            volume, seeds, threshold=0.4, segmentationNode=segmentation
        )
        self.assertNotEqual(again.segmentID, result.segmentID)
        kept = slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, result.segmentID, volume)
        self.assertTrue(np.array_equal(kept, edited))

    def test_KeepsLooksOfSegment(self):
        """A result's segment keeps its opacity, visibility and tags at another threshold."""
        self.delayDisplay("Changing how a segment looks, and its threshold")
        _phantom, _volume, _seeds, segmentation, result = self.segmented(threshold=0.5)
        display, segment_id = segmentation.GetDisplayNode(), result.segmentID
        segmentation.GetSegmentation().GetSegment(segment_id).SetTag("mine", "yes")
        display.SetSegmentOpacity3D(segment_id, 0.25)
        display.SetSegmentVisibility2DFill(segment_id, False)
        again = FuzzyConnectedGPULogic().thresholdScene(
            result.sceneNode, 0.3, segmentationNode=segmentation
        )
        self.assertEqual(again.segmentID, segment_id)
        self.assertTrue(segmentation.GetSegmentation().GetSegment(segment_id).HasTag("mine"))
        self.assertAlmostEqual(display.GetSegmentOpacity3D(segment_id), 0.25)
        self.assertFalse(display.GetSegmentVisibility2DFill(segment_id))

    def test_RefusesMaskAsOutput(self):
        """The mask of a run cannot take its result."""
        from FuzzyVesselCoreLib.errors import InputError

        self.delayDisplay("Asking for a result in the mask")
        _phantom, volume, seeds, _segmentation, result = self.segmented(threshold=0.5)
        mask = result.labelmapNode
        before = slicer.util.arrayFromVolume(mask).copy()
        with self.assertRaises(InputError) as refusal:
            FuzzyConnectedGPULogic().segment(volume, seeds, maskNode=mask, labelmapNode=mask)
        self.assertIn("mask", str(refusal.exception))
        self.assertTrue(np.array_equal(slicer.util.arrayFromVolume(mask), before))

    def test_PanelLeavesOthersAlone(self):
        """An output that is removed is chosen no more; other volumes are not written into."""
        self.delayDisplay("Removing outputs in the panel")
        self.inPanel(self.checkOutputs)

    def checkOutputs(self, panel):
        _phantom, volume, seeds = self.addPhantom(48)
        parameters = panel.logic.getParameterNode()
        parameters.inputVolume, parameters.seeds = volume, seeds
        slicer.app.processEvents()
        panel.ui.applyButton.click()
        other = self.addPhantom(48)[1]
        voxels = [slicer.util.arrayFromVolume(each).copy() for each in (volume, other)]
        for name, selector in (
            ("sceneVolume", panel.ui.sceneSelector),
            ("labelmap", panel.ui.labelmapSelector),
            ("segmentation", panel.ui.segmentationSelector),
        ):
            selector.removeCurrentNode()
            slicer.app.processEvents()
            self.assertIsNone(getattr(parameters, name))
            self.assertIsNone(selector.currentNode())
        panel.ui.applyButton.click()
        first = parameters.labelmap
        parameters.inputVolume = other
        slicer.app.processEvents()
        panel.ui.applyButton.click()
        self.assertIsNot(parameters.labelmap, first)
        for each, before in zip((volume, other), voxels):
            self.assertTrue(np.array_equal(slicer.util.arrayFromVolume(each), before))
        slicer.mrmlScene.RemoveNode(other)
        slicer.app.processEvents()
        self.assertIsNone(parameters.inputVolume)

    def test_PanelSegments(self):
        """Apply in the panel makes a segment, and the slider cuts it anew."""
        self.delayDisplay("Pressing Apply in the panel")
        self.inPanel(self.checkPanel)

    def inPanel(self, check):
        """Call a function with the panel, where there is a user interface."""
        try:
            panel = slicer.util.getModuleWidget("FuzzyConnectedGPU")
        except (AttributeError, RuntimeError) as error:
            self.delayDisplay(f"Skipped, as there is no user interface: {error}")
            return
        if importlib.util.find_spec("numba") is None:
            raise DeviceMissing("numba is not installed")
        opened = panel.parent.isEntered
        if not opened:
            panel.enter()
        try:
            check(panel)
        finally:
            if not opened:
                panel.exit()

    def checkPanel(self, panel):
        _phantom, volume, seeds = self.addPhantom(48)
        parameters = panel.logic.getParameterNode()
        parameters.inputVolume, parameters.seeds = volume, seeds
        slicer.app.processEvents()
        self.assertEqual(panel.ui.seedsTable.rowCount, seeds.GetNumberOfControlPoints())
        panel.ui.applyButton.click()
        self.assertEqual(parameters.segmentation.GetSegmentation().GetNumberOfSegments(), 1)
        panel.ui.thresholdSlider.value = 0.25
        slicer.app.processEvents()
        values = slicer.util.arrayFromVolume(parameters.sceneVolume)
        labels = slicer.util.arrayFromVolume(parameters.labelmap)
        self.assertTrue(np.array_equal(labels > 0, values >= np.float32(parameters.threshold)))

    def test_RefusesWithoutSeeds(self):
        """Without a seed there is a message and nothing new in the scene."""
        from FuzzyVesselCoreLib.errors import InputError

        self.delayDisplay("Asking for a segmentation without seeds")
        _phantom, volume, seeds = self.addPhantom(16)
        seeds.RemoveAllControlPoints()
        before = slicer.mrmlScene.GetNumberOfNodes()
        with self.assertRaises(InputError) as refusal:
            FuzzyConnectedGPULogic().segment(volume, seeds)
        self.assertIn(seeds.GetName(), str(refusal.exception))
        self.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)
