"""Straightened views in the scene: a branch or a way as a volume, and from there to the patient."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import (
    ijk_to_ras,
    image_from_array,
    matrix_between,
    matrix_from_array,
    node_name,
    transform_points,
    voxels_of,
)
from FuzzyVesselCoreLib.mrml.writing import all_or_nothing, put_beside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.branch_tools import StraightenedFrames, straightened_frames

from .dividing import vessels_of
from .outputs import ROLE, tree_name

STRAIGHTENED = ROLE + "Straightened"  # attribute: what the frames are made of
WIDTH, WIDEST = 30.0, 5.0  # mm; or so many times the largest diameter
DECIMALS = 4  # of the points and radii that are kept, mm
GAP = 50.0  # mm between the patient and the straightened volume


@dataclass(frozen=True)
class StraightenedNodes:
    """What `Tree.straighten` adds: the volume, and the labelmap of the vessels on the same grid."""

    volumeNode: Any
    labelmapNode: Any


def add_straightened(
    model: Any,
    points: np.ndarray,
    radius: np.ndarray,
    volume_node: Any,
    width: float | None = None,
    progress: Any = None,
) -> StraightenedNodes:
    """Add a volume in which a line of a tree is straight, and its vessels likewise.

    The line (n, 3), R, A, S in the world, with radii (mm), begins at the upper end of the coronal
    and sagittal views. The volume stands to the side of the patient's, so that no view shows both.
    `InputError` where the volume has no voxels or lies under a transform that bends it.
    """
    voxels, solid = voxels_of(volume_node), vessels_of(model)
    to_ijk = _world_to_ijk(volume_node, ijk_to_ras(volume_node))
    to_label = _world_to_ijk(solid.node, solid.ijk_to_ras)
    step = float(np.linalg.norm(np.linalg.inv(to_ijk)[:3, :3], axis=0).min())
    if width is None:
        width = max(WIDTH, WIDEST * 2 * float(np.max(radius)))
    recipe = {
        "points": np.round(points, DECIMALS).tolist(),
        "radius": np.round(radius, DECIMALS).tolist(),
        "width": width,
        "step": step,
    }

    def resampled(_progress: Any) -> list[np.ndarray]:
        frames = _frames(recipe)
        image = frames.resample(voxels, to_ijk, outside=float(voxels.min()))
        return [image, frames.resample(solid.mask.astype(np.uint8), to_label, 0)]

    images = Progress.of(progress).carry_out(resampled)
    name = _("{tree} straightened").format(tree=tree_name(model))
    bounds = [0.0] * 6
    volume_node.GetRASBounds(bounds)
    size = step * np.array(images[0].shape[::-1])
    corner = np.array([bounds[1] + GAP + size[0], bounds[2], bounds[5]])
    grid = np.diag([-step, step, -step, 1.0])  # K goes down, and I to the right of the picture
    grid[:3, 3] = corner
    with all_or_nothing() as add:
        nodes = [
            add("vtkMRMLScalarVolumeNode", name),
            add("vtkMRMLLabelMapVolumeNode", _("{name} vessels").format(name=name)),
        ]
        for node, image in zip(nodes, images):
            node.SetIJKToRASMatrix(matrix_from_array(grid))
            node.SetAndObserveImageData(image_from_array(image))
            node.CreateDefaultDisplayNodes()
            node.SetAttribute(STRAIGHTENED, json.dumps(recipe))
        put_beside(nodes, volume_node)
    source, display = volume_node.GetDisplayNode(), nodes[0].GetDisplayNode()
    if source is not None and source.IsA("vtkMRMLScalarVolumeDisplayNode"):
        display.AutoWindowLevelOff()
        display.SetWindowLevel(source.GetWindow(), source.GetLevel())
    return StraightenedNodes(*nodes)


def is_straightened(node: Any) -> bool:
    """Whether a volume was made by `add_straightened`."""
    return node is not None and bool(node.GetAttribute(STRAIGHTENED))


def patient_position(straightened_node: Any, position: Any) -> np.ndarray:
    """Where a place (R, A, S) in a straightened volume lies in the patient: R, A, S.

    `InputError` where the volume was not made by `add_straightened`.
    """
    if not is_straightened(straightened_node):
        text = _("{volume} is not a straightened volume.")
        raise InputError(text.format(volume=node_name(straightened_node)))
    to_ijk = _world_to_ijk(straightened_node, ijk_to_ras(straightened_node))
    place = transform_points(to_ijk, [position])[:, ::-1]
    return _frames(json.loads(straightened_node.GetAttribute(STRAIGHTENED))).to_world(place)[0]


def _frames(recipe: dict) -> StraightenedFrames:
    points, radius = np.array(recipe["points"]), np.array(recipe["radius"])
    return straightened_frames(points, radius, recipe["width"], recipe["step"])


def _world_to_ijk(node: Any, ijk_to_frame: np.ndarray) -> np.ndarray:
    """From the world to voxels, whose matrix leads to the frame below a node's transform."""
    matrix = matrix_between(None, node)
    if matrix is None:
        text = _("The transform of {volume} bends it: harden the transform first.")
        raise InputError(text.format(volume=node_name(node)))
    return np.linalg.inv(ijk_to_frame) @ matrix
