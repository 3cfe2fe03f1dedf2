from typing import Annotated

import slicer
import vtk
from slicer import (
    vtkMRMLLabelMapVolumeNode,
    vtkMRMLModelNode,
    vtkMRMLSegmentationNode,
    vtkMRMLTableNode,
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


class PotentialSkeleton(ScriptedLoadableModule):
    """Describes the module to Slicer."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = _("Potential-Field Skeleton (GPU)")
        self.parent.categories = [translate("qSlicerAbstractCoreModule", "Segmentation")]
        self.parent.dependencies = ["FuzzyConnectedGPU"]  # its folder holds FuzzyVesselCommon
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "Turns a labelmap or a segment into centrelines with radius, branch by branch: charges "
            "on the surface of the object repel what is inside, and curves follow their force. The "
            "result is connected, thin and inside the object. Runs on an NVIDIA GPU or on the CPU. "
            'See the <a href="https://github.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU">'
            "documentation</a>."
        )
        self.parent.acknowledgementText = _(
            "Method: N. D. Cornea, D. Silver, X. Yuan and R. Balasubramanian, The Visual Computer "
            "21 (2005) 945-955; on the GPU: Zhao and others (2016)."
        )


@parameterNodeWrapper
class PotentialSkeletonParameterNode:
    """The panel's choices, kept in the scene; as in `PotentialSkeletonLogic.extract`."""

    input: vtkMRMLLabelMapVolumeNode | vtkMRMLSegmentationNode | None
    segment: str = ""
    level: Annotated[int, WithinRange(1, 3)] = 2
    strength: Annotated[int, WithinRange(3, 9)] = 6
    dropIslands: Annotated[int, WithinRange(0, 1000000)] = 10
    closeTunnels: Annotated[float, WithinRange(0.0, 100.0)] = 2.0
    model: vtkMRMLModelNode | None
    labelmap: vtkMRMLLabelMapVolumeNode | None
    table: vtkMRMLTableNode | None


class PotentialSkeletonWidget(ScriptedLoadableModuleWidget, VTKObservationMixin):
    """A plain panel: labelmap or segment, level, strength, Apply."""

    def __init__(self, parent=None):
        ScriptedLoadableModuleWidget.__init__(self, parent)
        VTKObservationMixin.__init__(self)
        self.logic = None
        self._parameterNode = None
        self._guiTag = None
        self._running = False
        self._cancelled = False
        self._curves = []

    def setup(self):
        ScriptedLoadableModuleWidget.setup(self)
        self.logic = PotentialSkeletonLogic()
        self._createWidgets()
        self.applyButton.connect("clicked(bool)", self.onApply)
        scene = slicer.mrmlScene
        self.addObserver(scene, scene.StartCloseEvent, self.onSceneStartClose)
        self.addObserver(scene, scene.EndCloseEvent, self.onSceneEndClose)
        self.setParameterNode(self.logic.getParameterNode())

    def _createWidgets(self):
        import qt

        self.inputSelector = slicer.qMRMLNodeComboBox()
        self.inputSelector.nodeTypes = ["vtkMRMLLabelMapVolumeNode", "vtkMRMLSegmentationNode"]
        self.inputSelector.addEnabled = False
        self.inputSelector.noneEnabled = True
        self.inputSelector.setMRMLScene(slicer.mrmlScene)
        self.segmentEdit = qt.QLineEdit()
        self.levelSpinBox = qt.QSpinBox()
        self.strengthSpinBox = qt.QSpinBox()
        self.islandsSpinBox = qt.QSpinBox()
        self.tunnelsSpinBox = qt.QDoubleSpinBox()
        self.applyButton = qt.QPushButton(_("Apply"))
        self.resultLabel = qt.QLabel()
        self.resultLabel.wordWrap = True
        form = qt.QFormLayout()
        form.addRow(_("Labelmap or segmentation:"), self.inputSelector)
        form.addRow(_("Segment:"), self.segmentEdit)
        form.addRow(_("Level of detail:"), self.levelSpinBox)
        form.addRow(_("Strength:"), self.strengthSpinBox)
        form.addRow(_("Drop islands below (voxels):"), self.islandsSpinBox)
        form.addRow(_("Close tunnels up to (mm):"), self.tunnelsSpinBox)
        form.addRow(self.applyButton)
        form.addRow(self.resultLabel)
        self.layout.addLayout(form)
        self.layout.addStretch(1)

    def cleanup(self):
        self.onSceneStartClose()
        self.removeObservers()

    def enter(self):
        self.setParameterNode(self.logic.getParameterNode())

    def exit(self):
        self.setParameterNode(None)

    def onReload(self):
        import sys

        packages = ("PotentialSkeletonLib", "PotentialSkeletonMRML", "FuzzyVesselCommon")
        for name in [name for name in sys.modules if name.split(".")[0] in packages]:
            del sys.modules[name]
        ScriptedLoadableModuleWidget.onReload(self)

    def onSceneStartClose(self, caller=None, event=None):
        self._cancelled = True
        self._curves = []
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
                    "input": self.inputSelector,
                    "segment": self.segmentEdit,
                    "level": self.levelSpinBox,
                    "strength": self.strengthSpinBox,
                    "dropIslands": self.islandsSpinBox,
                    "closeTunnels": self.tunnelsSpinBox,
                }
            )
            self.addObserver(parameterNode, changed, self.onParameterNodeModified)
            self.onParameterNodeModified()

    def onParameterNodeModified(self, caller=None, event=None):
        choices = self._parameterNode
        self.applyButton.enabled = self._running or choices.input is not None
        kind = choices.input.GetClassName() if choices.input else ""
        self.segmentEdit.enabled = kind == "vtkMRMLSegmentationNode"

    def onApply(self, checked=False):
        """Run, or cancel the run that is going on."""
        if self._running:
            self._cancelled = True
            return
        from FuzzyVesselCommon.errors import Cancelled

        self._running, self._cancelled = True, False
        self.applyButton.text = _("Cancel")
        with slicer.util.tryWithErrorDisplay(_("Failed to find centrelines."), waitCursor=True):
            try:
                self.resultLabel.text = self._run(self._parameterNode)
            except Cancelled:
                self.resultLabel.text = _("Cancelled.")
            finally:
                self._running = False
                self.applyButton.text = _("Apply")

    def _run(self, choices):
        """Extract with the choices, keep the outputs for the next run; what there is to say."""
        segmentation = choices.input.IsA("vtkMRMLSegmentationNode")
        curves = [node for node in self._curves if slicer.mrmlScene.IsNodePresent(node)]
        result = self.logic.extract(
            choices.input,
            choices.segment if segmentation else None,
            strength=choices.strength,
            level=choices.level,
            drop_islands=choices.dropIslands,
            close_tunnels=choices.closeTunnels,
            curveNodes=curves or True,
            modelNode=choices.model,
            labelmapNode=choices.labelmap,
            tableNode=choices.table,
            progress=self.onProgress,
        )
        self._curves, choices.table = result.curveNodes, result.tableNode
        choices.model, choices.labelmap = result.modelNode, result.labelmapNode
        lengths = result.skeleton.to_table()["length_mm"]
        summary = _("{count} branches, {length:.0f} mm")
        summary = summary.format(count=len(lengths), length=sum(lengths))
        return "\n".join([summary, *result.warnings])

    def onProgress(self, fraction):
        """Show how far the run is; returns False after Cancel."""
        self.resultLabel.text = f"{fraction:.0%}"
        slicer.app.processEvents()
        return not self._cancelled


class PotentialSkeletonLogic(ScriptedLoadableModuleLogic):
    """Finds centrelines on the MRML scene; the algorithms are in `PotentialSkeletonLib`.

    To try it, paste this into Slicer's Python console::

        from FuzzyVesselCommon.mrml_phantom import add_phantom_labelmap
        from FuzzyVesselCommon.phantom import liver_phantom
        from PotentialSkeleton import PotentialSkeletonLogic

        labelmap = add_phantom_labelmap(liver_phantom((96, 96, 96)))
        result = PotentialSkeletonLogic().extract(labelmap, tubesNode=True)
        table = result.skeleton.to_table()
        print(f"{len(table['branch'])} branches, {sum(table['length_mm']):.0f} mm")

    With a segment of your own: ``extract(slicer.util.getNode("Segmentation"), "Portal vein")``.
    """

    def __init__(self):
        ScriptedLoadableModuleLogic.__init__(self)
        self._wrapper = None

    def getParameterNode(self):
        parameterNode = ScriptedLoadableModuleLogic.getParameterNode(self)
        if self._wrapper is None or self._wrapper.parameterNode is not parameterNode:
            self._wrapper = PotentialSkeletonParameterNode(parameterNode)
        return self._wrapper

    def extract(
        self,
        inputNode,
        segmentID=None,
        *,
        label=None,
        strength=6,
        level=2,
        divergence=20.0,
        charge_distance=None,
        method="auto",
        device="auto",
        drop_islands=0,
        close_tunnels=0.0,
        curveNodes=True,
        modelNode=True,
        labelmapNode=True,
        tableNode=True,
        tubesNode=False,
        criticalPointsNodes=False,
        plotChartNodes=False,
        fieldNode=False,
        progress=None,
    ):
        """Find the centrelines of an object; the scene changes only if all goes well.

        Each output is asked for in the same way: True (or None) adds new nodes, False leaves it
        out, and nodes that are given are filled. All outputs hang under the input's parent
        transform. Lengths and radii are in the input's own millimetres.

        Parameters
        ----------
        inputNode : vtkMRMLLabelMapVolumeNode or vtkMRMLSegmentationNode
            With any axes, under any transform.
        segmentID : str, optional
            ID or name of the segment; not needed where there is only one.
        label : int, optional
            Value in the labelmap; by default everything that is not 0.
        strength, level, divergence, charge_distance, method, device
            See `PotentialSkeletonLib.skeletonize`.
        drop_islands, close_tunnels
            Cleaning before, in voxels and mm; see `PotentialSkeletonLib.skeletonize`.
        curveNodes : bool or list of vtkMRMLMarkupsCurveNode
            One a branch, with radius as measurement, in one folder; of a list that is given, those
            too many are removed. Thousands are slow in Slicer, and the model has them all.
        modelNode : bool or vtkMRMLModelNode
            Lines with the point array Radius and the cell arrays BranchId, Generation, Length and
            MeanRadius; `PotentialSkeletonMRML.lines.tubes` makes tubes of them.
        labelmapNode : bool or vtkMRMLLabelMapVolumeNode
            The skeleton's voxels, on the voxels of the labelmap or segment.
        tableNode : bool or vtkMRMLTableNode
            One row a branch, with length, radii and generation.
        tubesNode : bool or vtkMRMLModelNode
            The surface of tubes as thick as the object.
        criticalPointsNodes : bool or dict of str to vtkMRMLMarkupsFiducialNode
            Where the force vanishes: one list for each kind of point.
        plotChartNodes : bool or list of vtkMRMLPlotChartNode
            Radius along the longest branch, and histogram of radii; with their tables and series.
        fieldNode : bool or vtkMRMLVectorVolumeNode
            The force that the curves follow; where components have other charge distances, with
            the largest.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.

        Returns
        -------
        PotentialSkeletonMRML.result.SkeletonResult
            The nodes, the skeleton as record of arrays, and warnings.

        Raises
        ------
        FuzzyVesselCommon.errors.InputError
            Something given cannot be used; the message names it.
        FuzzyVesselCommon.errors.DeviceError
            The device cannot be used.
        FuzzyVesselCommon.errors.Cancelled
            `progress` returned False, or a node was removed meanwhile.
        """
        from PotentialSkeletonMRML.computation import compute
        from PotentialSkeletonMRML.outputs import Requests, write_outputs
        from PotentialSkeletonMRML.solid_input import read_solid

        requests = Requests(
            curveNodes=curveNodes, modelNode=modelNode, labelmapNode=labelmapNode,
            tableNode=tableNode, tubesNode=tubesNode, criticalPointsNodes=criticalPointsNodes,
            plotChartNodes=plotChartNodes, fieldNode=fieldNode,
        )  # fmt: skip
        options = dict(
            strength=strength, level=level, divergence=divergence, charge_distance=charge_distance,
            method=method, device=device, drop_islands=drop_islands, close_tunnels=close_tunnels,
        )  # fmt: skip
        solid = read_solid(inputNode, segmentID, label)
        requests.check(inputNode)
        skeleton, field = compute(solid, options, requests.wants("fieldNode"), progress)
        requests.check_present(inputNode)
        result = write_outputs(solid, skeleton, field, requests)
        result.warnings = [*solid.warnings, *skeleton.report["warnings"]]
        return result


class PotentialSkeletonTest(ScriptedLoadableModuleTest):
    """Self test on the liver phantom's vessels, through the same calls as a user's script."""

    def setUp(self):
        slicer.mrmlScene.Clear()

    def runTest(self):
        for test in (self.test_FindsCentrelines, self.test_RefusesAnEmptyLabelmap):
            self.setUp()
            test()

    def addLabelmap(self, size):
        """A liver phantom, and the labelmap of its vessels."""
        from FuzzyVesselCommon.mrml_phantom import add_phantom_labelmap
        from FuzzyVesselCommon.phantom import liver_phantom

        phantom = liver_phantom((size, size, size))
        return phantom, add_phantom_labelmap(phantom)

    def test_FindsCentrelines(self):
        """The skeleton is inside the vessels, and every output tells of the same branches."""
        from FuzzyVesselCommon.errors import DeviceError

        self.delayDisplay("Finding the centrelines of the liver phantom's vessels")
        phantom, labelmap = self.addLabelmap(64)
        try:
            result = PotentialSkeletonLogic().extract(labelmap, tubesNode=True)
        except DeviceError as error:  # without numba: said, and no failure of the code
            self.delayDisplay(f"Skipped: {error}")
            return
        voxels = slicer.util.arrayFromVolume(result.labelmapNode)
        self.assertGreater(voxels.sum(), 50)
        self.assertFalse((voxels[phantom.mask == 0]).any())
        self.assertTrue(all(result.skeleton.report["guarantees"].values()))
        branches = len(result.skeleton.branches)
        self.assertGreater(branches, 3)
        self.assertEqual(len(result.curveNodes), branches)
        self.assertEqual(result.modelNode.GetPolyData().GetNumberOfLines(), branches)
        self.assertEqual(result.tableNode.GetNumberOfRows(), branches)
        self.assertGreater(result.tubesNode.GetPolyData().GetNumberOfCells(), branches)
        self.delayDisplay("Test passed")

    def test_RefusesAnEmptyLabelmap(self):
        """An empty labelmap gives a message and nothing new in the scene."""
        from FuzzyVesselCommon.errors import InputError

        self.delayDisplay("Asking for the centrelines of nothing")
        _phantom, labelmap = self.addLabelmap(16)
        slicer.util.arrayFromVolume(labelmap)[:] = 0
        before = slicer.mrmlScene.GetNumberOfNodes()
        with self.assertRaises(InputError) as refusal:
            PotentialSkeletonLogic().extract(labelmap)
        self.assertIn(labelmap.GetName(), str(refusal.exception))
        self.assertEqual(slicer.mrmlScene.GetNumberOfNodes(), before)
        self.delayDisplay("Test passed")
