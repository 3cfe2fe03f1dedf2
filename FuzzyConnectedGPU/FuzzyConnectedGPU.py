from pathlib import Path
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

# Slicer appends this file's folder to `sys.path` before it loads the file. The project's packages
# are imported inside functions, so that the module loads whatever is missing.

PHANTOM_SIZE = 192  # voxels along each axis, in Sample Data


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
            "points, and what is connected well enough becomes a segment.</p>"
            "<p>Choose a volume, press <i>Place</i> beside <i>Vessels</i>, click into each vessel "
            "tree (a right click ends it) and press <i>Apply</i>. The slider takes less or more; "
            "where it leaks, click with <i>Not vessel</i>. <i>Add vessel</i> separates vessels "
            "that touch.</p>"
            "<p>Keys over a slice: <b>A</b> vessel point, <b>N</b> not vessel, <b>Z</b> undo, "
            "<b>Y</b> redo, <b>H</b> gives the branch that begins at the mouse to the vessel that "
            "is selected.</p>"
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
    """Add the phantom, with its picture, to the module Sample Data."""
    import SampleData

    category, logic = "FuzzyVesselGPU", SampleData.SampleDataLogic()
    logic.registerCustomSampleDataCategory(category, title=_("Vessels (FuzzyVesselGPU)"))
    logic.registerCustomSampleDataSource(
        category=category,
        sampleName="LiverPhantom",
        uris="made-on-the-spot:liver-phantom",  # no file is downloaded, but an address is needed
        nodeNames=_("Liver phantom"),
        thumbnailFileName=str(Path(__file__).parent / "Resources" / "Icons" / "LiverPhantom.png"),
        customDownloader=addPhantomWithSeeds,
    )


def addPhantomWithSeeds(_source: Any = None) -> list[Any]:
    """Make the liver phantom with its seeds and show it; returns its volume in a list."""
    from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, VESSEL_COLOR, add_phantom, paint
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    volume, seeds, background = add_phantom(liver_phantom((PHANTOM_SIZE,) * 3))
    volume.GetDisplayNode().AutoWindowLevelOff()
    volume.GetDisplayNode().SetWindowLevelMinMax(-60, 300)
    paint(seeds, VESSEL_COLOR)
    paint(background, BACKGROUND_COLOR)
    slicer.util.setSliceViewerLayers(background=volume, fit=True)
    return [volume]


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


class FuzzyConnectedGPULogic(ScriptedLoadableModuleLogic):
    """Segments vessels on the MRML scene; the algorithms are in `FuzzyConnectedGPULib`.

    To try it, paste this into Slicer's Python console::

        from FuzzyConnectedGPU import FuzzyConnectedGPULogic
        from FuzzyVesselCoreLib.mrml.points import add_phantom
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        volume, seeds, background = add_phantom(liver_phantom((96, 96, 96)))
        result = FuzzyConnectedGPULogic().segment(volume, seeds, segmentationNode=True)
        print(f"{result.volumeMl:.1f} ml at threshold {result.threshold:.3f}")
    """

    def __init__(self) -> None:
        ScriptedLoadableModuleLogic.__init__(self)
        from FuzzyConnectedGPULib import ContrastMapCache

        self._wrapper: Any = None  # FuzzyConnectedGPUParameterNode
        self.cached = ContrastMapCache()  # the contrast map of the last run, for the next one

    def getParameterNode(self) -> Any:
        """The choices and results in the MRML scene: `FuzzyConnectedGPUParameterNode`."""
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

    # --- runs

    def segment(self, volumeNode: Any, seedsNode: Any, **arguments: Any) -> Any:
        """Segment what is connected to the seeds; nodes change once all is computed.

        Several vessels that touch never overlap: see `FuzzyConnectedGPULib.segment`.
        Example::

            lists = [slicer.util.getNode(name) for name in ("Portal vein", "Hepatic vein")]
            result = logic.segment(volume, lists, segmentationNode=True)
            for vessel in result.vessels:
                print(f"{vessel.name}: {vessel.volumeMl:.1f} ml")

        Parameters
        ----------
        volumeNode : vtkMRMLScalarVolumeNode
            One component; any axes, under any transform.
        seedsNode : vtkMRMLMarkupsNode, or sequence of them
            The placed points of each list are the seeds of one vessel; those outside the volume or
            mask are left out. With several lists name, colour and kind of each (attribute
            "FuzzyVesselGPU.Vessel": "portal vein", "hepatic vein", "artery", "vein" or "other")
            become those of a new segment, and points marked by
            `FuzzyConnectedGPUMRML.vessel_lists.mark_hand_over` give the branch that begins there to
            the vessel of their list.
        backgroundSeedsNode : vtkMRMLMarkupsNode, optional
            Points that do not belong to the vessels; each removes the leak that it lies in. For one
            vessel in the model "affinity" they raise the automatic threshold only.
        maskNode : vtkMRMLLabelMapVolumeNode or vtkMRMLSegmentationNode, optional
            Paths stay inside it; of any geometry.
        maskSegmentID : str
            Of a segmentation as mask: only this segment.
        roiNode : vtkMRMLMarkupsROINode, optional
            Paths stay inside it: voxels count whose centre is in the box.
        model, border, threshold, device, affinity, radius, side, cut, solver, ...
            As of `FuzzyConnectedGPULib.SegmentOptions`, for example ``threshold=0.4`` (lower: more,
            higher: less), ``model="affinity"``, ``device="cpu"``.
        fillGaps : int
            Rounds in which voxels are added that the vessels surround: what noise has left out of
            a wide vessel. 0 to 10.
        sceneVolumeNode, labelmapNode : nodes, optional
            Filled; by default new nodes are added.
        segmentationNode : vtkMRMLSegmentationNode or True, optional
            Gets a segment for each vessel, named as its list; True adds a new segmentation. A
            later run with the same list and volume gives the segment other voxels and leaves all
            else of it, unless it was edited meanwhile: then a new one is added.
        segmentID : str
            Of the segment to overwrite instead; for one vessel.
        showDisputed : bool
            Add a segment of the voxels that two vessels reach equally.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.

        Returns
        -------
        FuzzyConnectedGPUMRML.segmenting.SegmentationResult
            ``labelmapNode, sceneNode = logic.segment(...)`` works, too.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            Something given cannot be used, two vessels have a point on the same voxel, or an
            output is an input or the mask; the message names it.
        FuzzyVesselCoreLib.errors.DeviceError
            The device cannot be used.
        FuzzyVesselCoreLib.errors.Cancelled
            `progress` returned False, or an input was removed meanwhile.
        """
        from FuzzyConnectedGPUMRML.segmenting import Run

        lists = seedsNode if isinstance(seedsNode, list | tuple) else [seedsNode]
        progress = arguments.pop("progress", None)
        run = Run(volumeNode, lists, _options(arguments))
        return run.write(run.compute(progress, self.cached))

    def segmentSeveral(self, volumeNode: Any, seedsNodes: Any, **arguments: Any) -> Any:
        """`segment` with a sequence of lists."""
        return self.segment(volumeNode, list(seedsNodes), **arguments)

    # --- thresholds of an existing fuzzy scene, which is not computed again

    def thresholdScene(
        self, sceneVolumeNode: Any, threshold: float | None = None, **arguments: Any
    ) -> Any:
        """Cut a fuzzy scene at another threshold, without computing it again.

        It is of an earlier run, also of one that was saved and loaded. The arguments are
        those of `segment`: backgroundSeedsNode, cut, labelmapNode, segmentationNode, segmentID,
        showDisputed; fillGaps within maskNode, maskSegmentID and roiNode. Affinity and scene of
        the result are None.
        """
        from FuzzyConnectedGPUMRML.segmenting import relabel_scene

        return relabel_scene(sceneVolumeNode, _options({"threshold": threshold, **arguments}))

    def automaticThreshold(
        self, sceneVolumeNode: Any, backgroundSeedsNode: Any = None, cut: float = 0.0
    ) -> float:
        """The threshold that `segment` would choose; in the model "affinity" with a `reason`."""
        from FuzzyConnectedGPUMRML.segmenting import default_threshold

        return default_threshold(sceneVolumeNode, backgroundSeedsNode, cut)

    def volumeCurve(self, sceneVolumeNode: Any) -> Any:
        """V(t) of a fuzzy scene: `FuzzyConnectedGPUMRML.fuzzy_scene.VolumeCurve`, in ml."""
        from FuzzyConnectedGPUMRML.fuzzy_scene import scene_curve

        return scene_curve(sceneVolumeNode)

    # --- points

    def findSeeds(
        self, volumeNode: Any, *, seedsNode: Any = None, count: int = 6, **arguments: Any
    ) -> Any:
        """Find seeds without a click: where the contrast is most tubular, in volume or region.

        They are proposals: look at them and delete what is no vessel. In a whole CT other bright
        tubes (contrast in the bowel, calcifications) may be among them: give the organ as mask.

        Parameters
        ----------
        volumeNode, maskNode, maskSegmentID, roiNode, device, progress
            As in `segment`, which raises alike; seeds lie inside. The search runs on the CPU.
        count : int
            Seeds at most (6).
        seedsNode : vtkMRMLMarkupsFiducialNode, optional
            Keeps its points and gets the new ones, labelled automatic-1, automatic-2, ...; by
            default a new list is added.

        Returns
        -------
        vtkMRMLMarkupsFiducialNode
            The strongest seed first.
        """
        from FuzzyConnectedGPUMRML.vessel_lists import find_seeds

        progress = arguments.pop("progress", None)
        options = _options(arguments)
        return find_seeds(volumeNode, options, count, seedsNode, progress, self.cached)

    def estimateAffinity(self, volumeNode: Any, seedsNode: Any, **options: Any) -> Any:
        """The `FuzzyConnectedGPULib.GaussianAffinity` that the intensities round the seeds give."""
        from FuzzyConnectedGPULib import estimate_affinity
        from FuzzyVesselCoreLib.mrml import points, reading

        voxels = reading.voxels_of(volumeNode, copy=False)
        seeds = points.seeds_of(seedsNode, volumeNode, voxels.shape)
        return estimate_affinity(voxels, seeds.voxels, **options)

    def forget(self) -> None:
        """Free the cache that makes the next run on the same volume faster."""
        self.cached.forget()


def _options(arguments: dict[str, Any]) -> Any:
    """The arguments of a call as `NodeOptions`."""
    from FuzzyConnectedGPUMRML.segmenting import NodeOptions

    return NodeOptions(fill_gaps=arguments.pop("fillGaps", 0), **arguments)


class FuzzyConnectedGPUTest(ScriptedLoadableModuleTest):
    """Self test: presses the panel's buttons, each time in a new scene with a liver phantom."""

    def runTest(self) -> None:
        from importlib.util import find_spec

        if find_spec("numba") is None:  # it is installed at the first run, after a question
            self.delayDisplay("Skipped: numba is not installed.")
            return
        widget = slicer.util.getModuleWidget("FuzzyConnectedGPU")
        opened = widget.parent.isEntered
        if not opened:
            widget.enter()
        try:
            for check in (self.segmentInPanel, self.divideVessels, self.keepPointsOfVolumes):
                slicer.mrmlScene.Clear()
                self.delayDisplay((check.__doc__ or "").split("\n")[0])
                self.parameters = widget.logic.getParameterNode()
                self.parameters.inputVolume, self.parameters.seeds = self._addPhantom()
                slicer.app.processEvents()
                check(widget.panel, widget.ui)
                self.delayDisplay("Test passed")
        finally:
            if not opened:
                widget.exit()

    def _addPhantom(self) -> tuple[Any, Any]:
        """The nodes of a liver phantom's volume and seeds."""
        from FuzzyVesselCoreLib.mrml.points import add_phantom
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        return add_phantom(liver_phantom((48, 48, 48)))[:2]

    def segmentInPanel(self, panel: Any, ui: Any) -> None:
        """Apply makes a segment, in 3D, too; the slider changes it; without 3D no surface stays."""
        parameters = self.parameters
        self.assertEqual(ui.seedsTable.rowCount, parameters.seeds.GetNumberOfControlPoints())
        ui.applyButton.click()
        inner = parameters.segmentation.GetSegmentation()
        self.assertEqual(inner.GetNumberOfSegments(), 1)
        ui.thresholdSlider.value = 0.25
        while panel.surface.waits:
            slicer.app.processEvents()
        values = slicer.util.arrayFromVolume(parameters.sceneVolume)
        labels = slicer.util.arrayFromVolume(parameters.labelmap)
        self.assertTrue(((labels > 0) == (values >= values.dtype.type(parameters.threshold))).all())
        self.assertTrue(inner.ContainsRepresentation("Closed surface"))
        ui.show3DCheckBox.checked = False
        slicer.app.processEvents()
        self.assertFalse(inner.ContainsRepresentation("Closed surface"))

    def divideVessels(self, panel: Any, ui: Any) -> None:
        """A second vessel gets its own segment; undo; an output that is removed is not chosen."""
        parameters, first = self.parameters, self.parameters.seeds
        ui.addVesselButton.click()
        second, last = parameters.seeds, first.GetNumberOfControlPoints() - 1
        second.AddControlPointWorld(first.GetNthControlPointPositionWorld(last))
        first.RemoveNthControlPoint(last)
        slicer.app.processEvents()
        ui.applyButton.click()
        node, labels = parameters.segmentation, slicer.util.arrayFromVolume(parameters.labelmap)
        self.assertEqual(node.GetSegmentation().GetNumberOfSegments(), 2)
        read = slicer.util.arrayFromSegmentBinaryLabelmap
        for number, segment in enumerate(node.GetSegmentation().GetSegmentIDs(), 1):
            found = read(node, segment, parameters.inputVolume)
            self.assertTrue(found.any())
            self.assertTrue(((found > 0) == (labels == number)).all())
        panel.undoing.undo()
        slicer.app.processEvents()
        self.assertEqual(first.GetNumberOfControlPoints(), last + 1)
        for name, selector in (
            ("sceneVolume", ui.sceneSelector),
            ("labelmap", ui.labelmapSelector),
            ("segmentation", ui.segmentationSelector),
        ):
            selector.removeCurrentNode()
            slicer.app.processEvents()
            self.assertIsNone(getattr(parameters, name))
            self.assertIsNone(selector.currentNode())

    def keepPointsOfVolumes(self, panel: Any, ui: Any) -> None:
        """Points, threshold and result belong to their volume; choosing one starts no run."""
        parameters, offered = self.parameters, ui.inputSelector
        volume, points = parameters.inputVolume, parameters.seeds
        ui.applyButton.click()
        ui.thresholdSlider.value = 0.25
        slicer.app.processEvents()
        labels = slicer.util.arrayFromVolume(parameters.labelmap).copy()
        offered.setCurrentNode(self._addPhantom()[0])
        slicer.app.processEvents()
        self.assertIsNone(parameters.seeds)
        self.assertIsNone(parameters.labelmap)
        offered.setCurrentNode(volume)
        slicer.app.processEvents()
        self.assertIs(parameters.seeds, points)
        self.assertAlmostEqual(parameters.threshold, 0.25)
        self.assertTrue((slicer.util.arrayFromVolume(parameters.labelmap) == labels).all())
        nodes = [offered.nodeFromIndex(number) for number in range(offered.nodeCount())]
        self.assertNotIn(parameters.sceneVolume, nodes)
