"""Section Output: where results go, how they are shown, and how two of them differ."""

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import slice_layers
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import ownership
from FuzzyVesselCoreLib.mrml.segments import is_as_written, result_segment
from FuzzyVesselCoreLib.mrml.surfaces import drop_surface, make_surface, without_surface
from FuzzyVesselCoreLib.widgets.output_selector import OutputSelector

from .plots import millilitres
from .region_section import SegmentChoice, fill

SURFACE_WAIT = 250  # milliseconds of rest before the surface is made


class OutputSection:
    """Nodes that take the result."""

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui
        self._segments, self._overlay = [], None
        self._choice = SegmentChoice("segmentation", "segmentID")
        self._selectors = self._make_selectors()
        self._volume = self._drawn = None  # chosen, and that of the result that was drawn last
        self._surface = None  # segmentation and "Show in 3D" as they were seen last
        self._timer = qt.QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(SURFACE_WAIT)
        self._timer.connect("timeout()", self.make_surface)
        self.ui.segmentComboBox.connect("activated(int)", self._choose_segment)
        self.ui.differenceButton.connect("clicked()", self.difference)
        self._say("")

    def _make_selectors(self):
        replace = _(
            "The voxels of '{name}' are replaced by each result of {source}. Write into it?"
        )
        add = _("Put the vessels of {source} into '{name}'? Its other segments stay as they are.")
        ui = self.ui
        return [
            OutputSelector(self._panel, selector, name, kind, question)
            for selector, name, kind, question in (
                (ui.segmentationSelector, "segmentation", ownership.SEGMENTATION, add),
                (ui.labelmapSelector, "labelmap", ownership.LABELMAP, replace),
                (ui.sceneSelector, "sceneVolume", ownership.CONNECTEDNESS, replace),
            )
        ]

    # --- what runs do

    def segment_to_write(self, parameters):
        """The segment that is overwritten because the user chose it; else an empty text."""
        node, wanted = parameters.segmentation, parameters.segmentID
        if node is None or not wanted or node.GetSegmentation().GetSegment(wanted) is None:
            return ""
        return wanted

    def written(self, parameters, result, volume_node):
        """Show a result of a volume that was written just now."""
        parameters.labelmap = result.labelmapNode
        parameters.segmentation = result.segmentationNode
        if result.sceneNode is not None:
            parameters.sceneVolume = result.sceneNode
        if result.segmentID:
            # The segment is drawn already; the labelmap over it would hide its outline.
            slice_layers.hide_labelmap(result.labelmapNode)
            if parameters.show3D:
                self._timer.start()
        else:
            slice_layers.show_labelmap(result.labelmapNode)
        if volume_node is not None:
            other = volume_node is not self._drawn
            slice_layers.show_volume(volume_node, everywhere=other)
            if other:
                slice_layers.show_results_of(volume_node)
            self._drawn = volume_node

    def make_surface(self):
        """Make the surface of the result's segment for the 3D views, or take it away."""
        # The module may have been left since: the parameters are in the scene all the same.
        parameters = self._panel.parameters or self._panel.logic.getParameterNode()
        segmentation, segment_id = parameters.segmentation, self._result_segment(parameters)
        if segmentation is None or not segment_id:
            return
        if self._panel.seeds.dragging or self._panel.running.active:
            self._timer.start()
        elif parameters.show3D:
            make_surface(segmentation, segment_id)
        else:
            drop_surface(segmentation, segment_id)

    def _result_segment(self, parameters):
        """ID of the segment that a run writes or has written; else an empty text."""
        return self.segment_to_write(parameters) or result_segment(
            parameters.segmentation, parameters.seeds, parameters.inputVolume
        )

    # --- what the user does

    def difference(self):
        """Make or fill the labelmap of where two results differ, and show it."""
        parameters = self._panel.parameters
        try:
            found = self._panel.logic.difference(
                parameters.firstResult,
                parameters.secondResult,
                parameters.inputVolume,
                self._difference_labelmap(parameters),
            )
        except InputError as error:
            self._say(str(error))
            return
        parameters.differenceLabelmap = found.labelmapNode
        slice_layers.show_labelmap(found.labelmapNode)
        text = _(
            "In both {both}, only in the first {first} (orange), only in the second {second} "
            "(blue); Dice {dice:.3f}"
        )
        self._say(
            text.format(
                both=millilitres(found.bothMl),
                first=millilitres(found.onlyFirstMl),
                second=millilitres(found.onlySecondMl),
                dice=found.dice,
            )
        )

    def _say(self, text):
        self.ui.differenceNoteLabel.text = text
        self.ui.differenceNoteLabel.setVisible(bool(text))

    @staticmethod
    def _difference_labelmap(parameters):
        """The labelmap of differences on this volume, or None for a new one."""
        node, kind, volume = (
            parameters.differenceLabelmap,
            ownership.DIFFERENCE,
            parameters.inputVolume,
        )
        if ownership.belongs_to(node, kind, volume):
            return node
        return ownership.output_of(volume, kind, "vtkMRMLLabelMapVolumeNode")

    def _choose_segment(self, index):
        parameters = self._panel.parameters
        if parameters is None:
            return
        wanted, inner = self._segments[index][0], None
        if wanted and parameters.segmentation is not None:
            inner = parameters.segmentation.GetSegmentation().GetSegment(wanted)
        if inner is None or is_as_written(inner) or self._agreed(inner):
            parameters.segmentID = wanted
        self._show_segments(parameters)

    def _agreed(self, segment):
        text = _("The voxels of the segment '{name}' are replaced by each result. Write into it?")
        return slicer.util.confirmYesNoDisplay(
            text.format(name=segment.GetName()), windowTitle=self._panel.title()
        )

    # --- what is shown

    def follow(self, parameters):
        """Take the outputs of the volume that is chosen; those of another one stay as they are."""
        volume, before = parameters.inputVolume, self._volume
        if volume is not None:
            for selector in self._selectors:
                changed = before is not None and volume is not before
                selector.follow(parameters, volume, changed)
            self._volume = volume
        self._choice.follow(parameters)

    def show(self, parameters):
        for selector in self._selectors:
            selector.show(parameters)
        self._show_segments(parameters)
        self._show_overlay(parameters)
        self._show_difference(parameters)
        self._show_surface(parameters)

    def _show_surface(self, parameters):
        """Follow "Show in 3D"; a segmentation that was only chosen stays as it is."""
        segmentation, before = parameters.segmentation, self._surface
        self._surface = (segmentation, parameters.show3D)
        why, segment_id = "", self._result_segment(parameters)
        if segment_id:
            others = ", ".join(without_surface(segmentation, segment_id))
            if others:
                why = _(
                    "The segmentation has no surfaces of {others}: press Show 3D in the module "
                    "Segmentations to see all segments."
                ).format(others=others)
        self._panel.enable(self.ui.show3DCheckBox, why)
        if segment_id and before not in (None, self._surface) and before[0] is segmentation:
            if parameters.show3D:
                segmentation.GetDisplayNode().SetSegmentVisibility3D(segment_id, True)
            self._timer.start()

    def _show_segments(self, parameters):
        segments, node = [("", _("New, or that of these seeds"))], parameters.segmentation
        if node is not None:
            inner = node.GetSegmentation()
            segments += [
                (each, _("Overwrite: {name}").format(name=inner.GetSegment(each).GetName()))
                for each in inner.GetSegmentIDs()
            ]
        self._segments = fill(
            self.ui.segmentComboBox, self._segments, segments, parameters.segmentID
        )

    def _show_overlay(self, parameters):
        scene_node = self._panel.result_scene()
        why = "" if scene_node else _("There is no fuzzy scene yet: press Apply.")
        self._panel.enable(self.ui.overlayCheckBox, why)
        self._panel.enable(self.ui.overlaySlider, why)
        wanted = None
        if scene_node is not None:
            opacity = parameters.overlayOpacity if parameters.showOverlay else 0.0
            wanted = (scene_node.GetID(), opacity)
        if wanted != self._overlay:
            if wanted is not None and (wanted[1] or self._overlay):
                slice_layers.show_scene(scene_node, wanted[1])
            self._overlay = wanted

    def _show_difference(self, parameters):
        first, second = parameters.firstResult, parameters.secondResult
        why = ""
        if not self._panel.has_voxels(parameters.inputVolume):
            why = _("Choose the volume first.")
        elif first is None or second is None or first is second:
            why = _("Choose two results to compare.")
        self._panel.enable(self.ui.differenceButton, why)

    def forget(self):
        """All nodes are gone."""
        self._timer.stop()
        self._segments, self._overlay = [], None
        self._volume = self._drawn = self._surface = None
        self._choice.forget()
        self.ui.segmentComboBox.clear()
        self._say("")
