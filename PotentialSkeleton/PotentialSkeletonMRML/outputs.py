"""All outputs of a skeleton, written to the MRML scene at once.

Everything is made before the first node is touched, nodes that are added come before those that
were given, and what was added is removed again if anything fails: the scene is either complete or
as it was.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, put_beside, remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.ownership import SKELETON, hand_over

from .nodes.critical_lists import fill_list, points_by_kind, show_list
from .nodes.curve_folder import group
from .nodes.curves import branch_curves, fill_curve, points_of, show_curve
from .nodes.lines import branch_lines, fill_model, show_model, tubes
from .nodes.tables import branch_table, fill_chart, fill_table, radius_plots
from .nodes.volumes import field_image, fill_volume
from .output_requests import CLASSES
from .result import SkeletonResult


def write_outputs(solid: Any, skeleton: Any, field: Any, requests: Any) -> Any:
    """Put a skeleton into the scene.

    Parameters
    ----------
    solid : SolidInput
    skeleton : CurveSkeleton
    field : ForceField or None
        Needed only where `fieldNode` is wanted.
    requests : Requests

    Returns
    -------
    SkeletonResult
        Without warnings.
    """
    return write_all([(solid, skeleton, field, requests)])[0]


def write_all(found: list[tuple]) -> list[SkeletonResult]:
    """Put several skeletons into the scene, all or none.

    Parameters
    ----------
    found : list of tuple
        The arguments of `write_outputs` for each.

    Returns
    -------
    list of SkeletonResult
    """
    import slicer

    writings = [_Writing(*each) for each in found]
    with slicer.util.RenderBlocker(), all_or_nothing() as change:
        results = [writing.run(change) for writing in writings]
    for node in (node for writing in writings for node in writing.surplus):
        remove_node(node)
    return results


class _Writing:
    """What goes where: contents are prepared first, nodes are touched by `run`."""

    def __init__(self, solid: Any, skeleton: Any, field: Any, requests: Any) -> None:
        self._solid = solid
        self._skeleton = skeleton
        self._requests = requests
        self._transform = solid.transform_id
        self._prepare(field)
        curves = requests.given("curveNodes")
        self.surplus = curves[len(skeleton.branches) :]

    def _prepare(self, field: Any) -> None:
        solid, skeleton, wants = self._solid, self._skeleton, self._requests.wants
        self._curves = branch_curves(solid, skeleton) if wants("curveNodes") else []
        self._lines = branch_lines(solid, skeleton)
        self._tubes = tubes(self._lines) if wants("tubesNode") else None
        self._labels = image_from_array(skeleton.to_labelmap()) if wants("labelmapNode") else None
        self._table = branch_table(skeleton) if wants("tableNode") else None
        self._points = {}
        if wants("criticalPointsNodes"):
            none = dict.fromkeys(
                self._requests.given("criticalPointsNodes"), points_of(np.zeros((0, 3)))
            )
            self._points = {**none, **points_by_kind(solid, skeleton)}
        self._plots = radius_plots(skeleton) if wants("plotChartNodes") else []
        self._field = field_image(solid, field) if wants("fieldNode") else None

    def run(self, change: Any) -> Any:
        """Add and fill all nodes; return the result."""
        self._change = change
        self._new: list[Any] = []
        self._given: list[Any] = []
        self._added: list[Any] = []
        self._filled: list[Any] = []
        name = self._solid.name
        curves = [self._curve(*pair) for pair in enumerate(self._curves)]
        result = SkeletonResult(
            self._skeleton,
            self._solid.ijk_to_ras,
            curveNodes=curves,
            modelNode=self._model("modelNode", f"{name} centrelines", self._lines),
            tubesNode=self._model("tubesNode", f"{name} tubes", self._tubes),
            labelmapNode=self._volume("labelmapNode", f"{name} skeleton", self._labels),
            tableNode=self._one("tableNode", f"{name} branches", fill_table, self._table),
            criticalPointsNodes={
                kind: self._list(kind, points) for kind, points in self._points.items()
            },
            plotChartNodes=[self._chart(*pair) for pair in enumerate(self._plots)],
            fieldNode=self._volume("fieldNode", f"{name} force", self._field),
        )
        for fill in self._new + self._given:
            fill()
        source = self._solid.node
        put_beside([node for node in self._added if node not in curves], source)
        result.folderItemID = group(curves, self._skeleton, f"{name} centrelines", source)
        for node in self._added + self._filled:
            hand_over(node, SKELETON, source)
        return result

    def _node(
        self,
        output: str,
        name: str,
        fill: Callable[[Any], None],
        show: Callable[[Any], None] | None = None,
        given: Any = None,
    ) -> Any:
        """A given or new node; it is filled later, a new one is also shown."""
        if given is not None:
            self._filled.append(given)
            self._given.append(lambda: fill(given))
            return given
        node = self._change(CLASSES[output][0], name)
        self._added.append(node)
        self._new.append(lambda: fill(node))
        if show is not None:
            self._new.append(lambda: show(node))
        return node

    def _one(
        self,
        output: str,
        name: str,
        fill: Callable[[Any, Any], None],
        content: Any,
        show: Callable[[Any], None] | None = None,
    ) -> Any:
        """The node of an output that has one only; None where it is not wanted."""
        if not self._requests.wants(output):
            return None
        given = next(iter(self._requests.given(output)), None)
        return self._node(output, name, lambda node: fill(node, content), show, given)

    def _model(self, output: str, name: str, data: Any) -> Any:
        def fill(node: Any, content: Any) -> None:
            fill_model(node, content, self._transform)

        thin = output == "modelNode"
        return self._one(output, name, fill, data, lambda node: show_model(node, thin))

    def _volume(self, output: str, name: str, image: Any) -> Any:
        return self._one(output, name, lambda n, c: fill_volume(n, c, self._solid), image)

    def _curve(self, number: int, curve: Any) -> Any:
        given = dict(enumerate(self._requests.given("curveNodes"))).get(number)
        return self._node(
            "curveNodes",
            curve.name,
            lambda node: fill_curve(node, curve, self._transform),
            lambda node: show_curve(node, curve),
            given,
        )

    def _list(self, kind: str, points: np.ndarray) -> Any:
        return self._node(
            "criticalPointsNodes",
            f"{self._solid.name} {kind}",
            lambda node: fill_list(node, points, self._transform),
            lambda node: show_list(node, kind, min(self._solid.spacing)),
            self._requests.given("criticalPointsNodes").get(kind),
        )

    def _chart(self, number: int, plot: dict[str, Any]) -> Any:
        given = dict(enumerate(self._requests.given("plotChartNodes"))).get(number)
        return self._node(
            "plotChartNodes",
            f"{self._solid.name} {plot['title'].lower()}",
            lambda node: fill_chart(node, plot, self._change),
            given=given,
        )
