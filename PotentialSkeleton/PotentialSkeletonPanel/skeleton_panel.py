"""The panel: the vessels, Apply, what to do next, and the branches that were found."""

import json
from typing import Any

import numpy as np
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.mrml.writing import centre_cameras
from FuzzyVesselCoreLib.widgets.module_panel import EditObserver, Panel
from PotentialSkeletonMRML import edits, objects, outputs
from PotentialSkeletonMRML import parameters as choices

from .branch_tools_section import BranchTools
from .result_section import ResultSection

OPACITY = 0.35  # of the vessels round new centrelines


class SkeletonPanel(Panel):
    """See `Panel`; a result belongs to its vessels: the panel shows that of the chosen ones."""

    def title(self) -> str:
        return _("Potential-Field Skeleton")

    def connect(self) -> None:
        self._colouring: Any = None
        self._edits = EditObserver(self.update_soon)
        self.ui.segmentSelector.connect("currentSegmentChanged(QString)", self._on_segment)
        self.ui.severalCheckBox.connect("clicked(bool)", self._on_several)
        self.ui.segmentSelector.connect("segmentSelectionChanged(QStringList)", self._on_segment)
        self.result = ResultSection(self)
        self.tools = BranchTools(self)

    def enter(self) -> None:
        Panel.enter(self)
        parameters = self.parameters
        node, segment_id = objects.current_object() if parameters.input is None else (None, "")
        if node is not None:
            with slicer.util.NodeModify(parameters.parameterNode):
                parameters.input, parameters.segment = node, segment_id or parameters.segment

    def exit(self) -> None:
        self.ui.branchTable.clearSelection()
        self.tools.exit()
        Panel.exit(self)

    def forget(self) -> None:
        self._edits.follow(())
        self.result.forget()
        self.tools.exit()

    # --- what Panel asks for

    def why_not(self) -> str:
        chosen = self.parameters.input
        if chosen is None:
            return _("Choose the vessels: a segmentation or a labelmap.")
        if objects.is_segmentation(chosen):
            if chosen.GetSegmentation().GetNumberOfSegments() == 0:
                return _("The segmentation has no segment: choose another one.")
            if not choices.segments_of(self.parameters):
                return _("Tick the segments whose centrelines you want.")
        elif chosen.GetImageData() is None:
            return _("The labelmap has no voxels: choose another one.")
        return ""

    def react(self) -> None:
        parameters = self.parameters
        self._edits.follow((parameters.input,))
        self._keep_to_segments(parameters)
        before, self._colouring = self._colouring, parameters.colouring
        if before is not None and before != parameters.colouring:
            for model in self._models(parameters):
                outputs.color_by(model, parameters.colouring.value)

    def subject(self) -> tuple:
        return self.parameters.input, tuple(choices.segments_of(self.parameters))

    def show(self) -> None:
        parameters = self.parameters
        self._show_vessels(parameters)
        self.result.show(self._models(parameters), parameters.colouring.value)
        self.tools.show()
        self.ui.adviceLabel.text = self._next_step()

    def _models(self, parameters: Any) -> list[Any]:
        """The models of the chosen vessels that there are."""
        segments = choices.segments_of(parameters)
        models = (outputs.latest_model(parameters.input, each) for each in segments)
        return [model for model in models if model is not None]

    def _next_step(self) -> str:
        if self.running.active:
            return _("Finding the centrelines. Cancel ends it; nothing is changed until the end.")
        why = self.running.why_busy() or self.why_not()
        if why:
            return why
        if self.problem:
            return _("Correct that, or choose other vessels; then press Apply again.")
        models, settings = self.result.models, choices.settings_text(self.parameters)
        why = outputs.why_outdated(models, self.parameters.input, settings)
        if not models:
            return _("Press Apply to find the centrelines.")
        return why or self.result.advice

    # --- the vessels: a labelmap, or one or several segments of a segmentation

    def _keep_to_segments(self, parameters: Any) -> None:
        """Choose the first segment where the chosen one is not there."""
        if not objects.is_segmentation(parameters.input):
            parameters.segments = ""
            return
        ids = list(parameters.input.GetSegmentation().GetSegmentIDs())
        if ids and parameters.segment not in ids:
            parameters.segment = ids[0]
        if parameters.segments:
            there = [each for each in choices.segments_of(parameters) if each in ids]
            if len(there) < len(choices.segments_of(parameters)):
                parameters.segments = json.dumps(there) if there else ""

    def _show_vessels(self, parameters: Any) -> None:
        """Show the segment's selector where it is needed, with what is chosen."""
        chosen, selector = parameters.input, self.ui.segmentSelector
        segments = objects.is_segmentation(chosen)
        several = segments and bool(parameters.segments)
        count = chosen.GetSegmentation().GetNumberOfSegments() if segments else 0
        selector.setVisible(segments)
        self.ui.severalCheckBox.setVisible(several or count > 1)
        self.ui.severalCheckBox.checked = several
        selector.blockSignals(True)
        if segments:
            selector.setCurrentNode(chosen)
            if selector.multiSelection != several:  # it fills its list again
                selector.multiSelection = several
            if several:
                selector.setSelectedSegmentIDs(choices.segments_of(parameters))
            else:
                selector.setCurrentSegmentID(parameters.segment)
        selector.blockSignals(False)

    def _on_several(self, on: bool) -> None:
        """Use all visible segments, or the previous one; colours then distinguish the trees."""
        parameters = self.parameters
        ids = objects.visible_segments(parameters.input) or [parameters.segment]
        plain, by_tree = choices.Colouring.RADIUS, choices.Colouring.TREE
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.segments = json.dumps(ids) if on else ""
            if parameters.colouring == (plain if on else by_tree):
                parameters.colouring = by_tree if on else plain

    def _on_segment(self, chosen: Any) -> None:
        """Keep what was chosen; the selector also chooses by itself, as nodes come and go."""
        parameters = self.parameters
        if parameters is None or slicer.mrmlScene.IsBatchProcessing():
            return
        if self.ui.segmentSelector.currentNode() is parameters.input:
            if parameters.segments:
                parameters.segments = json.dumps(list(chosen))
            elif chosen:
                parameters.segment = chosen

    # --- runs

    def apply(self) -> None:
        """Run, unless the user wants to keep steps of the branch tools."""
        changed = [model for model in self._models(self.parameters) if edits.steps_of(model)]
        text = _(
            "What was removed, cut and bridged in {names} (steps: {count}) is lost when the "
            "centrelines are found again. Save steps under Branch tools keeps it for Repeat "
            "steps. Find them again?"
        ).format(
            names=", ".join(outputs.tree_name(model) for model in changed),
            count=sum(len(edits.steps_of(model)) for model in changed),
        )
        if not changed or slicer.util.confirmYesNoDisplay(text, windowTitle=self.title()):
            Panel.apply(self)

    def run(self, parameters: Any, progress: Any) -> str:
        # All is read before it computes: the parameters may change in the meantime.
        node, colouring = parameters.input, parameters.colouring
        earlier = [each for each in self._models(parameters) if outputs.own_nodes(each)]  # no copy
        options, settings = choices.options_of(parameters), choices.settings_text(parameters)
        wanted = [name for name, asks in choices.WRITTEN.items() if getattr(parameters, asks)]
        read = [objects.read_object(node, each) for each in choices.segments_of(parameters)]
        results = outputs.extract_in_place(read, wanted, options, settings, progress)
        for result in results:
            outputs.color_by(result.modelNode, colouring.value)
            if result.modelNode not in earlier:
                make_translucent(result.modelNode)
        if not earlier:
            bounds = np.zeros(6)
            results[0].modelNode.GetRASBounds(bounds)
            low, high = bounds.reshape(3, 2).T
            centre_cameras((low + high) / 2, high - low)
        text = _("Found {count} branches.")
        if len(results) > 1:
            text = _("Found {count} branches in {trees} trees.")
        count = sum(len(result.skeleton.branches) for result in results)
        text = text.format(count=count, trees=len(results))
        return text if parameters.input is node else f"{node.GetName()}: {text}"


def make_translucent(model: Any) -> None:
    """Make the segment that a model's lines were found in translucent, so that they are seen."""
    node = model.GetNodeReference(outputs.INPUT)
    if outputs.tree_segment(model) is not None and node.GetDisplayNode() is not None:
        display, segment_id = node.GetDisplayNode(), model.GetAttribute(outputs.SEGMENT)
        opacity = display.GetSegmentOpacity3D(segment_id)
        display.SetSegmentOpacity3D(segment_id, min(opacity, OPACITY))
