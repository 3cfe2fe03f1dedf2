"""The effect at work: points are placed, the preview follows, Apply writes the segments."""

from pathlib import Path
from typing import Any

import numpy as np
import slicer
import vtk
from slicer.i18n import tr as _
from slicer.util import VTKObservationMixin

from FuzzyConnectedGPULib import CachedConnectedness
from FuzzyConnectedGPUMRML.views import LabelPreview
from FuzzyConnectedGPUPanel.wording import worded
from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.mrml.images import array_from_image
from FuzzyVesselCoreLib.widgets.run import LatestRun

from .editor_run import EditorRun, masking_of
from .segment_points import BACKGROUND, VESSEL, Clicks

SKELETON = "PotentialSkeleton"
UI = Path(__file__).parents[1] / "Resources" / "UI" / "SegmentEditorVesselFromClicks.ui"


class LiveVessel:
    """Points and preview while the effect is active.

    Segments whose changes have been neither applied nor cancelled are pending: the preview shows
    them all, and Apply writes them all.
    """

    def __init__(self, scripted_effect: Any) -> None:
        self._effect, self._cached = scripted_effect, CachedConnectedness()
        self._observers, self._lists = VTKObservationMixin(), VTKObservationMixin()
        self._clicks: Clicks | None = None  # of the selected segment
        self._placed: dict[str, list] = {}  # positions of its points by their kinds, and ..
        self._settings: tuple = (None, 0)  # .. masking and time of the volume, as seen last
        self._segmentation: Any = None  # whose segments those that are pending are
        self._pending: list[str] = []
        self._found: Any = None  # the EditorRun that the preview shows
        self._apply_soon = False
        self._own: dict[str, np.ndarray] = {}  # voxels that Apply added to a segment
        self._preview = LabelPreview(_("Vessel from clicks preview"))
        self._run = LatestRun(self._read, self._compute, self._take, self._fail)
        window = slicer.util.loadUI(str(UI))
        scripted_effect.addOptionsWidget(window)
        ui = self.ui = slicer.util.childWidgetVariables(window)
        ui.moreSlider.connect("valueChanged(double)", self._on_more)
        for button, slot in (
            (ui.lastButton, lambda: self._clicks.remove_last()),
            (ui.clearButton, self._on_clear),
            (ui.cancelButton, self.cancel),
            (ui.applyButton, self.apply),
            (ui.centrelinesButton, self._on_centrelines),
        ):
            button.connect("clicked()", slot)

    # --- calls of the Segment Editor

    def activate(self) -> None:
        """The effect is chosen, or the source volume or geometry has changed."""
        node, scene = self._effect.parameterSetNode(), slicer.mrmlScene
        self._observers.removeObservers()
        self._observers.addObserver(node, vtk.vtkCommand.ModifiedEvent, self._follow)
        self._observers.addObserver(scene, scene.StartCloseEvent, self._on_close)
        volume, events = node.GetSourceVolumeNode(), slicer.vtkMRMLVolumeNode
        for each in filter(None, (volume, node.GetSegmentationNode())):
            self._observers.addObserver(each, events.TransformModifiedEvent, self.inputs_changed)
        for event in (vtk.vtkCommand.ModifiedEvent, events.ImageDataModifiedEvent):
            if volume is not None:
                self._observers.addObserver(volume, event, self._follow)
        self._follow(anew=True)

    def deactivate(self) -> None:
        """Another effect is chosen, or none; points and what was not applied stay for later."""
        self._observers.removeObservers()
        self._stop()
        self._turn_to(None)

    def cleanup(self) -> None:
        """The Segment Editor ends."""
        self.deactivate()
        self._cached.forget()

    def inputs_changed(self, *_event: Any) -> None:
        """Source volume or geometry have changed: the preview does not fit any more."""
        self._own.clear()
        self._stop()
        if self._clicks is not None:
            self.activate()

    def _on_close(self, caller: Any, event: Any) -> None:
        self.cleanup()
        self._segmentation, self._pending, self._own = None, [], {}

    # --- points

    def _follow(self, caller: Any = None, event: Any = None, anew: bool = False) -> None:
        """Turn to the segment that is selected; compute where its points or settings changed."""
        node, settings = self._effect.parameterSetNode(), self._settings
        segmentation_node, segment_id = node.GetSegmentationNode(), node.GetSelectedSegmentID()
        volume = node.GetSourceVolumeNode()
        image = volume.GetImageData() if volume is not None else None
        self._settings = masking_of(node), image.GetMTime() if image is not None else 0
        if segmentation_node is not self._segmentation:  # where the same IDs name others
            self._stop()
            self._segmentation, self._pending, self._own = segmentation_node, [], {}
        elif self._settings[1] != settings[1]:
            self._own = {}
        there = segmentation_node is not None and segment_id
        there = there and segmentation_node.GetSegmentation().GetSegment(segment_id) is not None
        clicks = Clicks(segmentation_node, segment_id) if there else None
        if clicks != self._clicks:
            self._turn_to(clicks)
            anew = True
        placed, self._placed = self._placed, self._positions()
        if not anew and self._placed != placed:
            self._want()
            self._request()
        elif self._pending and (
            self._found is None if anew else self._settings != settings and self._clicks is not None
        ):
            self._request()
        self._show()

    def _turn_to(self, clicks: Clicks | None) -> None:
        if self._clicks is not None:
            self._clicks.show(False)
        self._clicks = clicks
        self.ui.sentenceLabel.text = "" if self._found is None else self.ui.sentenceLabel.text
        if clicks is not None:
            clicks.show(True)
        self._observe()
        self._placed = self._positions()
        self._show()

    def _observe(self) -> None:
        """Follow the lists that there are now; lists begin with their first point."""
        self._lists.removeObservers()
        for node in self._clicks.nodes.values() if self._clicks is not None else ():
            for event in (
                node.PointModifiedEvent,
                node.PointPositionDefinedEvent,
                node.PointRemovedEvent,
            ):
                self._lists.addObserver(node, event, self._follow)

    def _positions(self) -> dict[str, list]:
        clicks, kinds = self._clicks, (VESSEL, BACKGROUND)
        return {kind: clicks.points(kind).world.tolist() if clicks else [] for kind in kinds}

    def _want(self) -> None:
        if self._clicks is not None and self._clicks.segment_id not in self._pending:
            self._pending.append(self._clicks.segment_id)

    @property
    def waits(self) -> bool:
        """Whether a preview is still to come."""
        return self._run.pending

    def click(self, position: Any, background: bool = False) -> None:
        """Place a point of the selected segment at a position (R, A, S in mm) of the world."""
        if self._clicks is not None:
            self._clicks.add(position, background)
            self._observe()
            self._follow()

    def has_point_near(self, position: Any, reach: float) -> bool:
        """Whether a point of the selected segment is within a distance (mm) of a position."""
        return self._clicks is not None and self._clicks.near(position, reach)

    def _on_clear(self) -> None:
        self._clicks.clear()  # type: ignore[union-attr]
        self._observe()
        self._placed = self._positions()
        self.cancel()

    def _on_more(self, value: float) -> None:
        if self._clicks is None:
            return
        self._clicks.set_more(value)
        self._want()
        if self._found is not None and self._clicks.segment_id in self._found.vessels:
            self._draw()
        else:
            self._request()

    def _on_centrelines(self) -> None:
        image, node = self._effect.selectedSegmentLabelmap(), self._effect.parameterSetNode()
        if image is None or image.IsEmpty():
            self.ui.sentenceLabel.text = _(
                "The segment is empty: place points and press Apply first."
            )
            return
        parameters = slicer.util.getModuleWidget(SKELETON).logic.getParameterNode()
        parameters.input = node.GetSegmentationNode()
        parameters.segment = node.GetSelectedSegmentID()
        slicer.util.selectModule(SKELETON)

    # --- the preview; `_compute` alone runs in another thread

    def _request(self, apply_soon: bool = False) -> None:
        self._found, self._apply_soon = None, apply_soon
        self.ui.sentenceLabel.text = _("Looking for the vessel ...")
        self._run.request()
        self._show()

    def _read(self) -> tuple:
        node, image = self._effect.parameterSetNode(), self._effect.sourceVolumeImageData()
        return EditorRun(node, image, self._pending), self._cached

    @staticmethod
    def _compute(inputs: tuple, progress: Any) -> EditorRun:
        run, cached = inputs
        return run.compute(progress, cached)

    def _take(self, found: EditorRun) -> None:
        self._found = found
        self._draw()
        if self._apply_soon:
            self.apply()

    def _draw(self) -> None:
        """Show the vessels of all pending segments, as much of each as is wanted."""
        run, node, wanted = self._found, self._segmentation, self._wanted()
        if not wanted:
            self.cancel()
            return
        shown = np.zeros(next(iter(wanted.values())).shape, np.uint8)
        colors, lines = [], []
        for number, (segment_id, labels) in enumerate(wanted.items(), 1):
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
        node, found = self._segmentation, self._found
        return {
            each: found.labels(each, Clicks(node, each).more)
            for each in found.vessels
            if node.GetSegmentation().GetSegment(each) is not None
        }

    def _fail(self, error: Exception) -> None:
        self._stop()
        self.ui.sentenceLabel.text = worded(error)
        if not isinstance(error, FuzzyVesselError):
            raise error

    def _stop(self) -> None:
        """Show nothing and compute nothing."""
        if self._run.pending:
            self._run.stop()
        self._found, self._apply_soon = None, False
        self._preview.drop()
        self._show()

    def _show(self) -> None:
        """Show the points, and enable what can be done."""
        vessel, background = (len(self._placed.get(kind, ())) for kind in (VESSEL, BACKGROUND))
        text = _("click in the vessel, Ctrl-click anything that is not")
        if vessel or background:
            text = _("{vessel} in the vessel, {background} in the background")
        self.ui.pointsLabel.text = text.format(vessel=vessel, background=background)
        self.ui.lastButton.enabled = self.ui.clearButton.enabled = bool(vessel or background)
        self.ui.moreSlider.enabled = vessel > 0
        blocked = self.ui.moreSlider.blockSignals(True)
        self.ui.moreSlider.value = self._clicks.more if self._clicks is not None else 0.0
        self.ui.moreSlider.blockSignals(blocked)
        self.ui.applyButton.enabled = self._found is not None or vessel > 0
        self.ui.cancelButton.enabled = self._found is not None or self._run.pending
        self.ui.centrelinesButton.enabled = self._clicks is not None

    # --- what ends a preview

    def apply(self) -> None:
        """Write the pending vessels into their segments, as one step of the editor's undo.

        What was written for the same points before is replaced: a point in a leak takes the leak
        away. What else a segment holds is kept. Masking and overwriting are the editor's.
        """
        if self._found is None:
            self._want()
            self._request(apply_soon=True)
            return
        wanted = self._wanted()
        self.cancel()
        self._effect.saveStateForUndo()
        for segment_id, labels in wanted.items():
            self._write(segment_id, labels)

    def _write(self, segment_id: str, wanted: np.ndarray) -> None:
        base = slicer.qSlicerSegmentEditorAbstractEffect
        held, own = self._held(segment_id), self._own.get(segment_id)
        own = np.zeros_like(held) if own is None or own.shape != held.shape else own & held
        if (gone := own & ~wanted).any():
            self._modify(segment_id, gone, base.ModificationModeRemove)
        self._modify(segment_id, wanted, base.ModificationModeAdd)
        self._own[segment_id] = wanted & (own | ~held)

    def _held(self, segment_id: str) -> np.ndarray:
        """The voxels that a segment holds."""
        like, image = self._effect.defaultModifierLabelmap(), slicer.vtkOrientedImageData()
        self._segmentation.GetBinaryLabelmapRepresentation(segment_id, image)
        if image.IsEmpty():
            return np.zeros(array_from_image(like).shape, bool)
        slicer.vtkOrientedImageDataResample.ResampleOrientedImageToReferenceOrientedImage(
            image, like, image
        )
        return array_from_image(image) > 0

    def _modify(self, segment_id: str, voxels: np.ndarray, mode: Any) -> None:
        modifier = self._effect.defaultModifierLabelmap()
        array_from_image(modifier)[:] = voxels
        modifier.Modified()
        self._effect.modifySegmentByLabelmap(self._segmentation, segment_id, modifier, mode)

    def cancel(self) -> None:
        """Drop the preview; the points stay."""
        self._pending = []
        self._stop()
        self.ui.sentenceLabel.text = ""
