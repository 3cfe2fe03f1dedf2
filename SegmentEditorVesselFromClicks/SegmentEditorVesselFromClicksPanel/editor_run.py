"""What the Segment Editor edits with: the points of a segment, and a run on the editor's voxels.

The editor resamples the source volume to the segmentation's reference geometry, which may be
cropped, turned or of another spacing. Points are in the world; the segmentation's frame is the one
below its parent transform.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import slicer

from FuzzyConnectedGPULib import relabel, segment
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import (
    BACKGROUND_COLOR,
    PlacedPoints,
    inside,
    paint,
    placed_points,
    points_to_voxels,
)
from FuzzyVesselCoreLib.mrml.reading import (
    array_from_image,
    ijk_to_ras,
    image_from_array,
    image_to_world,
    oriented_grid,
    transform_between,
    transformed,
    voxel_volume,
    voxels_on,
)
from FuzzyVesselCoreLib.mrml.writing import new_nodes, put_beside
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import label_components

# Of a list: attributes, and the reference to its segmentation.
KIND, SEGMENT, MORE = "FuzzyVesselGPU.Clicks", "FuzzyVesselGPU.SegmentID", "FuzzyVesselGPU.More"
SEGMENTATION = "FuzzyVesselGPU.Segmentation"
VESSEL, BACKGROUND = "vessel", "background"
POINTS = "vtkMRMLMarkupsFiducialNode"


@dataclass(frozen=True)
class Clicks:
    """The points of a segment: two lists of the scene, one of vessel and one of background points.

    They are found again by what they refer to, so they are saved with the scene and outlive the
    effect.
    """

    segmentation_node: Any
    segment_id: str

    @property
    def nodes(self) -> dict[str, Any]:
        """The lists that there are, by their kind."""
        return {
            node.GetAttribute(KIND): node
            for node in slicer.util.getNodesByClass(POINTS)
            if node.GetAttribute(SEGMENT) == self.segment_id
            and node.GetNodeReference(SEGMENTATION) is self.segmentation_node
        }

    def points(self, kind: str) -> PlacedPoints:
        """The placed points of a kind, in the world."""
        node = self.nodes.get(kind)
        return PlacedPoints([], np.empty((0, 3)), []) if node is None else placed_points(node)

    @property
    def positions(self) -> tuple[list, list]:
        """Positions in the world of the points in the vessel, and of those in the background."""
        return self.points(VESSEL).world.tolist(), self.points(BACKGROUND).world.tolist()

    def add(self, position: Any, background: bool = False) -> None:
        """Place a point at a position of the world."""
        kind = BACKGROUND if background else VESSEL
        last = max(self._order(), default=(0,))[0]
        node = self.nodes.get(kind) or self._new(kind)
        index = node.AddControlPointWorld(position)
        # Which of both lists has the last point is to be seen from the points alone.
        node.SetNthControlPointDescription(index, str(last + 1))

    def remove_last(self) -> None:
        """Remove the point that was placed last."""
        _order, kind, index = max(self._order())
        self.nodes[kind].RemoveNthControlPoint(index)

    @property
    def more(self) -> float:
        """How much more (up to 1) or less (down to -1) of the vessel is wanted."""
        node = self.nodes.get(VESSEL)
        return float((node and node.GetAttribute(MORE)) or 0)

    def set_more(self, value: float) -> None:
        """Say how much is wanted; it is saved with the vessel points."""
        self.nodes[VESSEL].SetAttribute(MORE, f"{value:g}")

    def _new(self, kind: str) -> Any:
        segment = self.segmentation_node.GetSegmentation().GetSegment(self.segment_id)
        with new_nodes() as add:  # the user's own list stays the one that clicks go into
            node = add(POINTS, f"{segment.GetName()} {kind}")
        node.SetAttribute(KIND, kind)
        node.SetAttribute(SEGMENT, self.segment_id)
        node.SetNodeReferenceID(SEGMENTATION, self.segmentation_node.GetID())
        node.SetControlPointLabelFormat(f"{kind[0]}%d")
        paint(node, segment.GetColor() if kind == VESSEL else BACKGROUND_COLOR)
        put_beside([node], self.segmentation_node)
        return node

    def _order(self) -> list[tuple[int, str, int]]:
        """Order, kind and index of each point; the greatest is that of the one placed last."""
        return [
            (int(node.GetNthControlPointDescription(index) or 0), kind, index)
            for kind, node in self.nodes.items()
            for index in range(node.GetNumberOfControlPoints())
        ]


class EditorRun:
    """All that the vessels of some segments are computed from, as arrays.

    `image` is the source volume on the editor's voxels; `wanted` are the IDs of the segments whose
    vessels are computed, and those of others with points share. Tissue and noise are those of the
    whole editable area: an intensity range that holds vessels alone would leave nothing to tell
    them from. `InputError` where no wanted segment has a point where it may be edited. `vessels`
    has the `Segmentation` of each segment that was computed, by its ID.
    """

    def __init__(self, editor_node: Any, image: Any, wanted: Collection[str]) -> None:
        self._node = node = editor_node.GetSegmentationNode()
        self.ijk_to_segmentation = image_to_world(image)
        self.millilitres = voxel_volume(self.ijk_to_segmentation) / 1000
        self._spacing = tuple(image.GetSpacing()[::-1])
        self._voxels = array_from_image(image).copy()  # the editor reuses the array
        self.shape = self._voxels.shape
        ids = editor_node.GetSelectedSegmentID() or "", editor_node.GetMaskSegmentID() or ""
        refused = slicer.vtkOrientedImageData()  # by *Masking*, whatever the intensity
        node.GenerateEditMask(refused, editor_node.GetMaskMode(), image, *ids)
        volume = editor_node.GetSourceVolumeNode()
        ones = np.ones(volume.GetImageData().GetDimensions()[::-1], np.uint8)
        scanned = image_from_array(ones, oriented_grid(ijk_to_ras(volume), ones.shape), copy=False)
        # Elsewhere the editor fills in.
        self._area = voxels_on(scanned, image, transform_between(volume, node))
        self._area &= array_from_image(refused) == 0
        allowed, self._in_range = self._area, None  # None: of any intensity
        if editor_node.GetSourceVolumeIntensityMask():
            lowest, highest = editor_node.GetSourceVolumeIntensityMaskRange()
            self._in_range = (self._voxels >= lowest) & (self._voxels <= highest)
            allowed = self._area & self._in_range
        self.notes: list[str] = []
        self._points: dict[str, list[tuple]] = {}
        self._background: dict[str, list[tuple]] = {}  # of the wanted segments
        self.vessels: dict[str, Any] = {}
        for each in node.GetSegmentation().GetSegmentIDs():
            clicks, own = Clicks(node, each), each in wanted
            if voxels := self._inside(clicks.points(VESSEL), allowed, own):
                self._points[each] = voxels
                if own:
                    placed = clicks.points(BACKGROUND)
                    self._background[each] = self._inside(placed, self._area, own)
        if not self._background:
            text = _(
                "No vessel point lies where it may be edited: click into a vessel, inside the "
                "source volume, the editable area and the editable intensity range."
            )
            raise InputError(text)

    def _inside(self, placed: Any, allowed: np.ndarray, said: bool) -> list[tuple]:
        """The voxels of points where it may be edited; which were left out is noted."""
        own = transformed(transform_between(None, self._node), placed.world)
        voxels = points_to_voxels(own, self.ijk_to_segmentation)
        hit = inside(voxels, allowed.shape)
        hit[hit] = allowed[tuple(voxels[hit].T)]
        missed = ", ".join(label for label, found in zip(placed.labels, hit) if not found)
        if missed and said:
            text = _("Left out, because nothing may be edited there: {points}.")
            self.notes.append(text.format(points=missed))
        return list(map(tuple, voxels[hit].tolist()))

    def compute(self, progress: Any, cached: Any) -> Any:
        """Compute the vessels of the wanted segments, and return itself; no node is read."""
        owners = {voxel: each for each, points in self._points.items() for voxel in points}
        for each, placed in self._background.items():
            background = [at for at in placed if owners.get(at, each) == each]
            self.vessels[each] = found = segment(
                self._voxels,
                self._points,
                spacing=self._spacing,
                background_seeds=background or None,
                mask=None if self._area.all() else self._area,
                progress=progress,
                cached=cached,
            )
            self.notes += [note for note in found.scene.notes if note not in self.notes]
        return self

    def labels(self, segment_id: str, more: float = 0.0) -> np.ndarray:
        """Labels (K, J, I; bool) of a segment with more (up to 1) or less (down to -1)."""
        found, number = self.vessels[segment_id], 1 + list(self._points).index(segment_id)
        labels = relabel(found.scene, 0.5 - 0.4 * more, owners=found.owners).labels == number
        if self._in_range is None:
            return labels
        # Vessels stay in the intensity range, connected there with their points.
        components = label_components(labels & self._in_range)[0]
        held = np.unique(components[tuple(np.transpose(self._points[segment_id]))])
        return np.isin(components, held[held > 0])
