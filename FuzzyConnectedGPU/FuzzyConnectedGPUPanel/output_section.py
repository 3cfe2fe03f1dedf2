"""Section Result: the nodes that take it, which segments, and how they are shown."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyConnectedGPUMRML.vessel_lists import clicked_vessels
from FuzzyConnectedGPUMRML.views import fit_cameras
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import surfaces
from FuzzyVesselCoreLib.mrml.segments import is_as_written, result_segment, result_segments
from FuzzyVesselCoreLib.mrml.writing import (
    CONNECTEDNESS,
    LABELMAP,
    SEGMENTATION,
    belongs_to,
    check_apart,
    claim,
    is_output,
    output_of,
    sources_of,
)
from FuzzyVesselCoreLib.widgets.run import LatestRun

from .input_section import SegmentChoice


class OutputSection:
    """Nodes that take the result, its surface, and the fuzzy scene over the image."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.surface = ResultSurface(panel)
        nodes = ("segmentation", "inputVolume")
        self._choice = SegmentChoice(
            panel, self.ui.segmentComboBox, "segmentID", nodes, self._agreed_to_overwrite
        )
        replace = _(
            "The voxels of '{name}' are replaced by each result of {source}. Write into it?"
        )
        add = _("Put the vessels of {source} into '{name}'? Its other segments stay as they are.")
        ui = self.ui
        self._selectors = [
            OutputSelector(panel, ui.segmentationSelector, "segmentation", SEGMENTATION, add),
            OutputSelector(panel, ui.labelmapSelector, "labelmap", LABELMAP, replace),
            OutputSelector(panel, ui.sceneSelector, "sceneVolume", CONNECTEDNESS, replace),
        ]
        self.forget()

    def forget(self) -> None:
        """All nodes are gone."""
        self._drawn: Any = None  # that of the result that was drawn last
        self._overlay: tuple[Any, float] = (None, 0.0)
        self._choice.forget()
        self.surface.forget()

    # --- which segments

    def nodes(self, parameters: Any) -> dict[str, Any]:
        """What is written into, as the logic takes it."""
        return dict(
            sceneVolumeNode=parameters.sceneVolume,
            labelmapNode=parameters.labelmap,
            segmentationNode=parameters.segmentation or True,
            segmentID=self._overwritten(parameters),
            showDisputed=parameters.showDisputed,
        )

    @staticmethod
    def _overwritten(parameters: Any) -> str:
        """The segment of one vessel that is overwritten because the user chose it; or no text."""
        node, wanted = parameters.segmentation, parameters.segmentID
        there = node is not None and wanted and node.GetSegmentation().GetSegment(wanted)
        return wanted if there and len(clicked_vessels(parameters)) < 2 else ""

    def result_segments(self, parameters: Any) -> list[str]:
        """IDs of the segments of all vessels that a run writes or has written."""
        node, volume = parameters.segmentation, parameters.inputVolume
        lists, chosen = clicked_vessels(parameters), self._overwritten(parameters)
        lists = lists or [parameters.seeds]
        found = [chosen or result_segment(node, each, volume) for each in lists]
        return [each for each in found if each]

    def is_shown(self, parameters: Any) -> bool:
        """Whether the result's segments are still there, if there is a segmentation."""
        return parameters.segmentation is None or bool(self.result_segments(parameters))

    def edited_text(self, parameters: Any) -> str:
        """Which segments stay beside the result because they were edited, as a sentence."""
        node, lists = parameters.segmentation, clicked_vessels(parameters)
        if node is None or self._overwritten(parameters):
            return ""
        found = [result_segments(node, each, parameters.inputVolume) for each in lists]
        inner = node.GetSegmentation()
        names = [[inner.GetSegment(each).GetName() for each in ids] for ids in found]
        sentence = _("'{edited}' was edited and is left as it is: the result is in '{name}'.")
        return " ".join(
            sentence.format(edited="', '".join(edited), name=name)
            for name, *edited in filter(None, names)
            if edited
        )

    def _agreed_to_overwrite(self, segment_id: str) -> bool:
        """Whether a segment may be overwritten, after asking where no run wrote it as it is."""
        if not segment_id:
            return True
        segment = self._panel.parameters.segmentation.GetSegmentation().GetSegment(segment_id)
        if is_as_written(segment):
            return True
        text = _("The voxels of the segment '{name}' are replaced by each result. Write into it?")
        text = text.format(name=segment.GetName())
        return bool(slicer.util.confirmYesNoDisplay(text, windowTitle=self._panel.title()))

    # --- results

    def written(self, parameters: Any, result: Any, volume_node: Any) -> None:
        """Show a result of a volume that was written just now."""
        parameters.labelmap = result.labelmapNode
        parameters.segmentation = result.segmentationNode
        if result.sceneNode is not None:
            parameters.sceneVolume = result.sceneNode
        if result.segmentID:
            # The segment is drawn already; the labelmap over it would hide its outline.
            views.hide_labelmap(result.labelmapNode)
            self.surface.follow(parameters)
        else:
            opacity = views.LABEL_OPACITY
            slicer.util.setSliceViewerLayers(label=result.labelmapNode, labelOpacity=opacity)
        if volume_node is not None:
            self._draw(volume_node)

    def _draw(self, volume_node: Any) -> None:
        """Show a volume, and of several ones only its own results."""
        other = volume_node is not self._drawn
        views.show_volume(volume_node, everywhere=other)
        if other:
            views.show_results_of(volume_node)
        self._drawn = volume_node

    # --- what follows and what is shown

    def show_earlier_results(self, volume: Any) -> None:
        """Choose and show the earlier results of a volume."""
        parameters = self._panel.parameters
        for selector in self._selectors:
            selector.find(parameters)
        self._draw(volume)  # the other one's result does not lie over this one
        self.surface.first = False
        if parameters.labelmap is not None:
            fit_cameras(parameters.labelmap)

    def react(self, parameters: Any) -> None:
        """Use the outputs of the chosen volume; those of other volumes stay as they are."""
        for selector in self._selectors:
            selector.leave_others(parameters)
        self._choice.follow(parameters)
        self.surface.react(parameters)
        scene_node, (_node, before_opacity) = self._panel.result_scene(), self._overlay
        opacity = parameters.overlayOpacity if parameters.showOverlay else 0.0
        changed = (scene_node, opacity) != self._overlay
        if changed and scene_node is not None and (opacity or before_opacity):
            views.show_scene(scene_node, opacity)
        self._overlay = (scene_node, opacity)

    def show(self, parameters: Any) -> None:
        for selector in self._selectors:
            selector.show(parameters)
        text = _("Overwrite: {name}")
        self._choice.show(parameters, parameters.segmentation, _("Update this result"), text)
        one = len(clicked_vessels(parameters)) < 2
        why = "" if one else _("With several vessels, each updates its own segment.")
        self._panel.enable(self.ui.segmentComboBox, why)
        self._panel.enable(self.ui.show3DCheckBox, self.surface.why_not(parameters))


class OutputSelector:
    """Shows an output among the parameters, and asks before another node becomes it.

    It is not bound to the parameter: qMRMLNodeComboBox also chooses by itself, when a node is
    removed or hidden. It tells by `nodeActivated` and `nodeAddedByUser` what a person chose. The
    question, with {name} and {source}, is asked before a node is written into that was not made
    for the volume.
    """

    def __init__(self, panel: Any, selector: Any, name: str, kind: str, question: str) -> None:
        self._panel, self._selector = panel, selector
        self._name, self._kind, self._question = name, kind, question
        selector.connect("nodeActivated(vtkMRMLNode*)", self.choose)
        selector.connect("nodeAddedByUser(vtkMRMLNode*)", self._take_new)

    def show(self, parameters: Any) -> None:
        """Show what is chosen."""
        node = getattr(parameters, self._name)
        if self._selector.currentNode() is not node:
            self._selector.setCurrentNode(node)

    def leave_others(self, parameters: Any) -> None:
        """Leave the outputs of other volumes."""
        node, volume = getattr(parameters, self._name), parameters.inputVolume
        if None not in (node, volume) and not belongs_to(node, self._kind, volume):
            setattr(parameters, self._name, None)

    def find(self, parameters: Any) -> None:
        """Choose the volume's earlier output, unless one of its outputs is chosen."""
        node, volume = getattr(parameters, self._name), parameters.inputVolume
        if not belongs_to(node, self._kind, volume):
            found = output_of(volume, self._kind, self._selector.nodeTypes[0])
            setattr(parameters, self._name, found)

    def choose(self, node: Any) -> None:
        """Take the node that a person chose, None for a new one, where that may be written."""
        parameters = self._panel.parameters
        if parameters is None or node is getattr(parameters, self._name):
            return
        if node is None or self._agreed(parameters, node):
            setattr(parameters, self._name, node)
        self.show(parameters)

    def _take_new(self, node: Any) -> None:
        parameters = self._panel.parameters
        if parameters is not None and parameters.inputVolume is not None:
            claim(node, self._kind, parameters.inputVolume)
            setattr(parameters, self._name, node)

    def _agreed(self, parameters: Any, node: Any) -> bool:
        """Whether a node may be written into, after asking where it was not made for this."""
        volume = parameters.inputVolume
        if volume is None:
            self._panel.say(_("Choose the volume first."))
            return False
        if belongs_to(node, self._kind, volume):
            return True
        try:
            inputs = {_("input volume"): volume, _("mask"): parameters.mask}
            check_apart([node], inputs)
        except InputError as error:
            self._panel.say(self._panel.worded(error))
            return False
        question = self._question.format(name=node.GetName(), source=volume.GetName())
        if is_output(node, self._kind):
            others = ", ".join(each.GetName() for each in sources_of(node))
            question += " " + _("It holds the result of {others}.").format(others=others)
        if not slicer.util.confirmYesNoDisplay(question, windowTitle=self._panel.title()):
            return False
        claim(node, self._kind, volume)
        return True


# ---- The surface of the result in the 3D views: it follows the result, made by a thread


class ResultSurface:
    """The closed surfaces of the result's segments, made when they or "Show in 3D" have changed.

    Until it is recomputed the previous one stays, so that the 3D views do not flicker.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self.forget()

    def forget(self) -> None:
        """The segmentation is gone."""
        self._run.stop()
        self._last: dict[tuple[Any, str], Any] = {}  # vtkPolyData of each segment
        self._seen: tuple = (None, False)  # the segmentation, and whether it is shown in 3D
        self.first = False  # whether it is the first of a volume, which 3D views are centred on

    @property
    def waits(self) -> bool:
        """Whether the surface is still to be made."""
        return self._run.pending

    def follow(self, parameters: Any) -> None:
        """Segments were written: their surfaces follow."""
        if parameters.show3D:
            for (segmentation, segment_id), surface in self._last.items():
                if segmentation is parameters.segmentation:
                    surfaces.put_surface(segmentation, segment_id, surface)
            self._run.request()

    def react(self, parameters: Any) -> None:
        """Follow "Show in 3D"; a segmentation that was only chosen stays as it is."""
        node, before = parameters.segmentation, self._seen
        self._seen = node, parameters.show3D
        if node is None or node is not before[0] or before == self._seen:
            return
        for each in self._panel.output.result_segments(parameters):
            if parameters.show3D:
                node.GetDisplayNode().SetSegmentVisibility3D(each, True)
                self._run.request()
            else:
                surfaces.drop_surface(node, each)

    def why_not(self, parameters: Any) -> str:
        """What stands against a surface, as a sentence; or an empty text."""
        node, ids = parameters.segmentation, self._panel.output.result_segments(parameters)
        others = surfaces.without_surface(node, ids[0]) if ids else []
        text = _(
            "The segmentation has no surfaces of {others}: press Show 3D in the module "
            "Segmentations to see all segments."
        )
        return text.format(others=", ".join(others)) if others else ""

    def _parameters(self) -> Any:
        # The module may have been left since: the parameters are in the scene all the same.
        return self._panel.parameters or self._panel.logic.getParameterNode()

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> list[tuple]:
        """Segmentation, segment, and what is read of it.

        Slicer shows surfaces of all segments or of none: earlier results get theirs, too.
        """
        parameters = self._parameters()
        node, ids = parameters.segmentation, self._panel.output.result_segments(parameters)
        ids = [each for each in ids if surfaces.may_have_surface(node, each)]
        if not ids or not parameters.show3D:
            return []
        inner, jobs = node.GetSegmentation(), []
        for each in inner.GetSegmentIDs():
            if each in ids or not surfaces.has_surface(inner.GetSegment(each)):
                read = surfaces.surface_input(inner, each)
                if read is not None:
                    jobs.append((node, each, read))
                else:  # of a conversion that only Slicer itself can make
                    surfaces.make_surface(node, each)
        return jobs

    @staticmethod
    def _compute(jobs: list[tuple], progress: Any) -> list[tuple]:
        return [(*job, job[2].surface(progress)) for job in jobs]

    def _show(self, jobs: list[tuple]) -> None:
        """Show the surfaces of segments whose voxels are as they were read."""
        parameters = self._parameters()
        for node, segment_id, read, surface in jobs if parameters.show3D else ():
            if read.put(node.GetSegmentation(), segment_id, surface):
                self._last[node, segment_id] = surface
        if self.first and parameters.labelmap is not None:
            self.first = False  # Slicer itself centres 3D views on the whole scene
            fit_cameras(parameters.labelmap)
        self._panel.update_soon()

    def _fail(self, error: Exception) -> None:
        raise error
