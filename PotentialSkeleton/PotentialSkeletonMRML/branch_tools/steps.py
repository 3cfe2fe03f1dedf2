"""The lines of a tree as they were found, and the steps that were taken since.

Nothing is lost: each change replays all steps on the lines as found, so that any step can be taken
back, also after the scene was saved and loaded.
"""

from collections.abc import Sequence
from typing import Any

from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, remove_node
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import Step, replayed, steps_of_text, steps_text

from ..kept_result import ROLE, own_nodes
from ..stored_skeleton import skeleton_of
from .names import NAMES, carry_over
from .rewriting import follow, rewrite
from .skeleton_voxels import image_after, remember_voxels

STEPS, FOUND = ROLE + "Steps", ROLE + "AsFound"  # attribute and reference of a model


def steps_of(model: Any) -> list[Step]:
    """The steps that the lines of a model have had; none where it has lost the lines as found."""
    if model.GetNodeReference(FOUND) is None:
        return []
    return steps_of_text(model.GetAttribute(STEPS) or "[]")


def set_steps(model: Any, steps: Sequence[Step]) -> CurveSkeleton:
    """Replay steps, instead of those of before, on the lines as found; all outputs follow.

    Parameters
    ----------
    model : vtkMRMLModelNode
    steps : sequence of Step
        Places are S, A, R in mm, below the model's parent transform.

    Returns
    -------
    CurveSkeleton
        As `stored_skeleton` gives it.

    Raises
    ------
    InputError
        If a step does not fit; the scene is as it was.
    """
    found = model.GetNodeReference(FOUND)
    before = skeleton_of(found or model)
    skeleton, _ = replayed(before, steps)
    with all_or_nothing() as change:
        if found is None:
            found = keep_as_found(change, model)
        labelmap = own_nodes(model).get("labelmapNode")
        if labelmap is not None:
            image = image_after(found.GetPolyData(), before, skeleton, labelmap)
            if image is not None:
                labelmap.SetAndObserveImageData(image)
        rewrite(model, skeleton)
        model.SetAttribute(STEPS, steps_text(steps))
    return skeleton


def keep_as_found(change: Any, model: Any) -> Any:
    """Add a hidden copy of the lines, with the skeleton's voxels; it is saved with the scene."""
    import vtk

    node = change("vtkMRMLModelNode", f"{model.GetName()} as found")
    lines = vtk.vtkPolyData()
    lines.ShallowCopy(model.GetPolyData())
    labelmap = own_nodes(model).get("labelmapNode")
    if labelmap is not None:
        remember_voxels(lines, labelmap)
    node.SetHideFromEditors(True)
    node.SetSelectable(False)
    node.SetAndObserveMesh(lines)
    model.SetNodeReferenceID(FOUND, node.GetID())
    return node


def begin_anew(model: Any) -> None:
    """The lines were found anew: the steps on those of before are gone, names stay where they fit.

    `model` may be None, where no lines were asked for.
    """
    if model is None:
        return
    found = model.GetNodeReference(FOUND)
    if found is not None:
        remove_node(found)
    model.RemoveNodeReferenceIDs(FOUND)
    model.RemoveAttribute(STEPS)
    if model.GetAttribute(NAMES):
        carry_over(model, skeleton_of(model))
        follow(model)
