"""What a volume's axes and its transform mean for lengths."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.reading import array_from_matrix, node_name
from FuzzyVesselCoreLib.translation import tr as _

# Axes this near to right angles (sine of the deviation) count as such: headers are rounded.
RIGHT_ANGLE = 1e-3
# A transform that changes no length by more than this share counts as rigid.
RIGID = 1e-3


def spacing(ijk_to_ras: np.ndarray) -> tuple[float, ...]:
    """Lengths of one step along K, J, I in mm, as floats."""
    lengths = np.linalg.norm(np.asarray(ijk_to_ras)[:3, :3], axis=0)
    return tuple(float(length) for length in lengths[::-1])


def warnings(ijk_to_ras: np.ndarray, node: Any) -> list[str]:
    """Sentences where lengths in voxels times the spacing are not those in the world."""
    found = []
    steps = np.asarray(ijk_to_ras)[:3, :3]
    directions = steps / np.linalg.norm(steps, axis=0)
    skew = np.abs(np.triu(directions.T @ directions, 1)).max()
    if skew > RIGHT_ANGLE:
        found.append(
            _(
                "The axes of {node} are {angle:.1f} degrees off the right angle: positions "
                "are exact, lengths and radii are approximate."
            ).format(node=node_name(node), angle=np.degrees(np.arcsin(skew)))
        )
    transform = node.GetParentTransformNode()
    if transform is not None and not _rigid(transform):
        found.append(
            _(
                "The transform {transform} changes lengths: curves lie where it puts them, "
                "but lengths and radii are those of {node} without it."
            ).format(transform=node_name(transform), node=node_name(node))
        )
    return found


def _rigid(transform: Any) -> bool:
    """Whether all transforms up to the world keep lengths."""
    import slicer
    import vtk

    matrix = vtk.vtkMatrix4x4()
    if not slicer.vtkMRMLTransformNode.GetMatrixTransformBetweenNodes(transform, None, matrix):
        return False
    turn = array_from_matrix(matrix)[:3, :3]
    return np.abs(turn.T @ turn - np.eye(3)).max() <= 2 * RIGID
