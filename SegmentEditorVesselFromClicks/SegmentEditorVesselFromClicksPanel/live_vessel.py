"""The effect at work: points are placed, the preview follows, Apply writes the segments."""

from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import qt
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPULib import CachedConnectedness
from FuzzyConnectedGPUMRML.views import LabelPreview
from FuzzyConnectedGPUPanel.wording import worded
from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.mrml.reading import array_from_image, tag_text
from FuzzyVesselCoreLib.widgets.run import LatestRun

from .editor_run import EditorRun, segment_image, voxels_on
from .segment_points import BACKGROUND, VESSEL, Clicks

SKELETON = "PotentialSkeleton"
APPLIED = "FuzzyVesselGPU.Applied"  # tag of a segment: its last Apply; Undo and Redo restore it
RECORDS = 6  # of each segment: its last Apply, and those that 5 steps of Undo lead back to
UI = Path(__file__).parents[1] / "Resources" / "UI" / "SegmentEditorVesselFromClicks.ui"


class Inputs(NamedTuple):
    """What a preview depends on; which voxels a segment got depends on the first two."""

    segmentation_node: Any = None
    grid: tuple = ()  # its geometry, the source volume and the time of that one's last edit
    masking: tuple = ()
    clicks: Clicks | None = None  # of the selected segment; None while the effect is not active
    points: tuple = ((), ())  # their positions, in the vessel and in the background


class LiveVessel:
    """Points and preview while the effect is active.

    Segments whose changes have been neither applied nor cancelled are pending: the preview shows
    them all, and Apply writes them all.
    """

    def __init__(self, scripted_effect: Any) -> None:
        self._effect, self._cached = scripted_effect, CachedConnectedness()
        self._observers = VTKObservationMixin()
        self._seen = Inputs()
        self._pending: set[str] = set()
        self._found: Any = None  # the EditorRun that the preview shows
        self._active = self._apply_soon = False
        # Images of a segment's voxels that are Apply's and not erased since, by its last Apply.
        self._own: dict[tuple[str, str], Any] = {}
        self._edited = qt.QTimer()  # an edit may empty a segment before it fills it
        self._edited.setSingleShot(True)
        self._edited.connect("timeout()", self._after_edit)
        self._preview = LabelPreview(_("Vessel from clicks preview"))
        self.run = LatestRun(self._read, EditorRun.compute, self._take, self._fail)
        window = slicer.util.loadUI(str(UI))
        scripted_effect.addOptionsWidget(window)
        ui = self.ui = slicer.util.childWidgetVariables(window)
        ui.moreSlider.connect("valueChanged(double)", self._on_more)
        for button, slot in (
            (ui.lastButton, lambda: self.clicks.remove_last()),
            (ui.clearButton, self._on_clear),
            (ui.cancelButton, self.cancel),
            (ui.applyButton, self.apply),
            (ui.centrelinesButton, self._on_centrelines),
        ):
            button.connect("clicked()", slot)

    # --- calls of the Segment Editor

    def activate(self) -> None:
        """The effect is chosen."""
        self._active = True
        self._observe()
        self._follow()

    def deactivate(self) -> None:
        """Another effect is chosen, or none: points and pending changes stay."""
        self._active = False  # edits are followed still
        self._stop()
        self._switch_to(self._seen._replace(clicks=None, points=((), ())))

    def cleanup(self, *_event: Any) -> None:
        """The Segment Editor ends, or the scene is closed."""
        self._observers.removeObservers()
        self._edited.stop()
        self._own = {}
        self.deactivate()
        self._cached.forget()

    def inputs_changed(self, *_event: Any) -> None:
        """A transform or the geometry has changed: the preview does not fit any more."""
        self._seen = self._seen._replace(grid=())
        if self.clicks is not None:
            self._follow()

    # --- points

    @property
    def clicks(self) -> Any:
        """The points of the selected segment; None while the effect is not active."""
        return self._seen.clicks

    def click(self, position: Any, background: bool = False) -> None:
        """Place a point of the selected segment at a position (R, A, S in mm) of the world."""
        if self.clicks is not None:
            self.clicks.add(position, background)
            self._follow()

    def _inputs(self) -> Inputs:
        node = self._effect.parameterSetNode()
        segmentation_node, volume = node.GetSegmentationNode(), node.GetSourceVolumeNode()
        image = volume.GetImageData() if volume is not None else None
        if segmentation_node is None or image is None:
            return Inputs()
        segmentation, segment_id = segmentation_node.GetSegmentation(), node.GetSelectedSegmentID()
        geometry = slicer.vtkSegmentationConverter.GetReferenceImageGeometryParameterName()
        grid = segmentation.GetConversionParameter(geometry), volume, image.GetMTime()
        limits = node.GetSourceVolumeIntensityMask(), node.GetSourceVolumeIntensityMaskRange()
        masking = node.GetMaskMode(), node.GetMaskSegmentID(), limits
        if not self._active or segmentation.GetSegment(segment_id or "") is None:
            return Inputs(segmentation_node, grid, masking)
        clicks = Clicks(segmentation_node, segment_id)
        points = tuple(clicks.points(kind).world.tolist() for kind in (VESSEL, BACKGROUND))
        return Inputs(segmentation_node, grid, masking, clicks, points)

    def _observe(self) -> None:
        """Follow the nodes that there are now; lists of points begin with their first point."""
        node, scene = self._effect.parameterSetNode(), slicer.mrmlScene
        volume, segmentation_node = node.GetSourceVolumeNode(), node.GetSegmentationNode()
        self._observers.removeObservers()
        observe = self._observers.addObserver
        observe(node, vtk.vtkCommand.ModifiedEvent, self._follow)
        observe(scene, scene.StartCloseEvent, self.cleanup)
        if volume is not None:
            observe(volume, volume.ImageDataModifiedEvent, self._follow)
        for each in filter(None, (volume, segmentation_node)):
            observe(each, each.TransformModifiedEvent, self.inputs_changed)
        if segmentation_node is not None:
            inner, event = segmentation_node.GetSegmentation(), vtk.vtkCommand.AnyEvent
            observe(inner, event, lambda *_: self._edited.start())
        for each in self.clicks.nodes.values() if self.clicks is not None else ():
            for event in (each.PointModifiedEvent, each.PointRemovedEvent):
                observe(each, event, self._follow)

    def _after_edit(self) -> None:
        """Forget deleted segments, and what was erased: whoever paints it owns it."""
        self._follow()
        node = self._seen.segmentation_node
        there = set(node.GetSegmentation().GetSegmentIDs()) if node is not None else set()
        if gone := self._pending - there:
            self.cancel(gone)
        for segment_id in there:
            if (own := self._own.get(self._state(segment_id))) is not None:
                array_from_image(own)[~voxels_on(segment_image(node, segment_id), own)] = 0

    def _follow(self, *_event: Any) -> None:
        """Switch to the segment that is selected; compute where its points or settings changed."""
        now, seen = self._inputs(), self._seen
        if now == seen:
            return
        if now[:2] != seen[:2]:
            self._own = {}
            self._stop()
        if now.segmentation_node is not seen.segmentation_node:  # where the same IDs name others
            self._pending = set()
        self._switch_to(now)
        self._observe()
        turned = now.clicks != seen.clicks
        if now.points != seen.points and not turned:
            self._pending.add(self.clicks.segment_id)
        if self._pending and self.clicks is not None and not (turned and self._found is not None):
            self._request(apply_soon=turned and self._apply_soon)

    def _switch_to(self, inputs: Inputs) -> None:
        for clicks, shown in ((self.clicks, False), (inputs.clicks, True)):
            if clicks is not None and inputs.clicks != self.clicks:
                clicks.show(shown)
        self._seen = inputs
        if self._found is None:
            self.ui.sentenceLabel.text = ""
        self._show()

    def _on_clear(self) -> None:
        self.clicks.clear()
        self._follow()
        self.cancel({self.clicks.segment_id})

    def _on_more(self, value: float) -> None:
        self.clicks.set_more(value)
        self._pending.add(self.clicks.segment_id)
        if self._found is not None and self.clicks.segment_id in self._found.vessels:
            self._draw()
        else:
            self._request()

    def _on_centrelines(self) -> None:
        node, segment_id = self._seen.segmentation_node, self.clicks.segment_id
        image = segment_image(node, segment_id)
        if image.IsEmpty() or not array_from_image(image).any():
            text = _("The segment is empty: place points and press Apply first.")
            self.ui.sentenceLabel.text = text
            return
        parameters = slicer.util.getModuleWidget(SKELETON).logic.getParameterNode()
        parameters.input, parameters.segment = node, segment_id
        slicer.util.selectModule(SKELETON)

    # --- the preview

    def _request(self, apply_soon: bool = False) -> None:
        self._found, self._apply_soon = None, apply_soon
        self.ui.sentenceLabel.text = _("Looking for the vessel ...")
        self.run.request()
        self._show()

    def _read(self) -> EditorRun:
        node, image = self._effect.parameterSetNode(), self._effect.sourceVolumeImageData()
        return EditorRun(node, image, self._pending, self._cached)

    def _take(self, found: EditorRun) -> None:
        self._found = found
        self._draw()
        if self._apply_soon:
            self.apply()

    def _draw(self) -> None:
        """Show the vessels of all pending segments, as much of each as is wanted."""
        run, node = self._found, self._seen.segmentation_node
        shown = np.zeros(run.shape, np.uint8)
        colors, lines = [], []
        for number, (segment_id, labels) in enumerate(self._wanted().items(), 1):
            shown[labels] = number
            segment = node.GetSegmentation().GetSegment(segment_id)
            colors.append(segment.GetColor())
            volume = np.count_nonzero(labels) * run.millilitres
            lines.append(_("{name} {ml:.2f} ml").format(name=segment.GetName(), ml=volume))
        self._preview.show(shown, run.ijk_to_segmentation, node.GetTransformNodeID(), colors)
        text = _("Preview: {volumes}.").format(volumes=", ".join(lines))
        self.ui.sentenceLabel.text = "\n".join([text, *map(worded, run.notes)])
        self._show()

    def _wanted(self) -> dict[str, np.ndarray]:
        """Labels of the segments whose vessels were found, without those deleted since."""
        node, found = self._seen.segmentation_node, self._found
        there = [each for each in found.vessels if node.GetSegmentation().GetSegment(each)]
        return {each: found.labels(each, Clicks(node, each).more) for each in there}

    def _fail(self, error: Exception) -> None:
        self._stop()
        self.ui.sentenceLabel.text = worded(error)
        if not isinstance(error, FuzzyVesselError):
            raise error

    def _stop(self) -> None:
        """Show nothing and compute nothing."""
        self.run.stop()
        self._found, self._apply_soon = None, False
        self._preview.drop()
        self._show()

    def _show(self) -> None:
        """Show the points, and enable what can be done."""
        vessel, background = map(len, self._seen.points)
        text = _("click in the vessel, Ctrl-click anything that is not")
        if vessel or background:
            text = _("{vessel} in the vessel, {background} in the background")
        self.ui.pointsLabel.text = text.format(vessel=vessel, background=background)
        self.ui.lastButton.enabled = self.ui.clearButton.enabled = bool(vessel or background)
        self.ui.moreSlider.enabled = vessel > 0
        blocked = self.ui.moreSlider.blockSignals(True)
        self.ui.moreSlider.value = self.clicks.more if self.clicks is not None else 0.0
        self.ui.moreSlider.blockSignals(blocked)
        self.ui.applyButton.enabled = self._found is not None or vessel > 0
        self.ui.cancelButton.enabled = self._found is not None or self.run.pending
        self.ui.centrelinesButton.enabled = self.clicks is not None

    # --- what ends a preview

    def apply(self) -> None:
        """Write the pending vessels into their segments, as one step of the editor's undo.

        What was written for the same points before is replaced: a point in a leak takes the leak
        away. What else a segment holds is kept. Masking and overwriting are the editor's.
        """
        if self._found is None:
            self._pending.add(self.clicks.segment_id)
            self._request(apply_soon=True)
            return
        wanted = self._wanted()
        self.cancel()
        self._effect.saveStateForUndo()
        for segment_id, labels in wanted.items():
            self._write(segment_id, labels)

    def _write(self, segment_id: str, wanted: np.ndarray) -> None:
        node, base = self._seen.segmentation_node, slicer.qSlicerSegmentEditorAbstractEffect
        before = segment_image(node, segment_id)
        own = self._own.get(self._state(segment_id), slicer.vtkOrientedImageData())
        node.GetSegmentation().GetSegment(segment_id).SetTag(APPLIED, uuid4().hex)
        leak = voxels_on(own, self._effect.defaultModifierLabelmap()) & ~wanted
        changes = (leak, base.ModificationModeRemove), (wanted, base.ModificationModeAdd)
        for voxels, mode in changes:
            if voxels.any():
                modifier = self._effect.defaultModifierLabelmap()
                array_from_image(modifier)[:] = voxels
                modifier.Modified()
                self._effect.modifySegmentByLabelmap(node, segment_id, modifier, mode)
        image = segment_image(node, segment_id)
        if not image.IsEmpty():
            array_from_image(image)[voxels_on(before, image) & ~voxels_on(own, image)] = 0
            self._own[self._state(segment_id)] = image
        for old in [each for each in self._own if each[0] == segment_id][:-RECORDS]:
            del self._own[old]

    def _state(self, segment_id: str) -> tuple[str, str]:
        """A segment and its last Apply."""
        segment = self._seen.segmentation_node.GetSegmentation().GetSegment(segment_id)
        return segment_id, tag_text(segment, APPLIED)

    def cancel(self, segment_ids: set[str] | None = None) -> None:
        """Drop the previews of some segments, by default of all; those of others are made again.

        The points stay.
        """
        self._pending = self._pending - segment_ids if segment_ids else set()
        self._stop()
        self.ui.sentenceLabel.text = ""
        if self._pending and self.clicks is not None:
            self._request()
