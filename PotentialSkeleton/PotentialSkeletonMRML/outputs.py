"""A skeleton's run and outputs: what is wanted, computed, and written to the MRML scene.

Everything is made before the first node is touched.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from FuzzyVesselCoreLib.errors import InputError, InputRemoved
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, put_beside, remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.ownership import SKELETON, check_apart, hand_over
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array, node_name
from FuzzyVesselCoreLib.progress import ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, skeletonize

from .colouring import branch_color
from .lines import (
    branch_lines,
    fill_curve,
    fill_model,
    fill_table,
    group,
    show_curve,
    show_model,
    tubes,
)
from .run_nodes import CENTRELINES, SkeletonResult, refer_to_outputs
from .solid import SolidInput

CLASSES = {
    "curveNodes": "vtkMRMLMarkupsCurveNode",
    "modelNode": "vtkMRMLModelNode",
    "tubesNode": "vtkMRMLModelNode",
    "labelmapNode": "vtkMRMLLabelMapVolumeNode",
    "tableNode": "vtkMRMLTableNode",
}


@dataclass(frozen=True)
class Requests:
    """Which outputs are wanted: True or None for new nodes, False for none, or nodes to fill."""

    curveNodes: Any = True
    modelNode: Any = True
    labelmapNode: Any = True
    tableNode: Any = True
    tubesNode: Any = False

    def given(self, output: str) -> list[Any]:
        """The nodes to fill, in their order."""
        request = getattr(self, output)
        if request is None or isinstance(request, bool):
            return []
        return list(request) if isinstance(request, list | tuple) else [request]

    def nodes(self) -> list[Any]:
        """All nodes to fill."""
        return [node for output in CLASSES for node in self.given(output)]

    def check_present(self, solid: SolidInput) -> None:
        """Raise `InputRemoved` if the object or a node to fill is not in the scene any more."""
        import slicer

        for node in (solid.node, *self.nodes()):
            if not slicer.mrmlScene.IsNodePresent(node):
                raise InputRemoved(node_name(node))
        if not solid.has_segment():
            raise InputRemoved(_("the segment '{name}'").format(name=solid.name))


def write_all(found: list[tuple[SolidInput, CurveSkeleton, Requests]]) -> list[SkeletonResult]:
    """Put skeletons into the scene; returns their results, without warnings."""
    import slicer

    contents = [list(_contents(*each)) for each in found]
    with slicer.util.RenderBlocker(), all_or_nothing() as add:
        results = [_write(*each, content, add) for each, content in zip(found, contents)]
    for _solid, skeleton, requests in found:
        for node in requests.given("curveNodes")[len(skeleton.branches) :]:
            remove_node(node)
    return results


def _contents(solid: SolidInput, skeleton: CurveSkeleton, requests: Requests) -> Iterator[tuple]:
    """Each node: its output, its name, and functions that fill it, and display a new one."""
    name, transform_id, table = solid.name, solid.transform_id, skeleton.to_table()
    lines = branch_lines(solid, skeleton)

    def nothing(node: Any) -> None:
        """Show a new node as MRML does."""

    def model(output: str, title: str, data: Any) -> tuple:
        return (
            output,
            title,
            lambda node: fill_model(node, data, transform_id),
            lambda node: show_model(node, output == "modelNode"),
        )

    for number, branch in enumerate(skeleton.branches if requests.curveNodes is not False else ()):
        curve = solid.points(branch.points), branch.radius, table["mean_radius_mm"][number]
        yield (
            "curveNodes",
            f"{name} branch {number}",
            lambda node, c=curve: fill_curve(node, c[0], c[1], c[2], transform_id),
            lambda node, n=number: show_curve(node, branch_color(n), min(solid.spacing)),
        )
    if requests.modelNode is not False:
        yield model("modelNode", name + CENTRELINES, lines)
    if requests.tubesNode is not False:
        yield model("tubesNode", f"{name} tubes", tubes(lines))
    if requests.labelmapNode is not False:
        image = image_from_array(skeleton.to_labelmap())
        title = f"{name} skeleton"
        yield "labelmapNode", title, lambda node: _fill_labelmap(node, image, solid), nothing
    if requests.tableNode is not False:
        yield "tableNode", f"{name} branches", lambda node: fill_table(node, table), nothing


def _write(
    solid: SolidInput,
    skeleton: CurveSkeleton,
    requests: Requests,
    contents: list[tuple],
    add: Callable,
) -> SkeletonResult:
    """Add and fill all nodes of a skeleton."""
    found: dict[str, list] = {output: [] for output in CLASSES}
    for output, name, fill, show in contents:
        given = requests.given(output)[len(found[output]) :]
        node = given[0] if given else add(CLASSES[output], name)
        fill(node)
        if not given:
            show(node)
            if output != "curveNodes":
                put_beside([node], solid.node)
        found[output].append(node)
    curves = found.pop("curveNodes")
    folder = group(curves, skeleton, solid.name + CENTRELINES, solid.node)
    single: dict[str, Any] = {
        output: nodes[0] if nodes else None for output, nodes in found.items()
    }
    for node in (*curves, *single.values()):
        if node is not None:
            hand_over(node, SKELETON, solid.node)
    return SkeletonResult(skeleton, solid.ijk_to_ras, curves, folder, **single)


def _fill_labelmap(node: Any, image: Any, solid: SolidInput) -> None:
    """Put labels on the object's own grid, under the same parent transform."""
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(solid.transform_id)
        node.SetIJKToRASMatrix(matrix_from_array(solid.ijk_to_ras))
        node.SetAndObserveImageData(image)
    node.CreateDefaultDisplayNodes()


# ---- a run


def extract_all(
    jobs: Sequence[tuple[SolidInput, Requests]],
    options: dict,
    progress: ProgressCallback | None,
    wait: Callable[..., Any] | None = None,
) -> list[SkeletonResult]:
    """Find the skeleton of each object, then write all outputs.

    `options` are those of `PotentialSkeletonLib.skeletonize`. ``wait(work, progress)``, where it is
    given, returns ``work(progress)``, for example of another thread.
    """
    given = [node for _solid, requests in jobs for node in requests.nodes()]
    for solid, requests in jobs:
        check_apart(requests.nodes(), {_("input"): solid.node})
    for node in given:
        if given.count(node) > 1:
            text = _("{node} was given for two outputs; choose another.")
            raise InputError(text.format(node=node_name(node)))
    sizes, done, found = [int(solid.mask.sum()) for solid, _requests in jobs], 0, []
    for (solid, requests), size in zip(jobs, sizes):
        part = _watched(solid, requests, progress, done / sum(sizes), size / sum(sizes))
        compute = partial(_compute, solid, options)
        found.append((solid, wait(compute, part) if wait else compute(part), requests))
        done += size
    return write_skeletons(found)


def write_skeletons(found: list[tuple[SolidInput, Any, Requests]]) -> list[SkeletonResult]:
    """Write the outputs of objects whose skeletons are there: all, or none."""
    from .tree_steps import begin_anew  # which writes outputs, too

    for solid, _skeleton, requests in found:
        requests.check_present(solid)
    results = write_all(found)
    for (solid, _skeleton, _requests), result in zip(found, results, strict=True):
        if result.modelNode is not None:
            refer_to_outputs(result, solid)
            begin_anew(result.modelNode)
        result.warnings = [*solid.warnings, *result.skeleton.report["warnings"]]
    return results


def _compute(solid: SolidInput, options: dict, progress: ProgressCallback | None) -> Any:
    return skeletonize(solid.mask, solid.spacing, progress=progress, **options)


def _watched(
    solid: SolidInput,
    requests: Requests,
    progress: ProgressCallback | None,
    start: float,
    share: float,
) -> ProgressCallback | None:
    """A callback for a share of the run; the run ends when its input or a node to fill goes."""
    if progress is None:
        return None  # nobody else gets a turn in the meantime

    def go_on(fraction: float) -> bool | None:
        carry_on = progress(start + share * fraction)
        requests.check_present(solid)
        return carry_on

    return go_on
