"""Names of branches: kept at a point of the branch each, so that they survive other numbers.

The cell array Name of the lines follows from them; tables and files take the names from there.
"""

import json
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import nearest_place
from PotentialSkeletonLib.interchange import BETWEEN
from PotentialSkeletonLib.tree import Course

from ..kept_result import ROLE
from ..nodes.lines import NAME

NAMES = ROLE + "Names"  # attribute of a model
SAME_PLACE = 1e-3  # mm; steps change no point of the branches that stay
LONGEST = 100  # characters
# Control characters, and halves of pairs, which no file holds and VTK's strings end the process at.
HIDDEN = ("Cc", "Cs")


def names_of(model: Any) -> dict[int, str]:
    """Name of each branch that has one, by its number."""
    data = model.GetPolyData()
    array = data.GetCellData().GetAbstractArray(NAME) if data is not None else None
    if array is None:
        return {}
    texts = (array.GetValue(number) for number in range(array.GetNumberOfValues()))
    return {number: text for number, text in enumerate(texts) if text}


def rename(model: Any, skeleton: CurveSkeleton, branches: Sequence[int], name: str) -> None:
    """Name branches; an empty text takes their names away.

    Parameters
    ----------
    model : vtkMRMLModelNode
    skeleton : CurveSkeleton
        Of `stored_skeleton`.
    branches : sequence of int
    name : str
        Branches with the same name are a group.

    Raises
    ------
    InputError
        If there is no such branch, or the name is too long or has characters that cannot be shown.
    """
    for branch in branches:
        if not 0 <= branch < len(skeleton.branches):
            raise InputError(
                _("There is no branch {branch}: the tree has {count}, from 0.").format(
                    branch=branch, count=len(skeleton.branches)
                )
            )
    name = " ".join(name.split())
    if len(name) > LONGEST or any(unicodedata.category(each) in HIDDEN for each in name):
        raise InputError(
            _("A name has at most {count} characters, all of which can be shown.").format(
                count=LONGEST
            )
        )
    kept = [
        [point, text]
        for point, text in _anchors(model)
        if _branch_at(skeleton, point, SAME_PLACE) not in branches
    ]
    for branch in branches if name else ():
        points = skeleton.branches[branch].points
        middle = (points[(len(points) - 1) // 2] + points[len(points) // 2]) / 2
        kept.append([middle.tolist(), name])
    model.SetAttribute(NAMES, json.dumps(kept))
    show_names(model, skeleton)


def show_names(model: Any, skeleton: CurveSkeleton) -> None:
    """Write the names that there are into the lines' cell array."""
    texts: dict[int, str] = {}
    for point, text in _anchors(model):
        branch = _branch_at(skeleton, point, SAME_PLACE)
        if branch is not None:
            said = texts.get(branch, "")
            twice = text in said.split(BETWEEN)  # two of one group have become one
            texts[branch] = said if twice else said + BETWEEN + text if said else text
    cells = model.GetPolyData().GetCellData()
    if not texts:
        cells.RemoveArray(NAME)
        return
    import vtk

    array = vtk.vtkStringArray()
    array.SetName(NAME)
    for number in range(len(skeleton.branches)):
        array.InsertNextValue(texts.get(number, ""))
    cells.AddArray(array)


def carry_over(model: Any, skeleton: CurveSkeleton) -> None:
    """After another run on the same vessels: names go to the branches that lie where they were."""
    kept = []
    for point, text in _anchors(model):
        branch = _branch_at(skeleton, point, None)
        if branch is not None:
            course = Course(skeleton.branches[branch].points, skeleton.branches[branch].radius)
            _number, length = nearest_place([course], np.array(point))
            kept.append([course.at(length)[0].tolist(), text])
    if kept or model.GetAttribute(NAMES):
        model.SetAttribute(NAMES, json.dumps(kept))
        show_names(model, skeleton)


def _anchors(model):
    return json.loads(model.GetAttribute(NAMES) or "[]")


def _branch_at(skeleton, point, within):
    """The branch within so many mm of a point, by default within its radius there; or None."""
    courses = [Course(branch.points, branch.radius) for branch in skeleton.branches]
    if not courses:
        return None
    number, length = nearest_place(courses, np.array(point))
    place, radius = courses[number].at(length)
    away = np.linalg.norm(place - point)
    return number if away <= (radius if within is None else within) else None
