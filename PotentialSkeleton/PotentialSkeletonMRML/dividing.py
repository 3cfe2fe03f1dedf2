"""Vessels split by branch, and organs divided into the territories of branches: segmentations."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import (
    BINARY_LABELMAP,
    image_from_array,
    matrix_from_array,
    node_name,
    transform_between,
    transform_points,
    transformed,
)
from FuzzyVesselCoreLib.mrml.writing import all_or_nothing, put_beside
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import LIVER_SEGMENT, Territories, inherited_names
from PotentialSkeletonLib.tree import rooted_forest

from .lines import (
    branch_color,
    fill_table,
    generation_color,
    moved,
    names_of,
    stored_skeleton,
    told_apart,
)
from .outputs import INPUT, LABEL, SEGMENT
from .solid import SolidInput, read_solid


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
    names, skeleton = names_of(model), stored_skeleton(model)
    numbers = range(len(skeleton.branches))
    titles: list[str]  # of each group
    owner: dict[int, int]  # its position, of each branch
    color: Callable = branch_color
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
        owner, color = dict(enumerate(generations)), generation_color
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
            names = inherited_names(rooted_forest(skeleton), names)
        if by == "segment":
            names = {n: name for n, name in names.items() if name.startswith(LIVER_SEGMENT)}
            if not names:
                text = _("No branch has the name of a liver segment: propose names first.")
                raise InputError(text)
        titles = list(dict.fromkeys(names[n] for n in sorted(names)))
        owner = {n: titles.index(name) for n, name in names.items()}
    return Groups(
        {branch: number + 1 for branch, number in owner.items()},
        dict(enumerate(told_apart(titles), 1)),
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


def add_territories(
    name: str, found: Territories, groups: Groups, organ: SolidInput
) -> TerritoryNodes:
    """Add the territories of an organ."""
    volumes = {groups.names[label]: volume for label, volume in found.volumes.items()}
    whole = sum(volumes.values()) + found.unreached
    table = {
        "territory": list(volumes),
        "volume_ml": list(volumes.values()),
        "share_percent": [100 * each / whole for each in volumes.values()],
    }
    with all_or_nothing() as add:
        node = add_segmentation(add, name, found.labels, groups, organ)
        table_node = add("vtkMRMLTableNode", f"{name} volumes")
        fill_table(table_node, table)
        put_beside([table_node], organ.node)
    return TerritoryNodes(node, table_node, volumes, found.unreached)


def vessels_of(model: Any) -> SolidInput:
    """The object whose tree a model holds, as it is now, cut to what is not empty.

    `InputError` where it is not in the scene any more, or empty.
    """
    node = model.GetNodeReference(INPUT)
    if node is None:
        text = _(
            "The vessels of {model} are not in the scene any more: find the centrelines again."
        )
        raise InputError(text.format(model=node_name(model)))
    segment_id, label = model.GetAttribute(SEGMENT) or None, model.GetAttribute(LABEL)
    label = None if label is None else int(label)
    return read_solid(node, segment_id, label).cropped()


def in_vessels(model: Any) -> tuple[SolidInput, CurveSkeleton]:
    """The vessels, and the tree in their voxels."""
    solid = vessels_of(model)
    return solid, on_voxels(model, solid)


def on_voxels(model: Any, solid: SolidInput) -> CurveSkeleton:
    """The tree of a model in voxels K, J, I of an object."""
    to_object, to_voxels = transform_between(model, solid.node), np.linalg.inv(solid.ijk_to_ras)
    return moved(
        stored_skeleton(model),
        lambda points: transform_points(to_voxels, transformed(to_object, points[:, ::-1]))[
            :, ::-1
        ],
        shape=solid.mask.shape,
        spacing=solid.spacing,
    )


def check_near(model: Any, skeleton: CurveSkeleton, organ: SolidInput, groups: Groups) -> None:
    """Refuse an organ whose box no branch of the groups enters: it is the wrong organ."""
    points = [skeleton.branches[number].points for number in groups.label_of]
    places = np.concatenate(points) if points else np.empty((0, 3))
    outside = np.maximum(-places, places - (np.array(organ.mask.shape) - 1)).clip(0)
    away = np.linalg.norm(outside * np.array(organ.spacing), axis=1)
    if len(away) and away.min() > 0:
        text = _(
            "The tree {model} lies {distance:.0f} mm away from '{organ}': choose the "
            "organ that these vessels supply."
        )
        raise InputError(text.format(model=node_name(model), distance=away.min(), organ=organ.name))


def add_segmentation(
    add: Any, name: str, labels: np.ndarray, groups: Groups, solid: SolidInput
) -> Any:
    """A new segmentation with one segment for each label that there is."""
    import slicer

    kind = np.uint8 if labels.max() < 256 else np.int16
    image = image_from_array(labels.astype(kind), slicer.vtkOrientedImageData())
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(solid.ijk_to_ras))
    node = add("vtkMRMLSegmentationNode", name)
    node.SetAndObserveTransformNodeID(solid.transform_id)
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
    put_beside([node], solid.node)
    return node
