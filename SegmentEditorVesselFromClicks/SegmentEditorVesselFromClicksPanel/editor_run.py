"""A run on the voxels that the Segment Editor edits: its settings and points in, labels out.

The editor resamples the source volume to the segmentation's reference geometry, which may be
cropped, turned or of another spacing. Points are in the world; the segmentation's frame is the one
below its parent transform.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import slicer

from FuzzyConnectedGPULib import relabel, segment
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import inside, points_to_voxels, voxel_volume
from FuzzyVesselCoreLib.mrml.images import array_from_image, image_from_array
from FuzzyVesselCoreLib.mrml.reading import (
    ijk_to_ras,
    image_to_world,
    matrix_from_array,
    transform_between,
    transformed,
)
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import label_components

from .segment_points import BACKGROUND, VESSEL, Clicks


def masking_of(editor_node: Any) -> tuple:
    """The settings of *Masking*: equal where the same voxels may be edited."""
    limits = editor_node.GetSourceVolumeIntensityMask() and tuple(
        editor_node.GetSourceVolumeIntensityMaskRange()
    )
    return editor_node.GetMaskMode(), editor_node.GetMaskSegmentID(), limits


class EditorRun:
    """All that the vessels of some segments are computed from, as arrays.

    `source_image` is the source volume on the editor's voxels; `wanted` are the IDs of the segments
    whose vessels are computed, and those of others with points share. Tissue and noise are those
    of the whole editable area: an intensity range that holds vessels alone would leave nothing to
    tell them from. `InputError` where no wanted segment has a point where it may be edited.
    `vessels` has the segments that were computed: number and `Segmentation` by their IDs.
    """

    def __init__(self, editor_node: Any, source_image: Any, wanted: Sequence[str]) -> None:
        self._node = node = editor_node.GetSegmentationNode()
        if source_image is None or source_image.GetPointData().GetScalars() is None:
            raise _apart()
        self.ijk_to_segmentation = image_to_world(source_image)
        self.millilitres = voxel_volume(self.ijk_to_segmentation) / 1000
        self._spacing = tuple(source_image.GetSpacing()[::-1])
        self._voxels = array_from_image(source_image).copy()  # the editor reuses the array
        scanned = _scanned(source_image, editor_node.GetSourceVolumeNode(), node)
        self._area = _both(_editable(editor_node, source_image), scanned)
        self._in_range = _in_range(editor_node, self._voxels)
        self.notes: list[str] = []
        self.points: dict[str, np.ndarray] = {}
        self._background: dict[str, np.ndarray] = {}
        self.vessels: dict[str, tuple[int, Any]] = {}
        self._read_points(wanted)

    def _read_points(self, wanted: Sequence[str]) -> None:
        allowed = _both(self._area, self._in_range)
        for each in self._node.GetSegmentation().GetSegmentIDs():
            clicks, own = Clicks(self._node, each), each in wanted
            voxels = self._inside(clicks.points(VESSEL), allowed, own)
            voxels = _without(voxels, *self.points.values())
            if len(voxels):
                self.points[each] = voxels
            if own:
                self._background[each] = self._inside(clicks.points(BACKGROUND), None, own)
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
        own = transformed(transform_between(None, self._node), placed.world)
        voxels = points_to_voxels(own, self.ijk_to_segmentation)
        hit = inside(voxels, self._voxels.shape)
        if allowed is not None:
            hit[hit] = allowed[tuple(voxels[hit].T)]
        missed = ", ".join(label for label, found in zip(placed.labels, hit) if not found)
        if missed and said:
            text = _("Left out, because nothing may be edited there: {points}.")
            self.notes.append(text.format(points=missed))
        return voxels[hit]

    def compute(self, progress: Any = None, cached: Any = None, device: str = "auto") -> Any:
        """Compute the vessels of the wanted segments, and return itself; no node is read."""
        for each in self._wanted:
            others = [voxels for key, voxels in self.points.items() if key != each]
            background = _without(self._background[each], *others)
            found = segment(
                self._voxels,
                self.points,
                spacing=self._spacing,
                background_seeds=background if len(background) else None,
                mask=self._area,
                device=device,
                progress=progress,
                cached=cached,
            )
            self.vessels[each] = 1 + list(self.points).index(each), found
            self.notes += [note for note in found.scene.notes if note not in self.notes]
        return self

    def labels(self, segment_id: str, more: float = 0.0) -> np.ndarray:
        """Labels (K, J, I; bool) of a segment with more (up to 1) or less (down to -1)."""
        number, found = self.vessels[segment_id]
        labels = relabel(found.scene, 0.5 - 0.4 * more, owners=found.owners).labels == number
        if self._in_range is None:
            return labels
        # Vessels stay in the intensity range, connected there with their points.
        components = label_components(labels & self._in_range)[0]
        held = np.unique(components[tuple(self.points[segment_id].T)])
        return np.isin(components, held[held > 0])


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
    matrix = matrix_from_array(ijk_to_ras(volume_node))
    ones, reached = slicer.vtkOrientedImageData(), slicer.vtkOrientedImageData()
    image_from_array(np.ones(volume_node.GetImageData().GetDimensions()[::-1], np.uint8), ones)
    ones.SetGeometryFromImageToWorldMatrix(matrix)
    transform = transform_between(volume_node, segmentation_node)
    slicer.vtkOrientedImageDataResample.ResampleOrientedImageToReferenceOrientedImage(
        ones, source_image, reached, False, False, transform
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


def _both(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    """The voxels that two masks have in common; None stands for all of them."""
    if one is None or other is None:
        return one if other is None else other
    return one & other


def _without(voxels: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The voxels (n, 3) that are not among the others."""
    taken = {tuple(each) for other in others for each in other.tolist()}
    return voxels[np.array([tuple(each) not in taken for each in voxels.tolist()], bool)]
