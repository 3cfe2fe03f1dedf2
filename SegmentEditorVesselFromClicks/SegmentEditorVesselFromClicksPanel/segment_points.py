"""The points of a segment: two lists of the scene, one of vessel and one of background points.

They are found again by what they refer to, so they are saved with the scene and outlive the effect.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.mrml.points import BACKGROUND_COLOR, PlacedPoints, paint, placed_points
from FuzzyVesselCoreLib.mrml.writing import all_or_nothing, put_beside, remove_node

# Of a list: attributes, and the reference to its segmentation.
KIND, SEGMENT, MORE = "FuzzyVesselGPU.Clicks", "FuzzyVesselGPU.SegmentID", "FuzzyVesselGPU.More"
SEGMENTATION = "FuzzyVesselGPU.Segmentation"
VESSEL, BACKGROUND = "vessel", "background"
POINTS = "vtkMRMLMarkupsFiducialNode"


@dataclass(frozen=True)
class Clicks:
    """The points of one segment of a vtkMRMLSegmentationNode."""

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

    def add(self, position: Any, background: bool = False) -> None:
        """Place a point at a position of the world."""
        kind = BACKGROUND if background else VESSEL
        last = max(self._order(), default=(0,))[0]
        node = self.nodes.get(kind) or self._new(kind)
        index = node.AddControlPointWorld(position)
        # Which of both lists has the last point is to be seen from the points alone.
        node.SetNthControlPointDescription(index, str(last + 1))

    def near(self, position: Any, reach: float) -> bool:
        """Whether a point lies within a distance (mm) of a position of the world."""
        world = np.vstack([self.points(kind).world for kind in (VESSEL, BACKGROUND)])
        return bool((np.linalg.norm(world - position, axis=1) <= reach).any())

    def remove_last(self) -> None:
        """Remove the point that was placed last."""
        _order, kind, index = max(self._order())
        self.nodes[kind].RemoveNthControlPoint(index)

    def clear(self) -> None:
        """Remove both lists."""
        for node in self.nodes.values():
            remove_node(node)

    def show(self, visible: bool) -> None:
        """Show or hide the points in the views."""
        for node in self.nodes.values():
            node.SetDisplayVisibility(visible)

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
        with all_or_nothing() as add:  # the user's own list stays the one that clicks go into
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
