"""What is made of the vessels of a tree: parts, territories of an organ, straightened views."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading
from FuzzyVesselCoreLib.mrml.reading import BINARY_LABELMAP, node_name
from FuzzyVesselCoreLib.mrml.writing import new_nodes, put_beside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, branch_tools
from PotentialSkeletonLib.branch_tools import LIVER_SEGMENT
from PotentialSkeletonLib.tree import rooted_forest

from . import lines
from .objects import InputObject, read_object
from .outputs import INPUT, LABEL, ROLE, SEGMENT, tree_name

STRAIGHTENED = ROLE + "Straightened"  # attribute: what the frames are made of
WIDTH, WIDEST = 30.0, 5.0  # mm; or so many times the largest diameter
DECIMALS = 4  # of the points and radii that are kept, mm
GAP = 50.0  # mm between the patient and the straightened volume


def read_vessels(model: Any) -> InputObject:
    """The object whose tree a model holds, as it is now, cut to what is not empty.

    `InputError` where it is not in the scene any more, or empty.
    """
    node = model.GetNodeReference(INPUT)
    if node is None:
        text = _("The vessels of {model} were removed: find the centrelines again.")
        raise InputError(text.format(model=node_name(model)))
    segment_id, label = model.GetAttribute(SEGMENT) or None, model.GetAttribute(LABEL)
    label = None if label is None else int(label)
    return read_object(node, segment_id, label).cropped()


def vessels_and_tree(model: Any) -> tuple[InputObject, CurveSkeleton]:
    """The vessels, and the tree in their voxels."""
    object_ = read_vessels(model)
    return object_, tree_in_voxels(model, object_)


def tree_in_voxels(model: Any, object_: InputObject) -> CurveSkeleton:
    """The tree of a model in voxels K, J, I of an object."""
    to_object = reading.transform_between(model, object_.node)
    to_voxels = np.linalg.inv(object_.ijk_to_ras)

    def move(points: np.ndarray) -> np.ndarray:
        there = reading.transformed(to_object, points[:, ::-1])
        return reading.transform_points(to_voxels, there)

    return lines.in_frame(lines.stored_skeleton(model), move, object_.mask.shape, object_.spacing)


# ---- Vessels split by branch, and organs divided into the territories of branches


@dataclass(frozen=True)
class Groups:
    """Which branches belong together: the label, from 1, of each branch that takes part.

    `names` and `colors` are those of each label; no two have one name.
    """

    label_of: dict[int, int]
    names: dict[int, str]
    colors: dict[int, tuple]


def groups_by(model: Any, by: str | Mapping[str, Iterable]) -> Groups:
    """Groups of branches: each branch, each generation, all of the same name, or chosen ones.

    With "subtree" a branch without a name belongs to the nearest named one upstream, and with
    "segment" likewise, of the names of liver segments alone. Chosen ones are a mapping of a name to
    numbers of branches. `InputError` where the kind is unknown, no branch has a name, or a chosen
    branch does not exist or is in two groups.
    """
    names, skeleton = lines.names_of(model), lines.stored_skeleton(model)
    numbers = range(len(skeleton.branches))
    owner: dict[int, int]  # position of the group, of each branch
    color: Callable = lines.branch_color
    if isinstance(by, Mapping):
        titles, owner = list(by), {}
        for number, branches in enumerate(by.values()):
            for branch in branches:
                if branch not in numbers or branch in owner:
                    text = _(
                        "The group '{name}' has branch {branch}, which does not exist or is in "
                        "another group."
                    )
                    raise InputError(text.format(name=titles[number], branch=branch))
                owner[branch] = number
    elif by == "branch":
        titles = [names.get(n) or f"Branch {n}" for n in numbers]
        owner = {n: n for n in numbers}
    elif by == "generation":
        generations = skeleton.generations()
        titles = [f"Generation {g}" for g in range(max(generations) + 1)]
        owner, color = dict(enumerate(generations)), lines.generation_color
    elif by not in ("name", "subtree", "segment"):
        text = _(
            "Branches cannot be grouped by {kind!r}: use branch, generation, name, subtree or "
            "segment."
        )
        raise InputError(text.format(kind=by))
    elif not names:
        raise InputError(_("No branch has a name yet: name the branches that matter first."))
    else:
        if by != "name":
            names = branch_tools.inherited_names(rooted_forest(skeleton), names)
        if by == "segment":
            names = {n: name for n, name in names.items() if name.startswith(LIVER_SEGMENT)}
            if not names:
                text = _("No branch has the name of a liver segment: propose names first.")
                raise InputError(text)
        titles = list(dict.fromkeys(names[n] for n in sorted(names)))
        owner = {n: titles.index(name) for n, name in names.items()}
    return Groups(
        {branch: number + 1 for branch, number in owner.items()},
        dict(enumerate(lines.unique_names(titles), 1)),
        {number + 1: color(number) for number in range(len(titles))},
    )


@dataclass(frozen=True)
class TerritoryNodes:
    """What `Tree.divideOrgan` adds: a segment for each territory, and a table of their volumes.

    `volumes` are ml of each territory (of one name: left, left (2)), `unreached` those of none.
    """

    segmentationNode: Any
    tableNode: Any
    volumes: dict
    unreached: float


def check_near(model: Any, skeleton: CurveSkeleton, organ: InputObject, groups: Groups) -> None:
    """Refuse an organ whose box no branch of the groups enters: it is the wrong organ."""
    points = [skeleton.branches[number].points for number in groups.label_of]
    places = np.concatenate(points) if points else np.empty((0, 3))
    outside = np.maximum(-places, places - (np.array(organ.mask.shape) - 1)).clip(0)
    away = np.linalg.norm(outside * np.array(organ.spacing), axis=1)
    if len(away) and away.min() > 0:
        text = _("{model} lies {distance:.0f} mm away from '{organ}': choose its own organ.")
        raise InputError(text.format(model=node_name(model), distance=away.min(), organ=organ.name))


def add_segmentation(
    add: Any, name: str, labels: np.ndarray, groups: Groups, object_: InputObject
) -> Any:
    """A new segmentation with one segment for each label that there is."""
    import slicer

    kind = np.uint8 if labels.max() < 256 else np.int16
    image = reading.image_from_array(labels.astype(kind), slicer.vtkOrientedImageData())
    image.SetGeometryFromImageToWorldMatrix(reading.matrix_from_array(object_.ijk_to_ras))
    node = add("vtkMRMLSegmentationNode", name)
    node.SetAndObserveTransformNodeID(object_.transform_id)
    node.CreateDefaultDisplayNodes()
    segmentation = node.GetSegmentation()
    segmentation.SetSourceRepresentationName(BINARY_LABELMAP)
    for label in np.unique(labels[labels > 0]).tolist():
        segment = slicer.vtkSegment()
        segment.SetName(groups.names[label])
        segment.SetColor(*groups.colors[label])
        segment.AddRepresentation(BINARY_LABELMAP, image)
        segment.SetLabelValue(label)
        segmentation.AddSegment(segment)
    put_beside([node], object_.node)
    return node


# ---- Straightened views: a branch or a way as a volume, and from there to the patient


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
    voxels, object_ = reading.voxels_of(volume_node), read_vessels(model)
    to_ijk = _world_to_ijk(volume_node, reading.ijk_to_ras(volume_node))
    to_label = _world_to_ijk(object_.node, object_.ijk_to_ras)
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
        return [image, frames.resample(object_.mask.astype(np.uint8), to_label, 0)]

    images = Progress.of(progress).carry_out(resampled)
    name = _("{tree} straightened").format(tree=tree_name(model))
    bounds = [0.0] * 6
    volume_node.GetRASBounds(bounds)
    size = step * np.array(images[0].shape[::-1])
    corner = np.array([bounds[1] + GAP + size[0], bounds[2], bounds[5]])
    grid = np.diag([-step, step, -step, 1.0])  # K goes down, and I to the right of the picture
    grid[:3, 3] = corner
    with new_nodes() as add:
        nodes = [
            add("vtkMRMLScalarVolumeNode", name),
            add("vtkMRMLLabelMapVolumeNode", _("{name} vessels").format(name=name)),
        ]
        for node, image in zip(nodes, images):
            node.SetIJKToRASMatrix(reading.matrix_from_array(grid))
            node.SetAndObserveImageData(reading.image_from_array(image))
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
    to_ijk = _world_to_ijk(straightened_node, reading.ijk_to_ras(straightened_node))
    place = reading.transform_points(to_ijk, [position])[:, ::-1]
    return _frames(json.loads(straightened_node.GetAttribute(STRAIGHTENED))).to_world(place)[0]


def _frames(recipe: dict) -> branch_tools.StraightenedFrames:
    points, radius = np.array(recipe["points"]), np.array(recipe["radius"])
    return branch_tools.straightened_frames(points, radius, recipe["width"], recipe["step"])


def _world_to_ijk(node: Any, ijk_to_frame: np.ndarray) -> np.ndarray:
    """From the world to voxels, whose matrix leads to the frame below a node's transform."""
    matrix = reading.matrix_between(None, node)
    if matrix is None:
        text = _("The transform of {volume} bends it: harden the transform first.")
        raise InputError(text.format(volume=node_name(node)))
    return np.linalg.inv(ijk_to_frame) @ matrix
