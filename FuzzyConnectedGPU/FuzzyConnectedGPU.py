import enum
from collections.abc import Callable
from typing import Annotated, Any

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


class Labelled(enum.Enum):
    """A choice of the panel, with a text for each of its values."""

    def label(self) -> str:
        from FuzzyConnectedGPUPanel.choice_labels import label

        return label(self)


class Region(Labelled):
    """Where paths may go."""

    WHOLE = "whole"
    BOX = "roi"
    MASK = "mask"


class Model(Labelled):
    """What makes a voxel a vessel's; see `FuzzyConnectedGPULib.segmentation.MODELS`."""

    CONTRAST = "contrast"
    AFFINITY = "affinity"


class Border(Labelled):
    """Where a vessel ends; see `FuzzyConnectedGPULib.contrast.clicks.borders`."""

    DRAWN = "drawn"
    HALF = "half"


class Side(Labelled):
    """Which intensities beside the mean belong to the vessels, too."""

    BOTH = "both"
    BRIGHT = "bright"
    DARK = "dark"


class Form(Labelled):
    """How intensity and difference make the affinity."""

    GEOMETRIC = "geometric"
    WEIGHTED = "weighted"


class Solver(Labelled):
    """How connectedness is computed; see `FuzzyConnectedGPULib.SOLVERS`."""

    EXACT = "exact"
    CONTRACTION = "contraction"
    ACTIVE_TILES = "active-tiles"
    BLOCKS = "blocks"
    DIAL = "dial"
    KFOE = "kfoe"
    CUDA_KFOE = "cuda-kfoe"
    CUDA_KFOE_CORRECTED = "cuda-kfoe-corrected"


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
    showDisputed: bool = False
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

    def __init__(self) -> None:
        ScriptedLoadableModuleLogic.__init__(self)
        self._wrapper: Any = None  # FuzzyConnectedGPUParameterNode
        self._kept: Any = None

    def getParameterNode(self) -> Any:
        parameterNode = ScriptedLoadableModuleLogic.getParameterNode(self)
        if self._wrapper is None or self._wrapper.parameterNode is not parameterNode:
            # Scenes of versions that knew one model keep its meaning.
            earlier = parameterNode.GetParameter("automaticAffinity") != ""
            earlier = earlier and parameterNode.GetParameter("model") == ""
            self._wrapper = FuzzyConnectedGPUParameterNode(parameterNode)  # type: ignore[call-arg]
            if earlier:
                self._wrapper.model = Model.AFFINITY
        return self._wrapper

    def segment(
        self,
        volumeNode: Any,
        seedsNode: Any,
        *,
        backgroundSeedsNode: Any = None,
        maskNode: Any = None,
        roiNode: Any = None,
        model: str | None = None,
        border: str | None = None,
        threshold: float | None = None,
        cut: float | None = None,
        solver: str | None = None,
        device: str = "auto",
        affinity: Any = None,
        radius: int | None = None,
        side: str | None = None,
        maskSegmentID: str = "",
        fillGaps: int = 0,
        sceneVolumeNode: Any = None,
        labelmapNode: Any = None,
        segmentationNode: Any = None,
        segmentID: str = "",
        progress: Callable[[float], bool | None] | None = None,
        **variant: Any,
    ) -> Any:
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

    def segmentSeveral(
        self,
        volumeNode: Any,
        seedsNodes: Any,
        *,
        backgroundSeedsNode: Any = None,
        maskNode: Any = None,
        roiNode: Any = None,
        model: str | None = None,
        border: str | None = None,
        threshold: float | None = None,
        cut: float | None = None,
        solver: str | None = None,
        device: str = "auto",
        affinity: Any = None,
        radius: int | None = None,
        side: str | None = None,
        maskSegmentID: str = "",
        fillGaps: int = 0,
        sceneVolumeNode: Any = None,
        labelmapNode: Any = None,
        segmentationNode: Any = None,
        showDisputed: bool = False,
        progress: Callable[[float], bool | None] | None = None,
        **variant: Any,
    ) -> Any:
        """Segment several vessels that touch, each from a list of points of its own.

        They never overlap: see `FuzzyConnectedGPULib.several`. Example::

            lists = [slicer.util.getNode(name) for name in ("Portal vein", "Hepatic vein")]
            result = logic.segmentSeveral(volume, lists, segmentationNode=True)
            for vessel in result.vessels:
                print(f"{vessel.name}: {vessel.volumeMl:.1f} ml")

        Parameters
        ----------
        seedsNodes : sequence of vtkMRMLMarkupsFiducialNode
            A list of points for each vessel. Its name, colour and kind (attribute
            "FuzzyVesselGPU.Vessel": "portal vein", "hepatic vein", "artery", "vein" or "other")
            become those of a new segment. Points marked by
            `FuzzyConnectedGPUMRML.several.hand_overs.mark_hand_over` give the branch that begins
            there to the vessel of their list.
        segmentationNode : vtkMRMLSegmentationNode or True, optional
            Gets one segment for each vessel; True adds a new segmentation. Segments of earlier runs
            get other voxels, as in `segment`.
        showDisputed : bool
            Add a segment of the voxels that two vessels reach equally.
        volumeNode, ..., progress, **variant
            As in `segment`; one threshold for all vessels.

        Returns
        -------
        FuzzyConnectedGPUMRML.several.vessel_result.SeveralResult

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            As in `segment`; also where two vessels have a point on the same voxel.
        FuzzyVesselCoreLib.errors.DeviceError
        FuzzyVesselCoreLib.errors.Cancelled
        """
        from FuzzyConnectedGPUMRML.several.segmenting_several import segment_several

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
        outputs = _outputs(sceneVolumeNode, labelmapNode, segmentationNode, "")
        outputs["showDisputed"] = showDisputed
        return segment_several(volumeNode, list(seedsNodes), options, outputs, progress, self.kept)

    def findSeeds(
        self,
        volumeNode: Any,
        *,
        maskNode: Any = None,
        maskSegmentID: str = "",
        roiNode: Any = None,
        count: int = 6,
        seedsNode: Any = None,
        device: str = "auto",
        progress: Callable[[float], bool | None] | None = None,
    ) -> Any:
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
        sceneVolumeNode: Any,
        threshold: float | None = None,
        *,
        backgroundSeedsNode: Any = None,
        cut: float = 0.0,
        fillGaps: int = 0,
        maskNode: Any = None,
        maskSegmentID: str = "",
        roiNode: Any = None,
        labelmapNode: Any = None,
        segmentationNode: Any = None,
        segmentID: str = "",
        showDisputed: bool = False,
    ) -> Any:
        """Cut a fuzzy scene at another threshold, without computing it again.

        Parameters
        ----------
        sceneVolumeNode : vtkMRMLScalarVolumeNode
            Of an earlier run, also of one that was saved and loaded.
        threshold, backgroundSeedsNode, cut, labelmapNode, segmentationNode, segmentID
            As in `segment`.
        fillGaps, maskNode, maskSegmentID, roiNode
            As in `segment`: gaps are filled within mask and box.
        showDisputed : bool
            As in `segmentSeveral`, for a scene of several vessels.

        Returns
        -------
        FuzzyConnectedGPUMRML.result.SegmentationResult
            Its affinity and scene are None. For a scene of several vessels the result is as of
            `segmentSeveral`.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
        """
        from FuzzyConnectedGPUMRML.segmenting import threshold_scene
        from FuzzyConnectedGPUMRML.several.segmenting_several import (
            threshold_several,
            vessels_of_scene,
        )

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
        if vessels_of_scene(sceneVolumeNode):
            outputs["showDisputed"] = showDisputed
            return threshold_several(sceneVolumeNode, options, outputs)
        return threshold_scene(sceneVolumeNode, options, outputs)

    def automaticThreshold(
        self, sceneVolumeNode: Any, backgroundSeedsNode: Any = None, cut: float = 0.0
    ) -> float:
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

    def backgroundThreshold(self, sceneVolumeNode: Any, backgroundSeedsNode: Any) -> float:
        """The lowest threshold (float) that keeps every background seed out of the object."""
        from FuzzyConnectedGPULib import background_threshold
        from FuzzyConnectedGPUMRML.volume_curve import scene_values
        from FuzzyVesselCoreLib.mrml.points import seeds_of

        values = scene_values(sceneVolumeNode)
        seeds = seeds_of(backgroundSeedsNode, sceneVolumeNode, values.shape, kind="background seed")
        return background_threshold(values, seeds.voxels)

    def volumeCurve(self, sceneVolumeNode: Any) -> Any:
        """V(t) of a fuzzy scene: `FuzzyConnectedGPUMRML.volume_curve.VolumeCurve`, in ml."""
        from FuzzyConnectedGPUMRML.volume_curve import VolumeCurve

        return VolumeCurve(sceneVolumeNode)

    def estimateAffinity(
        self, volumeNode: Any, seedsNode: Any, radius: int = 2, side: str = "both"
    ) -> Any:
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
        from FuzzyVesselCoreLib.mrml.points import seeds_of
        from FuzzyVesselCoreLib.mrml.reading import voxels_of

        voxels = voxels_of(volumeNode, copy=False)
        seeds = seeds_of(seedsNode, volumeNode, voxels.shape)
        return estimate_affinity(voxels, seeds.voxels, radius=radius, side=side)

    def seedRows(self, volumeNode: Any, seedsNode: Any, radius: int = 2) -> list:
        """Label, voxel, intensity and neighbourhood of each seed; see `seed_rows.SeedRow`."""
        from FuzzyConnectedGPUMRML.seed_rows import seed_rows

        return seed_rows(volumeNode, seedsNode, radius)

    def memoryNeed(self, volumeNode: Any) -> Any:
        """Bytes that a run on a volume takes on the host and on the card; see `memory`."""
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


def _outputs(
    sceneVolumeNode: Any, labelmapNode: Any, segmentationNode: Any, segmentID: str
) -> dict[str, Any]:
    return dict(
        sceneVolumeNode=sceneVolumeNode,
        labelmapNode=labelmapNode,
        segmentationNode=segmentationNode,
        segmentID=segmentID,
    )


class FuzzyConnectedGPUTest(ScriptedLoadableModuleTest):
    """Self test on the liver phantom, through the same calls and buttons as a user's."""

    newLogic = FuzzyConnectedGPULogic

    def setUp(self):
        slicer.mrmlScene.Clear()

    def runTest(self):
        from FuzzyConnectedGPUPanel import panel_self_test, self_test

        for check in (*self_test.CHECKS, *panel_self_test.CHECKS):
            self.setUp()
            self.delayDisplay(check.__doc__.split("\n")[0])
            try:
                check(self)
            except self_test.NotPossible as reason:  # said; no failure of the code
                self.delayDisplay(f"Skipped: {reason}")
                continue
            self.delayDisplay("Test passed")
