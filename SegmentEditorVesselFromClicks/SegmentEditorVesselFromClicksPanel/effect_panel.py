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

from FuzzyConnectedGPULib import ContrastMapCache
from FuzzyConnectedGPUMRML.views import LabelPreview
from FuzzyConnectedGPUPanel.wording import worded
from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.mrml.reading import array_from_image, tag_text, voxels_on
from FuzzyVesselCoreLib.mrml.writing import remove_node
from FuzzyVesselCoreLib.widgets.run import LatestRun

from .editor_run import Clicks, EditorRun

SKELETON = "PotentialSkeleton"
APPLIED = "FuzzyVesselGPU.Applied"  # tag of a segment: its last Apply; Undo and Redo restore it
UI = Path(__file__).parents[1] / "Resources" / "UI" / "SegmentEditorVesselFromClicks.ui"


class Inputs(NamedTuple):
    """What is read from the editor; which voxels a segment got depends on the first two."""

    segmentation_node: Any = None
    grid: tuple = ()  # its geometry, the source volume, the times of their last changes
    masking: tuple = ()
    segments: tuple = ()  # their IDs
    clicks: Clicks | None = None  # of the selected segment; None while the effect is not active
    points: tuple = ((), ())  # their positions, in the vessel and in the background


class EffectPanel:
    """Points and preview while the effect is active.

    Segments whose changes have been neither applied nor cancelled are pending: the preview shows
    them all, and Apply writes them all.
    """

    def __init__(self, scripted_effect: Any) -> None:
        self._effect, self._cached = scripted_effect, ContrastMapCache()
        self._observers = VTKObservationMixin()
        self._seen = Inputs()
        self._pending: set[str] = set()
        # What the preview is computed from: settings, and the points of each pending segment.
        self._asked: tuple[Any, dict] = ((), {})
        self._found: Any = None  # the EditorRun that the preview shows
        self._active = self._apply_soon = False
        self._labels: dict[str, np.ndarray] = {}  # what it shows of each segment
        # Flat indices of a segment's voxels that are Apply's, by its ID and its tag.
        self._own: dict[tuple[str, str], np.ndarray] = {}
        self._soon = qt.QTimer()  # one change may send many events
        self._soon.setSingleShot(True)
        self._soon.connect("timeout()", self.follow)
        self._preview = LabelPreview(_("Vessel from clicks preview"))
        self.run = LatestRun(
            self._read, lambda run, told: run.compute(told, self._cached), self._take, self._fail
        )
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

    def activate(self, active: bool = True) -> None:
        """The effect is chosen, or another one: points and pending changes stay."""
        self._active = active  # edits are followed also while it is not
        self.follow()

    def cleanup(self, *_event: Any) -> None:
        """The Segment Editor ends, or the scene is closed."""
        self.activate(False)
        self._observers.removeObservers()
        self._soon.stop()
        self._own = {}
        self._cached.forget()

    # --- points

    @property
    def clicks(self) -> Any:
        """The points of the selected segment; None while the effect is not active."""
        return self._seen.clicks

    def click(self, position: Any, background: bool = False) -> None:
        """Place a point of the selected segment at a position (R, A, S in mm) of the world."""
        self.follow()  # another segment may have been selected just now
        if self.clicks is not None:
            self.clicks.add(position, background)
            self.follow()

    def _inputs(self) -> Inputs:
        """Read the inputs as they are now, and observe their nodes."""
        node, scene = self._effect.parameterSetNode(), slicer.mrmlScene
        self._observers.removeObservers()
        if node is None:
            return Inputs()
        segmentation_node, volume = node.GetSegmentationNode(), node.GetSourceVolumeNode()
        self._observers.addObserver(scene, scene.StartCloseEvent, self.cleanup)
        self._observe(node, volume, segmentation_node)
        image = volume.GetImageData() if volume is not None else None
        if segmentation_node is None or image is None:
            return Inputs()
        segmentation, segment_id = segmentation_node.GetSegmentation(), node.GetSelectedSegmentID()
        geometry = slicer.vtkSegmentationConverter.GetReferenceImageGeometryParameterName()
        above = [each.GetParentTransformNode() for each in (volume, segmentation_node)]
        moved = [(each, each and each.GetTransformToWorldMTime()) for each in above]
        grid = segmentation.GetConversionParameter(geometry), volume, image.GetMTime(), moved
        limits = node.GetSourceVolumeIntensityMask(), node.GetSourceVolumeIntensityMaskRange()
        masking = node.GetMaskMode(), node.GetMaskSegmentID(), limits
        found = Inputs(segmentation_node, grid, masking, segmentation.GetSegmentIDs())
        clicks = Clicks(segmentation_node, segment_id)
        self._observe(segmentation, *clicks.nodes.values())
        if not self._active or segment_id not in found.segments:
            return found
        return found._replace(clicks=clicks, points=clicks.positions)

    def _observe(self, *nodes: Any) -> None:
        for node in filter(None, nodes):
            event = vtk.vtkCommand.AnyEvent
            self._observers.addObserver(node, event, lambda *_: self._soon.start())

    def follow(self) -> None:
        """Switch to the segment that is selected; compute again where an input has changed."""
        now, seen = self._inputs(), self._seen
        self._seen = now
        if now.clicks != seen.clicks:
            for clicks, shown in ((seen.clicks, False), (now.clicks, True)):
                for node in clicks.nodes.values() if clicks is not None else ():
                    node.SetDisplayVisibility(shown)
            if self._found is None and not self.run.pending:
                self._stop()  # the sentence is of another segment
                self._asked = ((), {})
        elif now.points != seen.points:
            self._pending.add(now.clicks.segment_id)
        if now[:2] != seen[:2]:
            self._own = {}
        if now.segmentation_node is not seen.segmentation_node:  # where the same IDs name others
            self._pending = set()
        pending = self._pending.intersection(now.segments) if now.clicks is not None else ()
        points = {each: Clicks(now.segmentation_node, each).positions for each in pending}
        points = {each: placed for each, placed in points.items() if any(placed)}
        asked, gone = (now[:3], points), self._asked[1].keys() - points.keys()
        if now[:2] != seen[:2] or gone:
            self._stop()  # else the result of a run for other voxels or segments would be shown
        if points and asked != self._asked:
            self._request()
        self._asked = asked
        self._show()

    def _on_clear(self) -> None:
        for node in self.clicks.nodes.values():
            remove_node(node)
        self.follow()

    def _on_more(self, value: float) -> None:
        self.clicks.set_more(value)
        self._pending.add(self.clicks.segment_id)
        self.follow()
        if self._found is not None:
            self._draw()
        elif not self.run.pending:  # it has failed
            self._request()

    def _on_centrelines(self) -> None:
        segment_id = self.clicks.segment_id
        if not self._voxels(segment_id).any():
            text = _("The segment is empty: place points and press Apply first.")
            self.ui.sentenceLabel.text = text
            return
        parameters = slicer.util.getModuleWidget(SKELETON).logic.getParameterNode()
        parameters.input, parameters.segment = self._seen.segmentation_node, segment_id
        slicer.util.selectModule(SKELETON)

    # --- the preview

    def _request(self) -> None:
        self._found, self._apply_soon = None, False
        self.ui.sentenceLabel.text = _("Looking for the vessel ...")
        self.run.request()

    def _read(self) -> EditorRun:
        node, image = self._effect.parameterSetNode(), self._effect.sourceVolumeImageData()
        return EditorRun(node, image, self._pending)

    def _take(self, found: EditorRun) -> None:
        self._found = found
        self.follow()  # a segment may have been removed just now
        if self._found is not None:
            self._draw()
            if self._apply_soon and not self.run.pending:
                self.apply()

    def _draw(self) -> None:
        """Show the vessels of all pending segments, as much of each as is wanted."""
        run, node = self._found, self._seen.segmentation_node
        shown = np.zeros(run.shape, np.uint8)
        colors, lines, self._labels = [], [], {}
        for number, segment_id in enumerate(run.vessels, 1):
            more = Clicks(node, segment_id).more
            self._labels[segment_id] = labels = run.labels(segment_id, more)
            shown[labels] = number
            segment = node.GetSegmentation().GetSegment(segment_id)
            colors.append(segment.GetColor())
            volume = np.count_nonzero(labels) * run.millilitres
            lines.append(_("{name} {ml:.2f} ml").format(name=segment.GetName(), ml=volume))
        self._preview.show(shown, run.ijk_to_segmentation, node.GetTransformNodeID(), colors)
        text = _("Preview: {volumes}.").format(volumes=", ".join(lines))
        self.ui.sentenceLabel.text = "\n".join([text, *map(worded, run.notes)])
        self._show()

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
        self.ui.sentenceLabel.text = ""
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
        if self._found is None or self.run.pending:  # then as soon as all is computed
            self._pending.add(self.clicks.segment_id)
            self.follow()
            if not self.run.pending:
                self._request()
            self._apply_soon = True
            return
        self.cancel()
        self._effect.saveStateForUndo()
        for segment_id, labels in self._labels.items():
            self._write(segment_id, labels)

    def _write(self, segment_id: str, wanted: np.ndarray) -> None:
        node, base = self._seen.segmentation_node, slicer.qSlicerSegmentEditorAbstractEffect
        segment = node.GetSegmentation().GetSegment(segment_id)
        before, own = self._voxels(segment_id), np.zeros_like(wanted)
        np.put(own, self._own.get((segment_id, tag_text(segment, APPLIED)), ()), True)
        for voxels, mode in (
            (own & ~wanted, base.ModificationModeRemove),
            (wanted, base.ModificationModeAdd),
        ):
            modifier = self._effect.defaultModifierLabelmap()
            array_from_image(modifier)[:] = voxels
            modifier.Modified()
            self._effect.modifySegmentByLabelmap(node, segment_id, modifier, mode)
        own = self._voxels(segment_id) & (own | ~before)
        tag = uuid4().hex
        segment.SetTag(APPLIED, tag)
        self._own[segment_id, tag] = np.flatnonzero(own).astype(np.uint32)

    def _voxels(self, segment_id: str) -> np.ndarray:
        """The voxels of a segment, on those that the editor edits."""
        image = slicer.vtkOrientedImageData()
        self._seen.segmentation_node.GetBinaryLabelmapRepresentation(segment_id, image)
        return voxels_on(image, self._effect.sourceVolumeImageData())

    def cancel(self) -> None:
        """Drop the preview; the points stay."""
        self._pending = set()
        self.follow()
