"""Points that hand a branch over: the branch that begins there belongs to the point's vessel.

Such a point lies in the list of the vessel that gets the branch. Its description says so, with a
number that keeps the order; it is saved, moved, deleted and undone like every point.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import HandOver
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.translation import tr as _

WORD = "hand-over"


def is_hand_over(node: Any, index: int) -> bool:
    """Whether a control point hands a branch over."""
    return node.GetNthControlPointDescription(index).startswith(WORD)


def is_seed(node: Any, index: int) -> bool:
    """Whether a control point lies in its own vessel, as most do."""
    return not is_hand_over(node, index)


def mark_hand_over(lists: Sequence[Any], node: Any, index: int) -> None:
    """Let a control point hand over the branch that begins there.

    Parameters
    ----------
    lists : sequence of vtkMRMLMarkupsFiducialNode
        Of all vessels: the point is the last one of all hand-overs.
    node : vtkMRMLMarkupsFiducialNode
        Of the vessel that gets the branch.
    index : int
    """
    last = max((_number(*each) for each in _points(lists)), default=0)
    node.SetNthControlPointDescription(index, f"{WORD} {last + 1}")


def hand_overs_of(
    lists: Sequence[Any], volume_node: Any, shape: tuple[int, ...]
) -> tuple[list[HandOver], list[str]]:
    """The branches that points hand over, in their order, and warnings on points outside."""
    found, warnings = [], []
    for node, index in sorted(_points(lists), key=lambda each: _number(*each)):
        points = placed_points(node, partial(_is_index, index))
        if not points.labels:
            continue
        voxel = points_in_volume(volume_node, points.world)
        name = points.labels[0]
        if not inside(voxel, shape)[0]:
            warnings.append(
                _("{name} lies outside of the volume and hands no branch over.").format(name=name)
            )
            continue
        label = list(lists).index(node) + 1
        k, j, i = voxel[0].tolist()
        found.append(HandOver((k, j, i), label, name))
    return found, warnings


def seed_voxels(node: Any, volume_node: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The voxels (K, J, I; n x 3) of a vessel's own points that lie in the volume."""
    points = placed_points(node, is_seed)
    if not points.labels:
        return np.empty((0, 3), np.int64)
    voxels = points_in_volume(volume_node, points.world)
    return voxels[inside(voxels, shape)]


def _is_index(wanted: int, _node: Any, index: int) -> bool:
    return index == wanted


def _points(lists: Sequence[Any]) -> list[tuple[Any, int]]:
    return [
        (node, index)
        for node in lists
        if node is not None
        for index in range(node.GetNumberOfControlPoints())
        if is_hand_over(node, index)
    ]


def _number(node: Any, index: int) -> int:
    digits = node.GetNthControlPointDescription(index)[len(WORD) :].strip()
    return int(digits) if digits.isdigit() else 0
