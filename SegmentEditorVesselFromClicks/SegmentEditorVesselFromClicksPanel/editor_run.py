"""A run on the voxels that the Segment Editor edits: its settings and points in, labels out.

The editor resamples the source volume to the segmentation's reference geometry, which may be
cropped, turned or of another spacing. Points are in the world; the segmentation's frame is the one
below its parent transform.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import slicer
import vtk

from FuzzyConnectedGPULib import relabel, segment
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import inside, points_to_voxels, voxel_volume
from FuzzyVesselCoreLib.mrml.images import array_from_image, image_from_array
from FuzzyVesselCoreLib.mrml.reading import array_from_matrix
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.labels import label_components

from .clicks import BACKGROUND, VESSEL, Clicks


def masking_of(editor_node: Any) -> tuple:
    """The settings of *Masking*: equal where the same voxels may be edited."""
    limits = editor_node.GetSourceVolumeIntensityMask() and tuple(
        editor_node.GetSourceVolumeIntensityMaskRange()
    )
    return editor_node.GetMaskMode(), editor_node.GetMaskSegmentID(), limits


@dataclass(frozen=True)
class Found:
    """Vessels that were computed: the run, and segment ID -> number and `Segmentation`."""

    run: "EditorRun"
    vessels: dict[str, tuple[int, Any]]

    def labels(self, segment_id: str, more: float = 0.0) -> np.ndarray:
        """Labels (K, J, I; bool) of a segment with more (up to 1) or less (down to -1)."""
        number, found = self.vessels[segment_id]
        threshold = 0.5 - 0.4 * min(max(more, -1.0), 1.0)
        labels = relabel(found.scene, threshold, owners=found.owners).labels == number
        if self.run.in_range is None:
            return labels
        # Vessels stay in the intensity range, connected there with their points.
        components = label_components(labels & self.run.in_range)[0]
        seeds = self.run.points[segment_id]
        held = np.unique(components[tuple(seeds.T)])
        return np.isin(components, held[held > 0])


class EditorRun:
    """All that the vessels of some segments are computed from, as arrays.

    `source_image` is the source volume on the editor's voxels; `wanted` are the IDs of the segments
    whose vessels are computed, and those of others with points share. Tissue and noise are those
    of the whole editable area: an intensity range that holds vessels alone would leave nothing to
    tell them from. `InputError` where no wanted segment has a point where it may be edited.
    """

    def __init__(self, editor_node: Any, source_image: Any, wanted: Sequence[str]) -> None:
        self._node = node = editor_node.GetSegmentationNode()
        if source_image is None or source_image.GetPointData().GetScalars() is None:
            raise _apart()
        matrix, first = vtk.vtkMatrix4x4(), np.eye(4)
        source_image.GetImageToWorldMatrix(matrix)
        first[:3, 3] = source_image.GetExtent()[::2]
        self.ijk_to_segmentation = array_from_matrix(matrix) @ first
        self.millilitres = voxel_volume(self.ijk_to_segmentation) / 1000
        self._spacing = tuple(source_image.GetSpacing()[::-1])
        self._voxels = array_from_image(source_image).copy()  # the editor fills them anew
        scanned = _scanned(source_image, editor_node.GetSourceVolumeNode(), node)
        self._area = _both(_editable(editor_node, source_image), scanned)
        self.in_range = _in_range(editor_node, self._voxels)
        self.notes: list[str] = []
        self._read_points(wanted)

    def _read_points(self, wanted: Sequence[str]) -> None:
        allowed = _both(self._area, self.in_range)
        self.points: dict[str, np.ndarray] = {}
        self._background: dict[str, np.ndarray] = {}
        for each in self._node.GetSegmentation().GetSegmentIDs():
            clicks, own = Clicks(self._node, each), each in wanted
            voxels = self._inside(clicks.points(VESSEL), allowed, own)
            if len(voxels):
                self.points[each] = _without(voxels, *self.points.values())
            if own:
                self._background[each] = self._inside(clicks.points(BACKGROUND), None, own)
        self.points = {each: voxels for each, voxels in self.points.items() if len(voxels)}
        self._wanted = [each for each in wanted if each in self.points]
        if not self._wanted:
            raise InputError(
                _(
                    "No vessel point lies where it may be edited: click inside the source volume, "
                    "the editable area and the editable intensity range."
                )
                if self.notes
                else _("Click into a vessel first.")
            )

    def _inside(self, placed: Any, allowed: Any, said: bool) -> np.ndarray:
        """The voxels of points where it may be edited; which were left out is noted."""
        to_own = _between(None, self._node)
        own = np.array([to_own.TransformPoint(each) for each in placed.world]).reshape(-1, 3)
        voxels = points_to_voxels(own, self.ijk_to_segmentation)
        hit = inside(voxels, self._voxels.shape)
        if allowed is not None:
            hit[hit] = allowed[tuple(voxels[hit].T)]
        missed = ", ".join(label for label, found in zip(placed.labels, hit) if not found)
        if missed and said:
            text = _("Left out, because nothing may be edited there: {points}.")
            self.notes.append(text.format(points=missed))
        return voxels[hit]

    def compute(self, progress: Any = None, cached: Any = None, device: str = "auto") -> Found:
        """The vessels of the wanted segments; no node is read."""
        found = {}
        for each in self._wanted:
            others = [voxels for key, voxels in self.points.items() if key != each]
            background = _without(self._background[each], *others)
            segmented = segment(
                self._voxels,
                self.points,
                spacing=self._spacing,
                background_seeds=background if len(background) else None,
                mask=self._area,
                device=device,
                progress=progress,
                cached=cached,
            )
            found[each] = 1 + list(self.points).index(each), segmented
        notes = [note for _n, each in found.values() for note in each.scene.notes]
        self.notes += list(dict.fromkeys(notes))
        return Found(self, found)


def _editable(editor_node: Any, source_image: Any) -> np.ndarray | None:
    """The voxels of the editable area, whatever their intensity; None for all."""
    node, mode = editor_node.GetSegmentationNode(), editor_node.GetMaskMode()
    if mode == slicer.vtkMRMLSegmentationNode.EditAllowedEverywhere:
        return None
    refused = slicer.vtkOrientedImageData()
    ids = editor_node.GetSelectedSegmentID() or "", editor_node.GetMaskSegmentID() or ""
    done = node.GenerateEditMask(refused, mode, source_image, *ids)
    area = array_from_image(refused) == 0 if done else np.zeros(1, bool)
    if not area.any():
        raise InputError(_("The editable area is empty: choose another one under Masking."))
    return area


def _in_range(editor_node: Any, voxels: np.ndarray) -> np.ndarray | None:
    """The voxels within the editable intensity range; None for all."""
    if not editor_node.GetSourceVolumeIntensityMask():
        return None
    lowest, highest = editor_node.GetSourceVolumeIntensityMaskRange()
    within = (voxels >= lowest) & (voxels <= highest)
    if not within.any():
        text = _("No voxel is within the editable intensity range of {lowest:g} to {highest:g}: ")
        text += _("change it under Masking.")
        raise InputError(text.format(lowest=lowest, highest=highest))
    return within


def _scanned(source_image: Any, volume_node: Any, segmentation_node: Any) -> np.ndarray | None:
    """Which voxels the source volume reaches (elsewhere the editor fills in); None for all."""
    matrix = vtk.vtkMatrix4x4()
    volume_node.GetIJKToRASMatrix(matrix)
    ones, reached = slicer.vtkOrientedImageData(), slicer.vtkOrientedImageData()
    image_from_array(np.ones(volume_node.GetImageData().GetDimensions()[::-1], np.uint8), ones)
    ones.SetGeometryFromImageToWorldMatrix(matrix)
    slicer.vtkOrientedImageDataResample.ResampleOrientedImageToReferenceOrientedImage(
        ones, source_image, reached, False, False, _between(volume_node, segmentation_node)
    )
    area = array_from_image(reached) > 0
    if not area.any():
        raise _apart()
    return None if area.all() else area


def _apart() -> InputError:
    return InputError(
        _(
            "The source volume lies outside the segmentation's geometry: choose another source "
            "volume, or specify the geometry again (button beside the source volume)."
        )
    )


def _between(source_node: Any, target_node: Any) -> Any:
    """From one node's frame to another's; None is the world."""
    parents = [each and each.GetParentTransformNode() for each in (source_node, target_node)]
    transform = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(*parents, transform)
    return transform


def _both(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    """The voxels that two masks have in common; None stands for all of them."""
    if one is None or other is None:
        return one if other is None else other
    return one & other


def _without(voxels: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The voxels (n, 3) that are none of the others."""
    taken = {tuple(each) for other in others for each in other.tolist()}
    return voxels[np.array([tuple(each) not in taken for each in voxels.tolist()], bool)]
