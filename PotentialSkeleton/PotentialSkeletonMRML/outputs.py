"""All outputs of a skeleton: which are wanted, and how they are written to the MRML scene.

Everything is made before the first node is touched.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
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
from .tables import fill_chart, fill_table, radius_plots, table_of

CLASSES = {
    "curveNodes": ("vtkMRMLMarkupsCurveNode", _("markups curve")),
    "modelNode": ("vtkMRMLModelNode", _("model")),
    "tubesNode": ("vtkMRMLModelNode", _("model")),
    "labelmapNode": ("vtkMRMLLabelMapVolumeNode", _("labelmap volume")),
    "tableNode": ("vtkMRMLTableNode", _("table")),
    "criticalPointsNodes": ("vtkMRMLMarkupsFiducialNode", _("list of points")),
    "plotChartNodes": ("vtkMRMLPlotChartNode", _("plot chart")),
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
    plotChartNodes: object = False
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
        seen = []
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
            if node in seen:
                raise InputError(
                    _("{node} was given for two outputs; choose another.").format(
                        node=node_name(node)
                    )
                )
            seen.append(node)
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


def write_all(found: list[tuple]) -> list[SkeletonResult]:
    """Put skeletons into the scene.

    Parameters
    ----------
    found : list of tuple
        `SolidInput`, `CurveSkeleton`, `ForceField` or None, and `Requests` of each.

    Returns
    -------
    list of SkeletonResult
        Without warnings.
    """
    import slicer

    writings = [_Writing(*each) for each in found]
    with slicer.util.RenderBlocker(), all_or_nothing() as add:
        results = [writing.run(add) for writing in writings]
    for writing in writings:
        for node in writing.surplus:
            remove_node(node)
    return results


class _Writing:
    """What goes where: contents are prepared first, nodes are touched by `run`."""

    def __init__(self, solid: Any, skeleton: Any, field: Any, requests: Requests) -> None:
        self._solid, self._skeleton, self._requests = solid, skeleton, requests
        wants = requests.wants
        self._curves = branch_curves(solid, skeleton) if wants("curveNodes") else []
        self._lines = branch_lines(solid, skeleton)
        self._tubes = tubes(self._lines) if wants("tubesNode") else None
        self._labels = image_from_array(skeleton.to_labelmap()) if wants("labelmapNode") else None
        self._table = table_of(skeleton.to_table()) if wants("tableNode") else None
        self._points: dict[str, Any] = {}
        if wants("criticalPointsNodes"):
            none = dict.fromkeys(requests.given("criticalPointsNodes"), np.zeros((0, 3)))
            self._points = {**none, **points_by_kind(solid, skeleton)}
        self._plots = radius_plots(skeleton) if wants("plotChartNodes") else []
        self._field = None
        if wants("fieldNode"):
            # A direction from voxel to voxel, turned and stretched as the voxels are: lines that
            # follow it in space are those that follow it in the voxels.
            vectors = field.vectors[..., ::-1] @ solid.ijk_to_ras[:3, :3].T
            self._field = image_from_array(vectors.astype(np.float32))
        given = requests.given("curveNodes")
        self.surplus = [node for n, node in given.items() if n >= len(skeleton.branches)]

    def run(self, add: Callable[[str, str], Any]) -> SkeletonResult:
        """Add and fill all nodes; return the result."""
        self._add, self._filled, self._added = add, [], []
        solid, skeleton, transform_id = self._solid, self._skeleton, self._solid.transform_id
        name = solid.name

        def models(output: str, title: str, data: Any) -> Any:
            return self._one(
                output,
                title,
                data,
                lambda node: fill_model(node, data, transform_id),
                lambda node: show_model(node, output == "modelNode"),
            )

        curves = [
            self._node(
                "curveNodes",
                number,
                curve.name,
                lambda node, curve=curve: fill_curve(node, curve, transform_id),
                lambda node, curve=curve: show_curve(node, curve),
            )
            for number, curve in enumerate(self._curves)
        ]
        result = SkeletonResult(
            skeleton,
            solid.ijk_to_ras,
            curveNodes=curves,
            modelNode=models("modelNode", name + CENTRELINES, self._lines),
            tubesNode=models("tubesNode", f"{name} tubes", self._tubes),
            labelmapNode=self._volume("labelmapNode", f"{name} skeleton", self._labels),
            tableNode=self._one(
                "tableNode",
                f"{name} branches",
                self._table,
                lambda node: fill_table(node, self._table),
            ),
            criticalPointsNodes={
                kind: self._node(
                    "criticalPointsNodes",
                    kind,
                    f"{name} {kind}",
                    lambda node, points=points: fill_list(node, points, transform_id),
                    lambda node, kind=kind: show_list(node, kind, min(solid.spacing)),
                )
                for kind, points in self._points.items()
            },
            plotChartNodes=[
                self._node(
                    "plotChartNodes",
                    number,
                    f"{name} {plot['title'].lower()}",
                    lambda node, plot=plot: fill_chart(node, plot, add),
                )
                for number, plot in enumerate(self._plots)
            ],
            fieldNode=self._volume("fieldNode", f"{name} force", self._field),
        )
        put_beside([node for node in self._added if node not in curves], solid.node)
        result.folderItemID = group(curves, skeleton, name + CENTRELINES, solid.node)
        for node in self._filled:
            hand_over(node, SKELETON, solid.node)
        return result

    def _node(
        self,
        output: str,
        key: Any,
        name: str,
        fill: Callable[[Any], None],
        show: Callable[[Any], None] | None = None,
    ) -> Any:
        """A given or new node, filled; a new one is also displayed."""
        node = self._requests.given(output).get(key)
        new = node is None
        if new:
            node = self._add(CLASSES[output][0], name)
            self._added.append(node)
        fill(node)
        if new and show is not None:
            show(node)
        self._filled.append(node)
        return node

    def _one(self, output: str, name: str, content: Any, fill: Any, show: Any = None) -> Any:
        """The node of an output that has one only; None where it is not wanted."""
        if content is None or not self._requests.wants(output):
            return None
        return self._node(output, 0, name, fill, show)

    def _volume(self, output: str, name: str, image: Any) -> Any:
        """A volume on the object's own grid, under the same parent transform."""
        import slicer

        def fill(node: Any) -> None:
            with slicer.util.NodeModify(node):
                node.SetAndObserveTransformNodeID(self._solid.transform_id)
                node.SetIJKToRASMatrix(matrix_from_array(self._solid.ijk_to_ras))
                node.SetAndObserveImageData(image)
                if node.IsA("vtkMRMLVectorVolumeNode"):
                    node.SetVoxelVectorType(node.VoxelVectorTypeSpatial)
            if node.GetDisplayNode() is None:
                node.CreateDefaultDisplayNodes()

        return self._one(output, name, image, fill)
