"""All outputs of a skeleton: which are wanted, and how they are written to the MRML scene.

Everything is made before the first node is touched.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import Cancelled, InputError, InputRemoved
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, put_beside, remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.ownership import SKELETON, check_apart, hand_over
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array, node_name
from FuzzyVesselCoreLib.progress import ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.critical_points.critical_points import KINDS

from .lines import branch_lines, fill_model, show_model, tubes
from .markups import (
    branch_curves,
    fill_curve,
    fill_list,
    group,
    points_by_kind,
    show_curve,
    show_list,
)
from .run_nodes import CENTRELINES, SkeletonResult
from .tables import fill_table, table_of

CLASSES = {
    "curveNodes": ("vtkMRMLMarkupsCurveNode", _("markups curve")),
    "modelNode": ("vtkMRMLModelNode", _("model")),
    "tubesNode": ("vtkMRMLModelNode", _("model")),
    "labelmapNode": ("vtkMRMLLabelMapVolumeNode", _("labelmap volume")),
    "tableNode": ("vtkMRMLTableNode", _("table")),
    "criticalPointsNodes": ("vtkMRMLMarkupsFiducialNode", _("list of points")),
    "fieldNode": ("vtkMRMLVectorVolumeNode", _("vector volume")),
}


@dataclass(frozen=True)
class Requests:
    """Which outputs are wanted: True or None for new nodes, False for none, or nodes to fill."""

    curveNodes: object = True
    modelNode: object = True
    labelmapNode: object = True
    tableNode: object = True
    tubesNode: object = False
    criticalPointsNodes: object = False
    fieldNode: object = False

    def wants(self, output: str) -> bool:
        return getattr(self, output) is not False

    def given(self, output: str) -> dict[Any, Any]:
        """The nodes to fill, by their number, or for the critical points by their kind."""
        request = getattr(self, output)
        if isinstance(request, dict):
            return dict(request)
        if request is None or isinstance(request, bool):
            return {}
        return dict(enumerate(request if isinstance(request, list | tuple) else [request]))

    def nodes(self) -> Iterator[tuple[str, Any]]:
        """Pairs of an output's name and a node that was given for it."""
        for each in fields(self):
            for node in self.given(each.name).values():
                yield each.name, node

    def check(self, solid: Any) -> None:
        """Refuse nodes that cannot take the result; `InputError` names them."""
        asked = self.criticalPointsNodes
        kinds = set(asked) if isinstance(asked, dict) else set()
        if not isinstance(asked, bool | dict | None) or kinds - set(KINDS):
            raise InputError(
                _(
                    "criticalPointsNodes must be True, False, or a dict of kind to node; kinds "
                    "are {kinds}."
                ).format(kinds=", ".join(KINDS))
            )
        for output, node in self.nodes():
            class_name, kind = CLASSES[output]
            if not hasattr(node, "IsA") or not node.IsA(class_name):
                name = node_name(node) if hasattr(node, "GetName") else repr(node)
                raise InputError(
                    _("The output {name} ({output}) must be a {kind}.").format(
                        name=name, output=output, kind=kind
                    )
                )
            check_apart([node], {_("input"): solid.node})
        self.check_present(solid, InputError)

    def while_present(
        self, solid: Any, progress: ProgressCallback | None
    ) -> ProgressCallback | None:
        """Return a progress callback that ends the run when the input or a node to fill goes."""
        if progress is None:
            return None  # nobody else gets a turn in the meantime

        def go_on(fraction: float) -> bool | None:
            carry_on = progress(fraction)
            self.check_present(solid)
            return carry_on

        return go_on

    def check_present(self, solid: Any, error: type[Exception] = Cancelled) -> None:
        """Raise an error if the object or a node to fill is not in the scene (any more)."""
        import slicer

        for node in (solid.node, *(node for _output, node in self.nodes())):
            if not slicer.mrmlScene.IsNodePresent(node):
                if error is Cancelled:
                    raise InputRemoved(node_name(node))
                raise error(_("{node} is not in the scene.").format(node=node_name(node)))
        if not solid.has_segment():
            raise InputRemoved(_("the segment '{name}'").format(name=solid.name))


def refuse_twice(nodes: list[Any]) -> None:
    """Raise `InputError` for a node that was given for two outputs."""
    for node in nodes:
        if nodes.count(node) > 1:
            raise InputError(
                _("{node} was given for two outputs; choose another.").format(node=node_name(node))
            )


def write_all(found: list[tuple]) -> list[SkeletonResult]:
    """Put skeletons into the scene; returns their results, without warnings.

    Of each: `SolidInput`, `CurveSkeleton`, `ForceField` or None, and `Requests`.
    """
    import slicer

    contents = [list(_contents(*each)) for each in found]
    with slicer.util.RenderBlocker(), all_or_nothing() as add:
        results = [
            _write(solid, skeleton, requests, each, add)
            for (solid, skeleton, _field, requests), each in zip(found, contents)
        ]
    for _solid, skeleton, _field, requests in found:
        for number, node in requests.given("curveNodes").items():
            if number >= len(skeleton.branches):
                remove_node(node)
    return results


def _contents(solid: Any, skeleton: Any, field: Any, requests: Requests) -> Iterator[tuple]:
    """What is written: output, key of the node in it, name, and functions that fill and display.

    ``show(node)``, or None, is for a new node.
    """
    wants, name, transform_id = requests.wants, solid.name, solid.transform_id
    lines, table = branch_lines(solid, skeleton), table_of(skeleton.to_table())

    def model(output: str, title: str, data: Any) -> tuple:
        thin = output == "modelNode"
        return (
            output,
            0,
            title,
            lambda node: fill_model(node, data, transform_id),
            lambda node: show_model(node, thin),
        )

    for number, curve in enumerate(branch_curves(solid, skeleton) if wants("curveNodes") else ()):
        yield (
            "curveNodes",
            number,
            curve.name,
            lambda node, curve=curve: fill_curve(node, curve, transform_id),
            lambda node, curve=curve: show_curve(node, curve),
        )
    if wants("modelNode"):
        yield model("modelNode", name + CENTRELINES, lines)
    if wants("tubesNode"):
        yield model("tubesNode", f"{name} tubes", tubes(lines))
    if wants("labelmapNode"):
        image = image_from_array(skeleton.to_labelmap())
        yield "labelmapNode", 0, f"{name} skeleton", partial(_fill_volume, image, solid), None
    if wants("tableNode"):
        yield "tableNode", 0, f"{name} branches", lambda node: fill_table(node, table), None
    if wants("criticalPointsNodes"):
        none = dict.fromkeys(requests.given("criticalPointsNodes"), np.zeros((0, 3)))
        for kind, points in {**none, **points_by_kind(solid, skeleton)}.items():
            yield (
                "criticalPointsNodes",
                kind,
                f"{name} {kind}",
                lambda node, points=points: fill_list(node, points, transform_id),
                lambda node, kind=kind: show_list(node, kind, min(solid.spacing)),
            )
    if wants("fieldNode"):
        # A direction from voxel to voxel, turned and stretched as the voxels are: lines that follow
        # it in space are those that follow it in the voxels.
        vectors = field.vectors[..., ::-1] @ solid.ijk_to_ras[:3, :3].T
        image = image_from_array(vectors.astype(np.float32))
        yield "fieldNode", 0, f"{name} force", partial(_fill_volume, image, solid), None


def _write(
    solid: Any, skeleton: Any, requests: Requests, contents: list[tuple], add: Callable
) -> SkeletonResult:
    """Add and fill all nodes of a skeleton."""
    found: dict[str, dict] = {output: {} for output in CLASSES}
    added, filled = [], []
    for output, key, name, fill, show in contents:
        given = requests.given(output).get(key)
        node = add(CLASSES[output][0], name) if given is None else given
        fill(node)
        if given is None and show is not None:
            show(node)
        if given is None and output != "curveNodes":
            added.append(node)
        filled.append(node)
        found[output][key] = node
    put_beside(added, solid.node)
    curves = list(found["curveNodes"].values())
    folder = group(curves, skeleton, solid.name + CENTRELINES, solid.node)
    for node in filled:
        hand_over(node, SKELETON, solid.node)
    names = ("modelNode", "tubesNode", "labelmapNode", "tableNode", "fieldNode")
    single: dict[str, Any] = {output: found[output].get(0) for output in names}
    return SkeletonResult(
        skeleton,
        solid.ijk_to_ras,
        curveNodes=curves,
        folderItemID=folder,
        criticalPointsNodes=found["criticalPointsNodes"],
        **single,
    )


def _fill_volume(image: Any, solid: Any, node: Any) -> None:
    """Put an image on the object's own grid, under the same parent transform."""
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(solid.transform_id)
        node.SetIJKToRASMatrix(matrix_from_array(solid.ijk_to_ras))
        node.SetAndObserveImageData(image)
        if node.IsA("vtkMRMLVectorVolumeNode"):
            node.SetVoxelVectorType(node.VoxelVectorTypeSpatial)
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
