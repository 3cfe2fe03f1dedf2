"""What a user did with the branches since they were found: steps of the branch tools, and names.

Attributes and a reference of the model of lines. Each name is kept at a point of its branch, as
steps renumber branches.
"""

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import writing
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import Step, checked_branch, nearest_place, steps_of_text
from PotentialSkeletonLib.interchange import BETWEEN

from .lines import NAME, stored_skeleton, vtk_array

NAMES = "PotentialSkeleton.Names"  # a point (S, A, R) and a name, each
STEPS = "PotentialSkeleton.Steps"  # a text of the branch tools' steps
AS_FOUND = "PotentialSkeleton.AsFound"  # the lines before these steps
MEASURED = "PotentialSkeleton.Sections"  # columns of cross-sections, and the vessels' fingerprint
SAME_PLACE = 1e-3  # mm; steps change no point of the branches that stay
LONGEST = 100  # characters of a name
# Control characters, and halves of surrogate pairs: no file can hold them, and VTK's strings crash.
HIDDEN = ("Cc", "Cs")


def steps_of(model: Any) -> list[Step]:
    """The steps that the lines of a model have had; none where it has lost the lines as found."""
    if model.GetNodeReference(AS_FOUND) is None:
        return []
    return steps_of_text(model.GetAttribute(STEPS) or "[]")


def forget_steps(model: Any) -> list[str]:
    """Forget the steps of a model that was given other lines; names stay where they fit.

    Returns the names that do not.
    """
    for node in writing.referred(model, AS_FOUND):
        writing.remove_node(node)
    writing.refer(model, AS_FOUND, ())
    model.RemoveAttribute(STEPS)
    model.RemoveAttribute(MEASURED)
    found, named_points, lost = stored_skeleton(model), [], []
    for point, text in json.loads(model.GetAttribute(NAMES) or "[]"):
        _number, place, radius, away = _nearest(found, point)
        if away <= radius:
            named_points.append([place.tolist(), text])
        else:
            lost.append(text)
    model.SetAttribute(NAMES, json.dumps(named_points))
    return lost


def set_names(model: Any, names: Mapping[int, str]) -> None:
    """Name branches; an empty text takes a name away.

    Branches with the same name are a group. `InputError` where there is no such branch, or a name
    is too long or has characters that cannot be shown: nothing is named then.
    """
    skeleton = stored_skeleton(model)
    names = {branch: " ".join(name.split()) for branch, name in names.items()}
    for branch, name in names.items():
        checked_branch(skeleton, branch)
        if len(name) > LONGEST or any(unicodedata.category(each) in HIDDEN for each in name):
            text = _("A name has at most {count} characters, all of which can be shown.")
            raise InputError(text.format(count=LONGEST))
    named = json.loads(model.GetAttribute(NAMES) or "[]")
    named = [each for each in named if _branch_at(skeleton, each[0]) not in names]
    for branch, name in names.items():
        points = skeleton.branches[branch].points
        middle = (points[(len(points) - 1) // 2] + points[len(points) // 2]) / 2
        if name:
            named.append([middle.tolist(), name])
    model.SetAttribute(NAMES, json.dumps(named))


def show_names(model: Any) -> None:
    """Write the names into the lines' cell array."""
    skeleton = stored_skeleton(model)
    texts: list[list[str]] = [[] for _ in skeleton.branches]
    for point, text in json.loads(model.GetAttribute(NAMES) or "[]"):
        branch = _branch_at(skeleton, point)
        if branch is not None and text not in texts[branch]:
            texts[branch].append(text)  # of two branches that have become one, both names
    cells = model.GetPolyData().GetCellData()
    cells.RemoveArray(NAME)
    if any(texts):
        cells.AddArray(vtk_array([BETWEEN.join(parts) for parts in texts], NAME))


def _nearest(skeleton: CurveSkeleton, point: Any) -> tuple[int, np.ndarray, float, float]:
    """The branch nearest to a point, the place on it, its radius there, and how far away it is."""
    courses = [skeleton.course(branch) for branch in skeleton.branches]
    if not courses:
        return -1, np.array(point), 0.0, np.inf
    number, length = nearest_place(courses, np.array(point))
    place, radius = courses[number].at(length)
    return number, place, radius, float(np.linalg.norm(place - point))


def _branch_at(skeleton: CurveSkeleton, point: Any) -> int | None:
    """The branch that goes through a point, or None."""
    number, _place, _radius, away = _nearest(skeleton, point)
    return number if away <= SAME_PLACE else None
