"""The panel: an object, how its centrelines are found, and the branches that were found."""

import os

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.widgets import packages
from FuzzyVesselCoreLib.widgets.line_plot import Line, draw
from FuzzyVesselCoreLib.widgets.module_panel import Panel
from PotentialSkeletonLib.graph.exports import table_text
from PotentialSkeletonMRML.colouring import color_by
from PotentialSkeletonMRML.kept_result import (
    drop_left_over,
    keep,
    kept_model,
    kept_nodes,
    kept_notes,
    requests,
)
from PotentialSkeletonMRML.plain_words import notes, summary
from PotentialSkeletonMRML.stored_skeleton import stored_skeleton, stored_table
from PotentialSkeletonMRML.tables import distances

from .branch_list import BranchList
from .highlight import Highlight

SEGMENTATION, LABELMAP = "vtkMRMLSegmentationNode", "vtkMRMLLabelMapVolumeNode"
# Output of `extract` to the parameter that asks for it; the lines are always written.
OUTPUTS = {
    "tubesNode": "tubes",
    "tableNode": "table",
    "labelmapNode": "labelmap",
    "curveNodes": "curves",
    "criticalPointsNodes": "criticalPoints",
    "fieldNode": "field",
}
AUTOMATIC = -1  # charge distance


class SkeletonPanel(Panel):
    """See `Panel`; a result belongs to its object: the panel shows that of the chosen one."""

    requirements = (packages.NUMBA,)

    def __init__(self, widget):
        self._skeleton = self._shown = self._colouring = None
        self._highlight = Highlight()
        self._filling = False
        super().__init__(widget)

    def title(self):
        return _("Potential-Field Skeleton")

    def connect(self):
        self._branches = BranchList(self.ui.branchTable, self._on_branch)
        self.ui.segmentSelector.connect("currentSegmentChanged(QString)", self._on_segment)
        self.ui.csvButton.connect("clicked()", self.save_csv)
        self.ui.swcButton.connect("clicked()", self.save_swc)

    def enter(self):
        super().enter()
        if self.parameters.input is None:
            self.parameters.input = _latest_object()
        self.update_soon()  # the plot is as wide as the panel, which is only known later

    def exit(self):
        self.ui.branchTable.clearSelection()  # and with it what shows the branch in the views
        super().exit()

    def forget(self):
        self._highlight.hide()
        self._skeleton = self._shown = None

    # --- the object

    def _segment(self):
        """The ID of the chosen segment; empty for a labelmap."""
        return self.parameters.segment if _is_segmentation(self.parameters.input) else ""

    def _on_segment(self, segment_id):
        """Keep what was chosen; the selector also chooses by itself, as nodes come and go."""
        if self._filling or self.parameters is None or slicer.mrmlScene.IsBatchProcessing():
            return
        if segment_id and self.ui.segmentSelector.currentNode() is self.parameters.input:
            self.parameters.segment = segment_id

    def _show_object(self):
        ui, chosen = self.ui, self.parameters.input
        segmented = _is_segmentation(chosen)
        ui.segmentSelector.setVisible(segmented)
        ui.sizeLabel.setVisible(chosen is not None and not segmented)
        if segmented:
            self._show_segment(chosen)
        elif chosen is not None:
            ui.sizeLabel.text = _size_text(chosen)

    def _show_segment(self, segmentation):
        """Choose in the selector what the parameters say, or the first segment in both."""
        selector, ids = self.ui.segmentSelector, segmentation.GetSegmentation().GetSegmentIDs()
        self._filling = True
        selector.setCurrentNode(segmentation)
        if self.parameters.segment in ids:
            selector.setCurrentSegmentID(self.parameters.segment)
        self._filling = False
        current = selector.currentSegmentID()
        if current in ids and current != self.parameters.segment:
            self.parameters.segment = current

    # --- what Panel asks for

    def why_not(self):
        chosen = self.parameters.input
        if chosen is None:
            return _("Choose a labelmap or a segmentation first.")
        if _is_segmentation(chosen):
            if chosen.GetSegmentation().GetNumberOfSegments() == 0:
                return _("The segmentation has no segment.")
        elif chosen.GetImageData() is None:
            return _("The labelmap has no voxels.")
        return ""

    def run(self, parameters, progress):
        chosen, segment = parameters.input, self._segment()
        wanted = {output: getattr(parameters, name) for output, name in OUTPUTS.items()}
        earlier = kept_model(chosen, segment)
        asked = requests(earlier, {"modelNode": True, **wanted})
        distance = parameters.chargeDistance
        result = self.logic.extract(
            chosen,
            segment or None,
            strength=parameters.strength,
            level=parameters.level.value,
            divergence=parameters.divergence,
            charge_distance=None if distance == AUTOMATIC else distance,
            method=parameters.method.value,
            device=parameters.device.value,
            drop_islands=parameters.dropIslands,
            close_tunnels=parameters.closeTunnels,
            progress=progress,
            **asked,
        )
        drop_left_over(earlier, result)
        keep(result, chosen, segment, notes(result))
        self._color(result.modelNode, parameters)
        return _("Found {count} branches.").format(count=len(result.skeleton.branches))

    def show(self):
        self._show_object()
        model = kept_model(self.parameters.input, self._segment())
        shown = _stamp(model)
        colouring = self.parameters.colouring
        if shown != self._shown:
            self._shown, self._colouring = shown, colouring
            self._show_result(model)
        elif model is not None and colouring != self._colouring:
            self._colouring = colouring
            self._color(model, self.parameters)
        why = "" if self._skeleton is not None else _("There is no result for this object yet.")
        for button in (self.ui.csvButton, self.ui.swcButton, self.ui.colourComboBox):
            self.enable(button, why)
        self._plot(self._branches.chosen())

    # --- the result

    def _show_result(self, model):
        self._highlight.hide()
        self._skeleton = stored_skeleton(model) if model is not None else None
        there = self._skeleton is not None
        ui = self.ui
        table = stored_table(model) if there else None
        ui.summaryLabel.text = (
            summary(table) if there else _("There is no result for this object yet.")
        )
        for widget in (ui.branchTable, ui.plotLabel, ui.notesLabel):
            widget.setVisible(there)
        said = kept_notes(model) if there else []
        ui.notesLabel.text = "\n".join(f"\N{BULLET} {each}" for each in said)
        ui.notesLabel.setVisible(bool(said))
        if there:
            self._branches.fill(table)

    def _color(self, model, parameters):
        nodes = kept_nodes(model)
        models = [nodes[each] for each in ("modelNode", "tubesNode") if each in nodes]
        color_by(parameters.colouring.value, models, nodes.get("curveNodes", ()))

    def _on_branch(self, branch):
        """Show the branch that was clicked."""
        if branch is None or self._skeleton is None:
            self._highlight.hide()
        else:
            curve = self._skeleton.branches[branch]
            transform_id = self._shown[0].GetTransformNodeID()
            self._highlight.show(curve.points[:, ::-1], curve.radius, transform_id)
        self._plot(branch)

    def _plot(self, branch):
        """Plot the radius along a branch."""
        if self._skeleton is None:
            return
        label = self.ui.plotLabel
        if branch is None:
            label.text = _("Click a branch to see its radius.")
            return
        curve = self._skeleton.branches[branch]
        draw(
            label,
            [Line(distances(curve, self._skeleton.spacing), curve.radius, filled=True)],
            _("Distance along branch {number} (mm)").format(number=branch),
            _("Radius (mm)"),
        )

    # --- files

    def save_csv(self):
        """Ask for a file and save the table there."""
        table = stored_table(self._shown[0])
        title = _("Save the table of branches")
        self._save(title, "csv", lambda path: table_text(table, path))

    def save_swc(self):
        """Ask for a file and save the tree there."""
        self._save(_("Save the tree"), "swc", stored_skeleton(self._shown[0], True).to_swc)

    def _save(self, title, suffix, write):
        name = self._shown[0].GetName().replace("/", "-")
        path = qt.QFileDialog.getSaveFileName(
            self.ui.csvButton, title, f"{name}.{suffix}", f"{suffix.upper()} (*.{suffix})"
        )
        if path:
            asked, path = path, _with_suffix(path, suffix)
            if path != asked and not self._may_overwrite(path):
                return
            with slicer.util.tryWithErrorDisplay(_("The file was not saved.")):
                write(path)
                self.say(_("Saved {path}").format(path=path))

    def _may_overwrite(self, path):
        """The dialog has asked for the name without the suffix, and not for this one."""
        return not os.path.exists(path) or slicer.util.confirmYesNoDisplay(
            _("{path} is there already. Replace it?").format(path=path), windowTitle=self.title()
        )


def _with_suffix(path, suffix):
    """The name of the file that is written: with the suffix, whatever other dots it has."""
    return path if path.lower().endswith(f".{suffix}") else f"{path}.{suffix}"


def _is_segmentation(node):
    return node is not None and node.IsA(SEGMENTATION)


def _stamp(model):
    """What changes when a model gets other lines; colours change nothing of it."""
    points = model.GetPolyData().GetPoints() if model is not None else None
    return (model, points.GetMTime() if points is not None else 0) if model is not None else ()


def _latest_object():
    """The newest labelmap or segmentation that no skeleton was written to, or None."""
    scene = slicer.mrmlScene
    nodes = [scene.GetNthNode(number) for number in range(scene.GetNumberOfNodes())]
    models = [node for node in nodes if node.IsA("vtkMRMLModelNode")]
    own = [kept_nodes(model).get("labelmapNode") for model in models]
    shown = [
        node
        for node in nodes
        if node.GetClassName() in (SEGMENTATION, LABELMAP)
        and not node.GetHideFromEditors()
        and node not in own
    ]
    return shown[-1] if shown else None


def _size_text(labelmap):
    image = labelmap.GetImageData()
    if image is None:
        return _("empty")
    size, spacing = image.GetDimensions(), labelmap.GetSpacing()
    return _("{size} voxels of {spacing} mm").format(
        size=" \N{MULTIPLICATION SIGN} ".join(str(each) for each in size),
        spacing=" \N{MULTIPLICATION SIGN} ".join(f"{each:.2f}" for each in spacing),
    )
