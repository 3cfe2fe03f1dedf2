"""The effect at work: points are placed, the preview follows, Apply writes the segment."""

from typing import Any

import slicer
import vtk
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPULib.contrast.warm_up import WARM_UP
from FuzzyConnectedGPUPanel.wording import worded
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.provenance import voxel_time
from SegmentEditorVesselFromClicksMRML.clicks import BACKGROUND, VESSEL, Clicks
from SegmentEditorVesselFromClicksMRML.editable_area import masking_of

from .centrelines import open_centrelines
from .followed_points import FollowedPoints, _nothing
from .live_preview import LivePreview
from .options import Options
from .writing import SegmentWriter


class LiveVessel:
    """Points and preview of the selected segment, while the effect is active.

    Segments whose changes have been neither applied nor cancelled are pending: they get their
    preview again when they are selected.

    Parameters
    ----------
    scripted_effect : qSlicerSegmentEditorScriptedEffect
    """

    def __init__(self, scripted_effect: Any) -> None:
        self._effect, self._observers = scripted_effect, VTKObservationMixin()
        self._inputs = VTKObservationMixin()  # of what the preview is computed from
        self._voxels = 0  # a stamp of those of the source volume
        self._active = False
        self._pending: set = set()
        self._selected = self._masking = None
        self._options = options = Options(scripted_effect)
        self._preview = LivePreview(scripted_effect, options, self._show)
        self._points = FollowedPoints(self._change, _nothing)
        self._writer = SegmentWriter(scripted_effect)
        options.connect(options.more, "valueChanged(double)", self._on_more)
        options.connect(options.keep, "toggled(bool)", self.keep_parameters)
        options.connect(options.last, "clicked()", self._on_last)
        options.connect(options.clear, "clicked()", self._on_clear)
        options.connect(options.apply, "clicked()", self.apply)
        options.connect(options.cancel, "clicked()", self.cancel)
        options.connect(options.centrelines, "clicked()", self._on_centrelines)

    # --- what the Segment Editor says

    def activate(self) -> None:
        """The effect is chosen."""
        node, scene = self._effect.parameterSetNode(), slicer.mrmlScene
        self._observers.addObserver(node, vtk.vtkCommand.ModifiedEvent, self._on_editor)
        self._observers.addObserver(scene, scene.StartCloseEvent, self._on_close)
        self._active = True
        self._select()
        WARM_UP.begin()

    def deactivate(self) -> None:
        """Another effect is chosen, or none; points and what was not applied stay for later."""
        self._active = False
        self._observers.removeObservers()
        self._inputs.removeObservers()
        self._follow(None)

    def cleanup(self) -> None:
        """The Segment Editor ends."""
        self.deactivate()
        self._preview.leave()
        self._options.disconnect()

    def inputs_changed(self) -> None:
        """Source volume or geometry are others: the preview does not fit any more."""
        self._watch_inputs()
        self._writer.forget()
        self._preview.forget()
        self._preview.stop()
        self._catch_up()

    def _watch_inputs(self):
        """Follow the voxels of the source volume, as of a sequence, and where both nodes lie."""
        self._inputs.removeObservers()
        if not self._active:
            return
        node, events = self._effect.parameterSetNode(), slicer.vtkMRMLVolumeNode
        volume, segmentation = node.GetSourceVolumeNode(), node.GetSegmentationNode()
        self._voxels = voxel_time(volume)
        for each, event, method in (
            (volume, vtk.vtkCommand.ModifiedEvent, self._on_volume),
            (volume, events.ImageDataModifiedEvent, self._on_volume),
            (volume, events.TransformModifiedEvent, self._on_moved),
            (segmentation, events.TransformModifiedEvent, self._on_moved),
        ):
            if each is not None:
                self._inputs.addObserver(each, event, method)

    def _on_volume(self, caller, event):
        if voxel_time(caller) != self._voxels:
            self.inputs_changed()

    def _on_moved(self, caller, event):
        self.inputs_changed()

    def show_parameters(self) -> None:
        """Show the effect's parameters."""
        keep = bool(self._effect.integerParameter("Keep"))
        self._options.show_value(self._options.keep, "checked", keep)

    def keep_parameters(self) -> None:
        """Take the parameters over from the widgets."""
        self._effect.setParameter("Keep", int(self._options.keep.checked))

    def _on_editor(self, caller, event):
        if (caller.GetSegmentationNode(), caller.GetSelectedSegmentID()) != self._selected:
            self._select()
        elif masking_of(caller) != self._masking:
            self._masking = masking_of(caller)
            self._catch_up()

    def _on_close(self, caller, event):
        self.deactivate()
        self._pending.clear()
        self._writer.forget()
        self._preview.forget()

    # --- the selected segment

    def _select(self):
        """Turn to the segment that is selected now."""
        node = self._effect.parameterSetNode()
        segmentation_node, segment_id = node.GetSegmentationNode(), node.GetSelectedSegmentID()
        self._selected, self._masking = (segmentation_node, segment_id), masking_of(node)
        there = segmentation_node is not None and bool(segment_id)
        there = there and segmentation_node.GetSegmentation().GetSegment(segment_id) is not None
        self._watch_inputs()
        self._follow(Clicks(segmentation_node, segment_id) if there else None)
        self._catch_up()

    def _follow(self, clicks):
        self._options.say("")
        self._points.follow(clicks)
        self._preview.follow(clicks)

    def _catch_up(self):
        """Show the preview that belongs to changes which are pending."""
        clicks = self._points.clicks
        if clicks is not None and clicks.key in self._pending:
            self._preview.update_soon()

    def _change(self):
        self._pending.add(self._points.clicks.key)
        self._preview.update_soon()
        self._show()

    # --- points and options

    def click(self, position: Any, background: bool = False) -> None:
        """Place a point of the selected segment at a position (R, A, S in mm) of the world."""
        if self._points.clicks is not None:
            self._points.clicks.add(position, background)
            self._points.observe()
            self._change()

    def has_point_near(self, position: Any, reach: float) -> bool:
        """Whether a point of the selected segment is within a distance (mm) of a position."""
        return self._points.clicks is not None and self._points.clicks.near(position, reach)

    def _on_last(self):
        self._points.clicks.remove_last()

    def _on_clear(self):
        self._points.clicks.clear()
        self._points.observe()
        self.cancel()

    def _on_more(self, value):
        self._points.clicks.more = value
        if self._preview.ready:
            self._pending.add(self._points.clicks.key)
            self._preview.show()
        else:
            self._change()

    def _on_centrelines(self):
        try:
            open_centrelines(self._effect)
        except InputError as error:
            self._options.say(worded(error))

    def _show(self):
        """Show what there is and what can be done."""
        options, clicks = self._options, self._points.clicks
        counts = [len(clicks.points(kind).labels) if clicks else 0 for kind in (VESSEL, BACKGROUND)]
        options.show_points(*counts)
        options.more.enabled = counts[0] > 0
        options.show_value(options.more, "value", clicks.more if clicks else 0.0)
        options.apply.enabled = self._preview.ready
        options.cancel.enabled = self._preview.ready or self._preview.running
        options.centrelines.enabled = clicks is not None

    # --- what ends a preview

    def apply(self) -> None:
        """Write the preview into the selected segment."""
        if self._preview.ready:
            labels, key = self._preview.labels(), self._points.clicks.key
            self.cancel()
            self._writer.write(key, labels, bool(self._effect.integerParameter("Keep")))

    def cancel(self) -> None:
        """Drop the preview; the points stay."""
        if self._points.clicks is not None:
            self._pending.discard(self._points.clicks.key)
        self._preview.stop()
        self._options.say("")
