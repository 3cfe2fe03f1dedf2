"""The lines of a tree as they were found, the steps that were taken since, and branches' names.

Nothing is lost: each change replays all steps on the lines as found, so that any step can be taken
back, also after the scene was saved and loaded. A name is kept at a point of its branch, so that it
survives other numbers; the cell array Name, the table and files follow.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, remove_node
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import (
    Step,
    checked_branch,
    nearest_place,
    replayed,
    steps_of_text,
    steps_text,
)
from PotentialSkeletonLib.interchange import BETWEEN
from PotentialSkeletonLib.tree import Course

from .colouring import color_by, kind_of
from .lines import NAME, fill_table, names_of, skeleton_of, stored_table, vtk_array
from .outputs import Requests, write_all
from .run_nodes import INPUT, ROLE, own_name, own_nodes, refer
from .solid import SolidInput

STEPS, FOUND = ROLE + "Steps", ROLE + "AsFound"  # attribute and reference of a model
NAMES = ROLE + "Names"  # attribute of a model
SAME_PLACE = 1e-3  # mm; steps change no point of the branches that stay
LONGEST = 100  # characters of a name
# Control characters, and halves of pairs, which no file holds and VTK's strings end the process at.
HIDDEN = ("Cc", "Cs")
# Outputs that are made of the lines; the labelmap keeps the voxels that the run has found.
FOLLOWING = ("tubesNode", "tableNode", "curveNodes")


def steps_of(model: Any) -> list[Step]:
    """The steps that the lines of a model have had; none where it has lost the lines as found."""
    if model.GetNodeReference(FOUND) is None:
        return []
    return steps_of_text(model.GetAttribute(STEPS) or "[]")


def set_steps(model: Any, steps: Sequence[Step]) -> CurveSkeleton:
    """Replay steps, instead of the earlier ones, on the lines as found; outputs follow.

    Places are S, A, R in mm, below the model's parent transform. `InputError` where a step does not
    fit, no branch is left, or the vessels are gone: the scene is unchanged.
    """
    found, vessels = model.GetNodeReference(FOUND), vessels_node(model)
    skeleton, _kept = replayed(skeleton_of(found or model), steps)
    if not skeleton.branches:
        raise InputError(_("That would remove every branch: nothing was changed."))
    nodes, kind = own_nodes(model), kind_of(model)
    if found is None:
        _keep_as_found(model)
    # In place of the object, the frame below the model's parent transform: voxels are S, A, R.
    nowhere, transform_id = np.zeros((0, 0, 0), bool), model.GetTransformNodeID()
    frame = SolidInput(vessels, "", nowhere, np.eye(4), transform_id, own_name(model))
    following = {output: nodes.get(output, False) for output in FOLLOWING}
    requests = Requests(modelNode=model, labelmapNode=False, **following)
    (result,) = write_all([(frame, skeleton, requests)])
    if result.curveNodes:
        refer(model, "curveNodes", result.curveNodes)
    _show_names(model, skeleton)
    color_by(kind, [each for each in (model, result.tubesNode) if each], result.curveNodes)
    model.SetAttribute(STEPS, steps_text(steps))
    return skeleton


def begin_anew(model: Any) -> None:
    """The lines were found again: earlier steps are gone, names stay where they fit."""
    found = model.GetNodeReference(FOUND)
    if found is not None:
        remove_node(found)
    model.RemoveNodeReferenceIDs(FOUND)
    model.RemoveAttribute(STEPS)
    if model.GetAttribute(NAMES):
        skeleton, anchors = skeleton_of(model), []
        for point, text in _anchors(model):
            _number, place, radius, away = _nearest(skeleton, point)
            if away <= radius:
                anchors.append([place.tolist(), text])
        model.SetAttribute(NAMES, json.dumps(anchors))
        _show_names(model, skeleton)


def vessels_node(model: Any) -> Any:
    """The node that a tree was found in; `InputError` where it is not in the scene any more."""
    node = model.GetNodeReference(INPUT)
    if node is None:
        text = _(
            "The vessels of {model} are not in the scene any more: find the centrelines again."
        )
        raise InputError(text.format(model=node_name(model)))
    return node


def follow(model: Any) -> None:
    """Let a run's table and the names of its curves follow from the arrays of the lines."""
    nodes, names = own_nodes(model), names_of(model)
    for table in nodes.get("tableNode", ()):
        fill_table(table, stored_table(model))
    for number, curve in enumerate(nodes.get("curveNodes", ())):
        curve.SetName(names.get(number) or f"{own_name(model)} branch {number}")


def rename(model: Any, skeleton: CurveSkeleton, names: Mapping[int, str]) -> None:
    """Name branches; an empty text takes a name away.

    Branches with the same name are a group. `InputError` where there is no such branch, or a name
    is too long or has characters that cannot be shown: nothing is named then.
    """
    names = {branch: " ".join(name.split()) for branch, name in names.items()}
    for branch, name in names.items():
        checked_branch(skeleton, branch)
        if len(name) > LONGEST or any(unicodedata.category(each) in HIDDEN for each in name):
            text = _("A name has at most {count} characters, all of which can be shown.")
            raise InputError(text.format(count=LONGEST))
    anchors = [
        [point, text] for point, text in _anchors(model) if _branch_at(skeleton, point) not in names
    ]
    for branch, name in names.items():
        points = skeleton.branches[branch].points
        middle = (points[(len(points) - 1) // 2] + points[len(points) // 2]) / 2
        if name:
            anchors.append([middle.tolist(), name])
    model.SetAttribute(NAMES, json.dumps(anchors))
    _show_names(model, skeleton)


def _show_names(model: Any, skeleton: CurveSkeleton) -> None:
    """Write the names that there are into the lines' cell array, the table and the curves."""
    texts: dict[int, list[str]] = {}
    for point, text in _anchors(model):
        branch = _branch_at(skeleton, point)
        if branch is not None:  # of two branches that have become one, both names
            parts = texts.setdefault(branch, [])
            if text not in parts:
                parts.append(text)
    cells = model.GetPolyData().GetCellData()
    cells.RemoveArray(NAME)
    if texts:
        said = [BETWEEN.join(texts.get(number, ())) for number in range(len(skeleton.branches))]
        cells.AddArray(vtk_array(np.array(said, object), NAME))
    follow(model)


def _anchors(model: Any) -> list[Any]:
    """A point (S, A, R) and the name of its branch, each."""
    return json.loads(model.GetAttribute(NAMES) or "[]")


def _nearest(skeleton: CurveSkeleton, point: Any) -> tuple[int, np.ndarray, float, float]:
    """The branch nearest to a point, the place on it, its radius there, and how far away it is."""
    courses = [Course(branch.points, branch.radius) for branch in skeleton.branches]
    if not courses:
        return -1, np.array(point), 0.0, np.inf
    number, length = nearest_place(courses, np.array(point))
    place, radius = courses[number].at(length)
    return number, place, radius, float(np.linalg.norm(place - point))


def _branch_at(skeleton: CurveSkeleton, point: Any) -> int | None:
    """The branch that goes through a point, or None."""
    number, _place, _radius, away = _nearest(skeleton, point)
    return number if away <= SAME_PLACE else None


def _keep_as_found(model: Any) -> None:
    """Add a hidden model of the lines, which is saved with the scene."""
    import vtk

    lines = vtk.vtkPolyData()
    lines.ShallowCopy(model.GetPolyData())
    with all_or_nothing() as add:
        node = add("vtkMRMLModelNode", f"{model.GetName()} as found")
        node.SetHideFromEditors(True)
        node.SetSelectable(False)
        node.SetAndObserveMesh(lines)
    model.SetNodeReferenceID(FOUND, node.GetID())
