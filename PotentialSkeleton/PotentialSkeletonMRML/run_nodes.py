"""A run's nodes find each other again: also after the scene was saved and loaded.

The model with the lines is the centre: it refers to the object that it was made of and to all other
outputs, and keeps what was said of the run. MRML saves references and attributes with the scene.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.ownership import SKELETON, belongs_to, is_output, referred
from FuzzyVesselCoreLib.mrml.provenance import may_be_same, voxels_fingerprint
from PotentialSkeletonLib.critical_points.critical_points import KINDS

from .lines import folder_of, remove_empty_folder

ROLE = "PotentialSkeleton."  # begins the names of references and attributes
INPUT, SEGMENT, NOTES = ROLE + "Input", ROLE + "Segment", ROLE + "Notes"
LABEL = ROLE + "Label"  # of a labelmap, where a script named one
VESSELS = ROLE + "Vessels"  # a hash of their voxels
SETTINGS = ROLE + "Settings"  # a text of what the user had chosen
CENTRELINES = " centrelines"  # ends a model's name
FORMER = ("Field", *KINDS)  # outputs of version 0.1, which the next run removes
# The names that `extract` has for its outputs to those of a model's references.
ROLES = {
    "curveNodes": "Curve",
    "tubesNode": "Tubes",
    "labelmapNode": "Labelmap",
    "tableNode": "Table",
} | dict(zip(FORMER, FORMER))


@dataclass
class SkeletonResult:
    """Nodes and figures of one run; what was not asked for is None or empty.

    Attributes
    ----------
    skeleton : PotentialSkeletonLib.CurveSkeleton
        In voxels of the input; its `report` says how it was made and what was checked.
    ijkToRAS : ndarray, shape (4, 4)
        From I, J, K of `skeleton` to the frame below the input's parent transform, for example for
        ``skeleton.to_swc(path, voxel_to_world=result.ijkToRAS)``.
    curveNodes : list of vtkMRMLMarkupsCurveNode
        In the order of the skeleton's branches.
    modelNode, tubesNode : vtkMRMLModelNode
        Lines, and the surface of tubes, with the arrays named in `lines`.
    labelmapNode : vtkMRMLLabelMapVolumeNode
        1 in the skeleton's voxels.
    tableNode : vtkMRMLTableNode
        One row a branch; see `CurveSkeleton.to_table`.
    warnings : list of str
        What the user should know: what was cleaned, what could not be checked, ...
    """

    skeleton: Any
    ijkToRAS: object
    curveNodes: list = field(default_factory=list)
    modelNode: Any = None
    tubesNode: Any = None
    labelmapNode: Any = None
    tableNode: Any = None
    warnings: list = field(default_factory=list)


def is_current(model: Any, input_node: Any) -> bool:
    """Whether a model was made of its object as it is now, as far as is known."""
    now = voxels_fingerprint(input_node, model.GetAttribute(SEGMENT))
    return may_be_same(model.GetAttribute(VESSELS) or "", now)


def refer_to_outputs(result: SkeletonResult, solid: Any) -> None:
    """Let a result's model refer to its object and to what it came with; what was said is gone."""
    import slicer

    model = result.modelNode
    with slicer.util.NodeModify(model):
        model.SetNodeReferenceID(INPUT, solid.node.GetID())
        model.SetAttribute(SEGMENT, solid.segment_id)
        model.SetAttribute(LABEL, None if solid.label is None else str(solid.label))
        for output in ROLES:
            node = getattr(result, output, None)
            refer(model, output, node if isinstance(node, list) else [node])
    describe(model, [], "", "")


def describe(model: Any, notes: list[str], vessels: str, settings: str) -> None:
    """Store a run's notes with its model.

    `vessels` is the `voxels_fingerprint` of before the run, `settings` a text that differs where
    another run would give something else; either may be empty.
    """
    model.SetAttribute(NOTES, json.dumps(notes))
    model.SetAttribute(VESSELS, vessels or None)
    model.SetAttribute(SETTINGS, settings or None)


def refer(model: Any, output: str, nodes: Iterable[Any]) -> None:
    """Let a model refer to these nodes, but for None, as one of its outputs, and to no others."""
    model.RemoveNodeReferenceIDs(ROLE + ROLES[output])
    for node in nodes:
        if node is not None:
            model.AddNodeReferenceID(ROLE + ROLES[output], node.GetID())


def kept_model(input_node: Any, segment_id: str) -> Any:
    """The model of the latest run on an object, or None; a copy of one only if it is left alone."""
    import slicer

    if input_node is None:
        return None
    found = [
        model
        for model in reversed(slicer.util.getNodesByClass("vtkMRMLModelNode"))
        if model.GetNodeReferenceID(INPUT) == input_node.GetID()
        and (model.GetAttribute(SEGMENT) or "") == (segment_id or "")
        and model.GetAttribute(LABEL) is None
        and model.GetPolyData() is not None
    ]
    own = [model for model in found if belongs_to(model, SKELETON, input_node)]
    return next(iter(own + found), None)


def tree_segment(model: Any) -> Any:
    """The vtkSegment that a tree was found in, or None."""
    node, segment_id = model.GetNodeReference(INPUT), model.GetAttribute(SEGMENT) or ""
    if node is None or not segment_id or not node.IsA("vtkMRMLSegmentationNode"):
        return None
    return node.GetSegmentation().GetSegment(segment_id)


def tree_name(model: Any) -> str:
    """What the tree of a model is called: its segment's name, or that of the model."""
    segment = tree_segment(model)
    return segment.GetName() if segment is not None else own_name(model)


def own_name(model: Any) -> str:
    """The name of the object whose centrelines a model holds, as it was when it was made."""
    return model.GetName().removesuffix(CENTRELINES)


def kept_notes(model: Any) -> list[str]:
    """What was said of the run: list of str."""
    return json.loads(model.GetAttribute(NOTES) or "[]")


def kept_nodes(model: Any) -> dict[str, list[Any]]:
    """The outputs of a run that are still in the scene, by the names that `extract` has for them.

    Missing ones are left out.
    """
    found = {output: referred(model, ROLE + role) for output, role in ROLES.items()}
    return {output: nodes for output, nodes in found.items() if nodes} | {"modelNode": [model]}


def own_nodes(model: Any) -> dict[str, list[Any]]:
    """As `kept_nodes`, without those that no run may write into: copies that somebody made."""
    if model is None or not is_output(model, SKELETON):
        return {}
    kept = kept_nodes(model).items()
    own = {output: [each for each in nodes if is_output(each, SKELETON)] for output, nodes in kept}
    return {output: nodes for output, nodes in own.items() if nodes}


def drop_left_over(before: dict[str, list[Any]], result: SkeletonResult) -> None:
    """Remove what the run before wrote (its `own_nodes`) and this run did not."""
    folder = folder_of(before["curveNodes"][0]) if "curveNodes" in before else 0
    for output, nodes in before.items():
        for node in nodes if not getattr(result, output, None) else ():
            remove_node(node)
    remove_empty_folder(folder)
