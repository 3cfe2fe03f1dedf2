"""A run's nodes find each other again: also after the scene was saved and loaded.

The model with the lines is the centre: it refers to the object that it was made of and to all other
outputs, and keeps what was said of the run. MRML saves references and attributes with the scene.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.ownership import SKELETON, belongs_to, is_output
from FuzzyVesselCoreLib.mrml.provenance import may_be_same, voxels_fingerprint
from PotentialSkeletonLib.critical_points.critical_points import KINDS

from .markups import folder_of, remove_empty_folder

ROLE = "PotentialSkeleton."  # begins the names of references and attributes
INPUT, SEGMENT, NOTES = ROLE + "Input", ROLE + "Segment", ROLE + "Notes"
LABEL = ROLE + "Label"  # of a labelmap, where a script named one
VESSELS = ROLE + "Vessels"  # a hash of their voxels
SETTINGS = ROLE + "Settings"  # a text of what the user had chosen
CURVES = ROLE + "Curve"
CENTRELINES = " centrelines"  # ends a model's name
SINGLE = {"tubesNode": "Tubes", "labelmapNode": "Labelmap", "tableNode": "Table",
          "fieldNode": "Field"}  # fmt: skip
OUTPUTS = ("modelNode", *SINGLE, "curveNodes", "criticalPointsNodes")


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
    folderItemID : int
        Their folder in the subject hierarchy; 0 where there is none.
    modelNode, tubesNode : vtkMRMLModelNode
        Lines, and the surface of tubes, with the arrays named in `lines`.
    labelmapNode : vtkMRMLLabelMapVolumeNode
        1 in the skeleton's voxels.
    tableNode : vtkMRMLTableNode
        One row a branch; see `CurveSkeleton.to_table`.
    criticalPointsNodes : dict of str to vtkMRMLMarkupsFiducialNode
        Kind to list of points.
    fieldNode : vtkMRMLVectorVolumeNode
        The force, in R, A, S components of the frame below the parent transform.
    warnings : list of str
        What the user should know: what was cleaned, what could not be checked, ...
    """

    skeleton: Any
    ijkToRAS: object
    curveNodes: list = field(default_factory=list)
    folderItemID: int = 0
    modelNode: Any = None
    tubesNode: Any = None
    labelmapNode: Any = None
    tableNode: Any = None
    criticalPointsNodes: dict = field(default_factory=dict)
    fieldNode: Any = None
    warnings: list = field(default_factory=list)


def is_current(model: Any, input_node: Any) -> bool:
    """Whether a model was made of its object as it is now, as far as is known."""
    now = voxels_fingerprint(input_node, model.GetAttribute(SEGMENT))
    return may_be_same(model.GetAttribute(VESSELS) or "", now)


def keep(
    result: SkeletonResult,
    input_node: Any,
    segment_id: str,
    notes: list[str],
    vessels: str = "",
    settings: str = "",
) -> None:
    """Let a result's model refer to everything that it came with.

    `segment_id` is empty for a labelmap; `notes` say what there is to say of the run. `vessels` is
    the `voxels_fingerprint` of before the run, `settings` a text that differs where another run
    would give something else.
    """
    import slicer

    model = result.modelNode
    single = {role: getattr(result, output) for output, role in SINGLE.items()}
    nodes = {**dict.fromkeys(KINDS), **single, **result.criticalPointsNodes}
    with slicer.util.NodeModify(model):
        model.SetNodeReferenceID(INPUT, input_node.GetID())
        model.SetAttribute(SEGMENT, segment_id or "")
        model.SetAttribute(NOTES, json.dumps(notes))
        model.SetAttribute(VESSELS, vessels or None)
        model.SetAttribute(SETTINGS, settings or None)
        for role, node in nodes.items():
            model.SetNodeReferenceID(ROLE + role, node.GetID() if node is not None else None)
        refer_to_curves(model, result.curveNodes)


def refer_to_curves(model: Any, curves: list[Any]) -> None:
    """Let a model refer to these curves and no others."""
    model.RemoveNodeReferenceIDs(CURVES)
    for node in curves:
        model.AddNodeReferenceID(CURVES, node.GetID())


def keep_as_written(result: SkeletonResult, solid: Any) -> None:
    """As `keep`, for a script; outputs of the run before on the same object stay referred to."""
    model, label = result.modelNode, None if solid.label is None else str(solid.label)
    before = model.GetNodeReference(INPUT), model.GetAttribute(SEGMENT), model.GetAttribute(LABEL)
    if before == (solid.node, solid.segment_id, label):
        others = {k: nodes for k, nodes in kept_nodes(model).items() if not getattr(result, k)}
        result = replace(result, **others)
    keep(result, solid.node, solid.segment_id, [])
    model.SetAttribute(LABEL, label)


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


def kept_nodes(model: Any) -> dict[str, Any]:
    """The outputs of a run that are still in the scene, by the names that `extract` has for them.

    What there is none of is missing; `criticalPointsNodes` is a dict, `curveNodes` a list.
    """
    found = {"modelNode": model}
    for output, role in SINGLE.items():
        found[output] = model.GetNodeReference(ROLE + role)
    count = model.GetNumberOfNodeReferences(CURVES)
    curves = [model.GetNthNodeReference(CURVES, number) for number in range(count)]
    found["curveNodes"] = [node for node in curves if node is not None]
    points = {kind: model.GetNodeReference(ROLE + kind) for kind in KINDS}
    found["criticalPointsNodes"] = {kind: node for kind, node in points.items() if node is not None}
    return {output: nodes for output, nodes in found.items() if nodes}


def own_nodes(model: Any) -> dict[str, Any]:
    """As `kept_nodes`, without those that no run may write into: copies that somebody made."""
    if model is None or not is_output(model, SKELETON):
        return {}
    own: dict[str, Any] = {}
    for output, nodes in kept_nodes(model).items():
        if isinstance(nodes, dict):
            own[output] = {k: node for k, node in nodes.items() if is_output(node, SKELETON)}
        elif isinstance(nodes, list):
            own[output] = [node for node in nodes if is_output(node, SKELETON)]
        elif is_output(nodes, SKELETON):
            own[output] = nodes
    return {output: nodes for output, nodes in own.items() if nodes}


def requests(model: Any, wanted: dict[str, bool]) -> dict[str, Any]:
    """Arguments for `extract`: nodes of an earlier run's model are filled again, others are new."""
    there = own_nodes(model)
    return {output: there.get(output, True) if want else False for output, want in wanted.items()}


def drop_left_over(model: Any, result: SkeletonResult) -> None:
    """Remove the outputs of the run before that this one did not write; call it before `keep`."""
    import slicer

    written = set(_flat({name: getattr(result, name) for name in OUTPUTS}))
    for node in _flat(own_nodes(model)):
        if node not in written and slicer.mrmlScene.IsNodePresent(node):
            folder = folder_of(node)
            remove_node(node)
            remove_empty_folder(folder)


def _flat(outputs: dict[str, Any]) -> Iterator[Any]:
    """All nodes of a dict of outputs."""
    for nodes in outputs.values():
        if isinstance(nodes, dict):
            yield from nodes.values()
        elif isinstance(nodes, list):
            yield from nodes
        elif nodes is not None:
            yield nodes
