"""The nodes of a run: computed, written to the MRML scene, and found there again.

All skeletons are found before the first node is touched. The model with the lines is the centre: it
refers to the object that it was made of and to all other outputs, which follow from the lines.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputRemoved
from FuzzyVesselCoreLib.mrml import writing
from FuzzyVesselCoreLib.mrml.provenance import may_be_same, voxels_fingerprint
from FuzzyVesselCoreLib.mrml.reading import image_from_array, matrix_from_array
from FuzzyVesselCoreLib.mrml.writing import SKELETON
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, skeletonize
from PotentialSkeletonLib.curve_skeleton import Branch

from . import edits, lines
from .objects import InputObject, is_segmentation

ROLE = "PotentialSkeleton."  # begins the names of references and attributes
INPUT, SEGMENT, NOTES = ROLE + "Input", ROLE + "Segment", ROLE + "Notes"
LABEL = ROLE + "Label"  # of a labelmap, where a script named one
VESSELS = ROLE + "Vessels"  # the fingerprint of their voxels
SETTINGS = ROLE + "Settings"  # a text of the user's settings
CENTRELINES = " centrelines"  # ends a model's name

# The names that `extract` has for its outputs, to their nodes' class, and the end of their names. A
# run is told what to write as a dict of these names to the nodes to fill; of none, new ones.
NODES = {
    "modelNode": ("vtkMRMLModelNode", CENTRELINES),
    "tubesNode": ("vtkMRMLModelNode", " tubes"),
    "labelmapNode": ("vtkMRMLLabelMapVolumeNode", " skeleton"),
    "tableNode": ("vtkMRMLTableNode", " branches"),
    "curveNodes": ("vtkMRMLMarkupsCurveNode", " branch "),
}
# The model's references to the others; the last five are of version 0.1, and the panel's next run
# removes these nodes.
ROLES = {
    "curveNodes": ROLE + "Curve",
    "tubesNode": ROLE + "Tubes",
    "labelmapNode": ROLE + "Labelmap",
    "tableNode": ROLE + "Table",
} | {name: ROLE + name for name in ("Field", "attractor", "saddle-1", "saddle-2", "repeller")}


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


# ---- a run


def extract_in_place(
    objects: Sequence[InputObject], wanted: list[str], options: dict, settings: str, progress: Any
) -> list[SkeletonResult]:
    """Find the skeletons of objects in the place of those of the latest run on each, if any.

    Its outputs are filled again where they are `wanted`, as the lines always are, and removed where
    they are not. The models keep the settings, a text.
    """
    wanted = ["modelNode", *wanted]
    earlier = [own_nodes(latest_model(each.node, each.segment_id)) for each in objects]
    nodes = [{name: old.get(name, []) for name in wanted} for old in earlier]
    results = extract_all(list(zip(objects, nodes)), options, progress)
    for old, result in zip(earlier, results):
        result.modelNode.SetAttribute(SETTINGS, settings)
        for name in old.keys() - set(wanted):
            _remove_nodes(old[name])
    return results


def extract_all(
    jobs: Sequence[tuple[InputObject, dict]], options: dict, progress: ProgressCallback | None
) -> list[SkeletonResult]:
    """Find the skeleton of each object by options of `skeletonize`, then write its outputs."""
    for job in jobs:
        _check_nodes(*job)  # an error before the work begins
    ends = np.cumsum([0, *(object_.mask.sum() for object_, _nodes in jobs)])

    def compute(progress: Progress) -> list[CurveSkeleton]:
        parts = [progress.part(*shares) for shares in pairwise(ends / ends[-1])]
        return [
            skeletonize(object_.mask, object_.spacing, progress=part, **options)
            for (object_, _nodes), part in zip(jobs, parts)
        ]

    skeletons = Progress.of(progress).carry_out(compute)
    return write_skeletons(jobs, skeletons)


def write_skeletons(
    jobs: Sequence[tuple[InputObject, dict]], skeletons: Sequence[CurveSkeleton]
) -> list[SkeletonResult]:
    """Write the outputs of objects whose skeletons are there; if it fails, none is added.

    Earlier steps of a model that is filled again are gone; names stay where they fit.
    """
    import slicer

    for job in jobs:
        _check_nodes(*job)
    with slicer.util.RenderBlocker(), writing.new_nodes() as add:
        return [_write(add, *job, found) for job, found in zip(jobs, skeletons)]


def _check_nodes(object_: InputObject, nodes: dict[str, list[Any]]) -> None:
    """`InputError` where the object is to be filled itself, `InputRemoved` where a node is gone."""
    every = [node for given in nodes.values() for node in given]
    writing.check_apart(every, {_("input"): object_.node})
    writing.check_in_scene([object_.node, *every])
    if object_.segment_id and not object_.node.GetSegmentation().GetSegment(object_.segment_id):
        raise InputRemoved(_("the segment '{name}'").format(name=object_.name))


def _write(
    add: Callable, object_: InputObject, to_fill: dict[str, list[Any]], skeleton: CurveSkeleton
) -> SkeletonResult:
    """Fill the nodes that are given, and new ones for what else is wanted."""
    nodes = {}
    for output, given in ({"modelNode": []} | to_fill).items():  # the others follow from the lines
        class_name, ending = NODES[output]
        nodes[output] = given or [add(class_name, object_.name + ending)]
        if not given and output != "curveNodes":  # they lie in a folder of their own
            writing.put_beside(nodes[output], object_.node)
        for node in nodes[output]:
            writing.claim(node, SKELETON)
    model, warnings = nodes["modelNode"][0], [*object_.warnings, *skeleton.report["warnings"]]
    lines.fill_model(model, lines.branch_lines(skeleton, object_.points), object_.transform_id)
    if lost := edits.forget_steps(model):
        text = _("No branch is left where these names were: {names}.")
        warnings.append(text.format(names=", ".join(lost)))
    _set_attributes(model, object_, nodes, warnings)
    for node in nodes.get("labelmapNode", ()):
        node.SetAndObserveTransformNodeID(object_.transform_id)
        node.SetIJKToRASMatrix(matrix_from_array(object_.ijk_to_ras))
        node.SetAndObserveImageData(image_from_array(skeleton.to_labelmap()))
        node.CreateDefaultDisplayNodes()
    update_outputs(add, model)
    written = {output: each[0] for output, each in nodes.items()}
    written["curveNodes"] = own_nodes(model).get("curveNodes", [])
    if "modelNode" not in to_fill:
        writing.remove_node(written.pop("modelNode"))
    return SkeletonResult(skeleton, object_.ijk_to_ras, warnings=warnings, **written)


def _set_attributes(
    model: Any, object_: InputObject, nodes: dict[str, list[Any]], warnings: list[str]
) -> None:
    """Note in the model what its lines are made of, and the other outputs."""
    import slicer

    with slicer.util.NodeModify(model):
        writing.refer(model, INPUT, [object_.node])
        for output, role in ROLES.items():
            writing.refer(model, role, nodes.get(output, ()))
        model.SetAttribute(SEGMENT, object_.segment_id)
        model.SetAttribute(LABEL, None if object_.label is None else str(object_.label))
        model.SetAttribute(VESSELS, object_.fingerprint)
        model.SetAttribute(NOTES, json.dumps(warnings))
        model.RemoveAttribute(SETTINGS)


def update_outputs(add: Callable, model: Any) -> None:
    """Let the outputs of a run follow from its lines; the labelmap keeps the voxels found."""
    nodes = own_nodes(model)
    if "curveNodes" in nodes:
        _fill_curves(add, model, nodes["curveNodes"])
    update_names(model)
    for node in nodes.get("tubesNode", ()):  # with all arrays of the lines, names included
        lines.fill_model(node, lines.tubes(model.GetPolyData()), model.GetTransformNodeID())
    color_by(model, lines.shown_color(model))


def update_names(model: Any) -> None:
    """Let the names in the lines, in the table and of curves follow from those in the model."""
    edits.show_names(model)
    nodes, names = own_nodes(model), lines.names_of(model)
    for table in nodes.get("tableNode", ()):
        lines.fill_table(table, lines.stored_table(model))
    for number, curve in enumerate(nodes.get("curveNodes", ())):
        curve.SetName(names.get(number) or f"{tree_name(model)} branch {number}")


def color_by(model: Any, kind: str) -> None:
    """Colour the lines, tubes and curves of a run by "branch", "radius", "generation" or "tree".

    By "tree" all branches have the colour of the segment; a curve has one colour.
    """
    segment, nodes = tree_segment(model), own_nodes(model)
    tree = tuple(segment.GetColor()) if segment is not None else lines.NO_SEGMENT
    for each in (model, *nodes.get("tubesNode", ())):
        lines.color_model(each, kind, tree)
    if "curveNodes" in nodes:
        colors = lines.line_colors(model.GetPolyData(), kind, tree)
        for curve, color in zip(nodes["curveNodes"], colors):
            curve.GetDisplayNode().SetSelectedColor(color)
            curve.GetDisplayNode().SetColor(color)


# ---- the nodes of a run, found in the scene


def latest_model(input_node: Any, segment_id: str) -> Any:
    """The model of the latest run on an object, or None; a copy of it only if the model is gone."""
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
    return max(found, key=lambda model: writing.is_output(model, SKELETON), default=None)


def tree_segment(model: Any) -> Any:
    """The vtkSegment that a tree was found in, or None."""
    node = model.GetNodeReference(INPUT)
    segmentation = node.GetSegmentation() if is_segmentation(node) else None
    return segmentation and segmentation.GetSegment(model.GetAttribute(SEGMENT) or "")


def tree_name(model: Any) -> str:
    """What the tree of a model is called: its segment's name, or that of the model."""
    segment = tree_segment(model)
    if segment is not None:
        return segment.GetName()
    return model.GetName().replace(CENTRELINES, "")


def own_nodes(model: Any) -> dict[str, list[Any]]:
    """The outputs of a run that are still in the scene, by the names that `extract` has for them.

    Missing ones are left out, and copies that somebody made: no run may write into them.
    """
    if model is None or not writing.is_output(model, SKELETON):
        return {}
    found = {"modelNode": [model]}
    for output, role in ROLES.items():
        nodes = writing.referred(model, role)
        found[output] = [node for node in nodes if writing.is_output(node, SKELETON)]
    return {output: nodes for output, nodes in found.items() if nodes}


def why_outdated(models: Sequence[Any], input_node: Any, settings: str) -> str:
    """What was changed since models were made of an object, as a sentence; empty if nothing was."""
    for model in models:
        now = voxels_fingerprint(input_node, model.GetAttribute(SEGMENT))
        if not may_be_same(model.GetAttribute(VESSELS) or "", now):
            return _("The vessels were edited after the centrelines were found: press Apply.")
    if any((model.GetAttribute(SETTINGS) or settings) != settings for model in models):
        return _("Settings were changed after the centrelines were found: press Apply.")
    return ""


# ---- Branches as markup curves, which lie in a folder of the subject hierarchy

OWN_FOLDER = "FuzzyVesselGPU.Curves"  # attribute of the folder's item


def _fill_curves(add: Callable, model: Any, curves: Sequence[Any]) -> None:
    """Give each branch a curve: first these, then new ones, all in one folder; surplus ones go."""
    skeleton, (class_name, _ending) = lines.stored_skeleton(model), NODES["curveNodes"]
    source, count = model.GetNodeReference(INPUT) or model, len(skeleton.branches)
    kept = [*curves[:count], *(add(class_name, "branch") for _ in range(len(curves), count))]
    for node, branch in zip(kept, skeleton.branches):
        _fill_curve(node, branch, skeleton.mean_radius(branch), model.GetTransformNodeID())
        writing.claim(node, SKELETON)
    for node in curves[count:]:
        writing.remove_node(node)
    writing.refer(model, ROLES["curveNodes"], kept)
    _group(kept, tree_name(model) + CENTRELINES, source)


def _fill_curve(node: Any, branch: Branch, mean: float, transform_id: str | None) -> None:
    """Fill a vtkMRMLMarkupsCurveNode: hidden, locked points and the measurement Radius.

    The points of the branch are S, A, R below the parent transform, in mm, as `mean` radius is.
    """
    import slicer

    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
        node.GetDisplayNode().SetPropertiesLabelVisibility(False)
    with slicer.util.NodeModify(node):
        node.SetCurveTypeToLinear()
        node.SetAndObserveTransformNodeID(transform_id)
        slicer.util.updateMarkupsControlPointsFromArray(node, branch.points[:, ::-1])
        for number in range(node.GetNumberOfControlPoints()):
            node.SetNthControlPointVisibility(number, False)
        node.SetLocked(True)  # moved points would no longer have these radii
        measurement = node.GetMeasurement(lines.RADIUS)
        if measurement is None:
            measurement = slicer.vtkMRMLStaticMeasurement()
            measurement.SetName(lines.RADIUS)
            measurement.SetDescription(_("Distance to the object's border; the value is the mean."))
            node.AddMeasurement(measurement)
        measurement.SetControlPointValues(lines.vtk_array(branch.radius, lines.RADIUS))
        measurement.SetDisplayValue(mean, "mm")


def _group(curves: Sequence[Any], name: str, source_node: Any) -> None:
    """Put curves into the folder of the first one; a new folder lies beside `source_node`."""
    hierarchy = writing.subject_hierarchy()
    if hierarchy is None or not curves:
        return
    folder = _folder_of(curves[0])
    if not folder:
        place = writing.folder_item_of(source_node) or hierarchy.GetSceneItemID()
        folder = hierarchy.CreateFolderItem(place, name)
        hierarchy.SetItemAttribute(folder, OWN_FOLDER, "yes")
        hierarchy.SetItemExpanded(folder, False)
    for node in curves:
        item = hierarchy.GetItemByDataNode(node) or hierarchy.CreateItem(folder, node)
        hierarchy.SetItemParent(item, folder)


def _folder_of(node: Any) -> int:
    """The item of the folder that a node lies in, or 0."""
    hierarchy = writing.subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    return hierarchy.GetItemAncestorAtLevel(item, "Folder") if item else 0


def _remove_nodes(nodes: Sequence[Any]) -> None:
    """Remove nodes and, where these were all of its curves, the folder that was made for them."""
    hierarchy = writing.subject_hierarchy()
    for node in nodes:
        folder = _folder_of(node)
        writing.remove_node(node)
        own = folder and hierarchy.HasItemAttribute(folder, OWN_FOLDER)
        if own and not hierarchy.GetNumberOfItemChildren(folder):
            hierarchy.RemoveItem(folder)
