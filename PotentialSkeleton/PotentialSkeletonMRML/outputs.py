"""A skeleton's run and outputs: what is wanted, computed, and written to the MRML scene.

Everything is made before the first node is touched.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from FuzzyVesselCoreLib.errors import InputRemoved
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, put_beside, remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.ownership import SKELETON, check_apart, claim
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array, node_name
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, skeletonize

from .colouring import branch_color, show_model
from .lines import branch_lines, fill_curve, fill_model, fill_table, group, show_curve, tubes
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
        segment_id = solid.segment_id
        if segment_id and solid.node.GetSegmentation().GetSegment(segment_id) is None:
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
    """Each node: its output, its name, and a function that fills it."""
    name, under, table = solid.name, {"transform_id": solid.transform_id}, skeleton.to_table()
    lines = branch_lines(solid, skeleton)
    for number, branch in enumerate(skeleton.branches if requests.curveNodes is not False else ()):
        points, mean = solid.points(branch.points), table["mean_radius_mm"][number]
        fill = partial(fill_curve, points=points, radius=branch.radius, mean=mean, **under)
        yield "curveNodes", f"{name} branch {number}", fill
    if requests.modelNode is not False:
        yield "modelNode", name + CENTRELINES, partial(fill_model, data=lines, **under)
    if requests.tubesNode is not False:
        yield "tubesNode", f"{name} tubes", partial(fill_model, data=tubes(lines), **under)
    if requests.labelmapNode is not False:
        image = image_from_array(skeleton.to_labelmap())
        yield "labelmapNode", f"{name} skeleton", partial(_fill_labelmap, image=image, solid=solid)
    if requests.tableNode is not False:
        yield "tableNode", f"{name} branches", partial(fill_table, columns=table)


def _write(
    solid: SolidInput,
    skeleton: CurveSkeleton,
    requests: Requests,
    contents: list[tuple],
    add: Callable,
) -> SkeletonResult:
    """Add and fill all nodes of a skeleton."""
    found: dict[str, list] = {output: [] for output in CLASSES}
    for output, name, fill in contents:
        number = len(found[output])
        given = requests.given(output)[number:]
        node = given[0] if given else add(CLASSES[output], name)
        fill(node)
        if not given and output == "curveNodes":
            show_curve(node, branch_color(number), min(solid.spacing))
        elif not given:
            if node.IsA("vtkMRMLModelNode"):
                show_model(node, lines=output == "modelNode")
            put_beside([node], solid.node)
        found[output].append(node)
    curves = found.pop("curveNodes")
    group(curves, solid.name + CENTRELINES, solid.node)
    single = {output: nodes[0] for output, nodes in found.items() if nodes}
    for node in (*curves, *single.values()):
        claim(node, SKELETON, solid.node)
    return SkeletonResult(skeleton, solid.ijk_to_ras, curves, **single)


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
    for solid, requests in jobs:
        check_apart(requests.nodes(), {_("input"): solid.node})
    sizes, found = [int(solid.mask.sum()) for solid, _requests in jobs], []
    root = Progress.of(progress)
    for (solid, requests), (start, end) in zip(jobs, pairwise([0, *accumulate(sizes)])):
        part = root.part(start / sum(sizes), end / sum(sizes))

        def compute(progress: Progress, solid: SolidInput = solid) -> Any:
            return skeletonize(solid.mask, solid.spacing, progress=progress, **options)

        found.append((solid, part.carry_out(compute, wait), requests))
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
