from collections.abc import Callable, Sequence
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

# The project's packages are imported inside functions: Slicer knows their folder only after it
# has seen this file, and nothing but Slicer's own packages may be needed to show the panel.


class PotentialSkeleton(ScriptedLoadableModule):
    """Describes the module to Slicer."""

    def __init__(self, parent):
        ScriptedLoadableModule.__init__(self, parent)
        self.parent.title = _("Potential-Field Skeleton (GPU)")
        self.parent.categories = [translate("qSlicerAbstractCoreModule", "Segmentation")]
        self.parent.dependencies = ["FuzzyVesselCore"]  # its folder holds FuzzyVesselCoreLib
        self.parent.contributors = ["The FuzzyVesselGPU developers"]
        self.parent.helpText = _(
            "Turns a labelmap or a segment into centrelines with radius, branch by branch: charges "
            "on the surface of the object repel what is inside, and curves follow their force. The "
            "result is connected, thin and inside the object. Runs on an NVIDIA GPU or on the CPU. "
            "Research software, not for diagnosis. "
            'See the <a href="https://github.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU">'
            "documentation</a>."
        )
        self.parent.acknowledgementText = _(
            "Method: N. D. Cornea, D. Silver, X. Yuan and R. Balasubramanian, The Visual Computer "
            "21 (2005) 945-955; on the GPU: Zhao and others (2016)."
        )


class PotentialSkeletonWidget(ScriptedLoadableModuleWidget):
    """Hands on Slicer's calls to the panel, which is in `PotentialSkeletonPanel`."""

    panel: Any = None  # until `setup` has succeeded

    def setup(self) -> None:
        ScriptedLoadableModuleWidget.setup(self)
        from PotentialSkeletonPanel.skeleton_panel import SkeletonPanel

        self.logic = PotentialSkeletonLogic()
        self.panel = SkeletonPanel(self)
        self.ui = self.panel.ui

    def cleanup(self) -> None:
        if self.panel is not None:
            self.panel.cleanup()

    def enter(self) -> None:
        if self.panel is not None:
            self.panel.enter()

    def exit(self) -> None:
        if self.panel is not None:
            self.panel.exit()

    def onReload(self) -> None:
        from FuzzyVesselCoreLib.widgets.module_panel import prepare_reload

        prepare_reload(self)
        ScriptedLoadableModuleWidget.onReload(self)


class PotentialSkeletonLogic(ScriptedLoadableModuleLogic):
    """Finds centrelines on the MRML scene; the algorithms are in `PotentialSkeletonLib`.

    To try it, paste this into Slicer's Python console::

        from FuzzyVesselCoreLib.mrml.points import add_phantom_labelmap
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom
        from PotentialSkeleton import PotentialSkeletonLogic

        labelmap = add_phantom_labelmap(liver_phantom((96, 96, 96)))
        result = PotentialSkeletonLogic().extract(labelmap, tubesNode=True)
        table = result.skeleton.to_table()
        print(f"{len(table['branch'])} branches, {sum(table['length_mm']):.0f} mm")

    With a segment of your own: ``extract(slicer.util.getNode("Segmentation"), "Portal vein")``.
    `tree` measures and corrects what was found, and writes it to files.
    """

    _wrapper: Any = None  # of the parameter node

    def getParameterNode(self) -> Any:
        from PotentialSkeletonMRML.parameters import PotentialSkeletonParameterNode

        parameterNode = ScriptedLoadableModuleLogic.getParameterNode(self)
        if self._wrapper is None or self._wrapper.parameterNode is not parameterNode:
            self._wrapper = PotentialSkeletonParameterNode(parameterNode)  # type: ignore[call-arg]
        return self._wrapper

    def extract(
        self,
        inputNode: Any,
        segmentID: str | None = None,
        *,
        label: int | None = None,
        progress: Callable[[float], bool | None] | None = None,
        **choices: Any,
    ) -> Any:
        """Find the centrelines of an object; the scene is not changed before all is found.

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
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.
        strength, level, divergence, charge_distance, method, device, drop_islands, close_tunnels
            See `PotentialSkeletonLib.skeletonize`.
        curveNodes : bool or list of vtkMRMLMarkupsCurveNode, default True
            One a branch, with radius as measurement, in one folder; of a list that is given, those
            too many are removed. Thousands are slow in Slicer, and the model has them all.
        modelNode : bool or vtkMRMLModelNode, default True
            Lines with the arrays that are named in `PotentialSkeletonMRML.lines`, which also makes
            tubes of them (`tubes`) and the skeleton again (`stored_skeleton`).
        labelmapNode : bool or vtkMRMLLabelMapVolumeNode, default True
            The skeleton's voxels, on those of the labelmap or segment; steps do not change them.
        tableNode : bool or vtkMRMLTableNode, default True
            One row a branch, with length, radii and generation.
        tubesNode : bool or vtkMRMLModelNode, default False
            The surface of tubes as thick as the object.

        Returns
        -------
        PotentialSkeletonMRML.outputs.SkeletonResult
            The nodes, the skeleton as record of arrays, and warnings.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            Something given cannot be used; the message names it.
        FuzzyVesselCoreLib.errors.DeviceError
            The device cannot be used.
        FuzzyVesselCoreLib.errors.Cancelled
            `progress` returned False, or a node was removed meanwhile.
        """
        from PotentialSkeletonMRML.objects import read_object

        return self._extract([read_object(inputNode, segmentID, label)], choices, progress)[0]

    def extractSegments(
        self,
        inputNode: Any,
        segmentIDs: Sequence[str] | None = None,
        *,
        progress: Callable[[float], bool | None] | None = None,
        **choices: Any,
    ) -> list[Any]:
        """Find the centrelines of several segments: one tree each, all of them or none.

        Each tree has the name of its segment, and nodes of its own, as `extract` makes them.

        Parameters
        ----------
        inputNode : vtkMRMLSegmentationNode
        segmentIDs : sequence of str, optional
            IDs or names; by default all segments that are shown.
        progress, **choices
            As of `extract`, for all of them: outputs are True (new nodes) or False.

        Returns
        -------
        list of PotentialSkeletonMRML.outputs.SkeletonResult
            In the order of the segments.
        """
        from PotentialSkeletonMRML.objects import read_object, segments_named

        objects = [read_object(inputNode, each) for each in segments_named(inputNode, segmentIDs)]
        return self._extract(objects, choices, progress)

    def _extract(self, objects: list[Any], choices: dict[str, Any], progress: Any) -> list[Any]:
        from PotentialSkeletonMRML.outputs import NODES, extract_all

        nodes: dict[str, list] = {}  # to fill; of none, new ones
        for output in NODES:
            asked = choices.pop(output, output != "tubesNode")
            if asked is not False:
                given = [] if asked is None or asked is True else asked
                nodes[output] = list(given) if isinstance(given, list | tuple) else [given]
        return extract_all([(object_, nodes) for object_ in objects], choices, progress)

    def tree(self, modelNode: Any) -> Any:
        """A tree in the scene, to prune, correct, name, measure and divide it.

        ::

            tree = PotentialSkeletonLogic().tree(result.modelNode)
            tree.prune("length", 5)  # end branches shorter than 5 mm
            tree.rename(0, "Portal vein")
            print(tree.narrowest(0), tree.steps)
            tree.undo()

        Parameters
        ----------
        modelNode : vtkMRMLModelNode
            As `extract` fills it.

        Returns
        -------
        PotentialSkeletonMRML.tree.Tree

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            The node holds no centrelines.
        """
        from PotentialSkeletonMRML.tree import Tree

        return Tree(modelNode)


class PotentialSkeletonTest(ScriptedLoadableModuleTest):
    """Self tests by the calls and buttons of a user; Slicer runs each of them after `setUp`."""

    def setUp(self) -> None:
        from FuzzyVesselCoreLib.mrml.points import add_phantom_labelmap
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        slicer.mrmlScene.Clear()
        self.phantom = liver_phantom((64, 64, 64))
        self.labelmap = add_phantom_labelmap(self.phantom)

    def test_centrelines(self) -> None:
        """The skeleton is inside the vessels, and every output tells of the same branches."""
        result = PotentialSkeletonLogic().extract(self.labelmap, tubesNode=True)
        voxels = slicer.util.arrayFromVolume(result.labelmapNode)
        self.assertGreater(voxels.sum(), 50)
        self.assertFalse(voxels[self.phantom.mask == 0].any())
        self.assertTrue(all(result.skeleton.report["guarantees"].values()))
        branches = len(result.skeleton.branches)
        self.assertGreater(branches, 3)
        self.assertEqual(len(result.curveNodes), branches)
        self.assertEqual(result.modelNode.GetPolyData().GetNumberOfLines(), branches)
        self.assertEqual(result.tableNode.GetNumberOfRows(), branches)
        self.assertGreater(result.tubesNode.GetPolyData().GetNumberOfCells(), branches)

    def test_panel(self) -> None:
        """Apply in the panel lists the branches; what was unticked goes with the next run."""
        panel = slicer.util.getModuleWidget("PotentialSkeleton")
        opened = panel.parent.isEntered
        if not opened:
            panel.enter()
        try:
            parameters, scene = panel.logic.getParameterNode(), slicer.mrmlScene
            parameters.input, parameters.curves = self.labelmap, True
            panel.ui.applyButton.click()
            branches = scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode")
            self.assertGreater(branches, 3)
            self.assertEqual(panel.ui.branchTable.rowCount, branches)
            models = scene.GetNumberOfNodesByClass("vtkMRMLModelNode")
            panel.ui.branchTable.selectRow(0)  # a branch is shown in the views
            self.assertEqual(scene.GetNumberOfNodesByClass("vtkMRMLModelNode"), models + 1)
            panel.ui.branchTable.clearSelection()
            self.assertEqual(scene.GetNumberOfNodesByClass("vtkMRMLModelNode"), models)
            parameters.curves = False
            panel.ui.applyButton.click()
            self.assertEqual(scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode"), 0)
        finally:
            if not opened:
                panel.exit()
