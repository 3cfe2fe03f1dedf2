"""Which outputs are wanted, and the nodes that were given for them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from FuzzyVesselCoreLib.errors import Cancelled, InputError, InputRemoved
from FuzzyVesselCoreLib.mrml.ownership import check_apart
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.progress import ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.critical_points.critical_points import KINDS

CURVE, MODEL = "vtkMRMLMarkupsCurveNode", "vtkMRMLModelNode"
LABELMAP, TABLE = "vtkMRMLLabelMapVolumeNode", "vtkMRMLTableNode"
FIDUCIALS, CHART = "vtkMRMLMarkupsFiducialNode", "vtkMRMLPlotChartNode"
VECTORS = "vtkMRMLVectorVolumeNode"
CLASSES = {
    "curveNodes": (CURVE, _("markups curve")),
    "modelNode": (MODEL, _("model")),
    "tubesNode": (MODEL, _("model")),
    "labelmapNode": (LABELMAP, _("labelmap volume")),
    "tableNode": (TABLE, _("table")),
    "criticalPointsNodes": (FIDUCIALS, _("list of points")),
    "plotChartNodes": (CHART, _("plot chart")),
    "fieldNode": (VECTORS, _("vector volume")),
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

    def given(self, output: str) -> Any:
        """The nodes to fill: a list, or for the critical points a dict of kind to node."""
        request = getattr(self, output)
        if output == "criticalPointsNodes":
            return dict(request) if isinstance(request, dict) else {}
        if request is None or isinstance(request, bool):
            return []
        return list(request) if isinstance(request, list | tuple) else [request]

    def nodes(self) -> Iterator[tuple[str, Any]]:
        """Pairs of an output's name and a node that was given for it."""
        for each in fields(self):
            given = self.given(each.name)
            for node in given.values() if isinstance(given, dict) else given:
                yield each.name, node

    def check(self, solid: Any) -> None:
        """Refuse nodes that cannot take the result; `InputError` names them."""
        kinds = set(self.given("criticalPointsNodes"))
        if not isinstance(self.criticalPointsNodes, bool | dict | None) or kinds - set(KINDS):
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
