"""Skeletons for other programs: comma-separated tables, SWC, networkx."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import FuzzyVesselError

if TYPE_CHECKING:
    from .curve_skeleton import CurveSkeleton

COLUMNS = (
    "branch", "component", "start", "end", "start_kind", "end_kind", "generation", "length_mm",
    "distance_mm", "tortuosity", "mean_radius_mm", "min_radius_mm", "max_radius_mm",
    "narrowest_radius_mm",
)  # fmt: skip
SWC_TYPE = 0  # undefined: vessels have no number of their own


def table_text(table: Mapping[str, list], path: str | Path | None = None) -> str:
    """Comma-separated text of a table of columns, numbers with 6 decimals.

    Examples
    --------
    >>> print(table_text({"name": ["left, main", ""], "length": [1.5, None]}), end="")
    name,length
    "left, main",1.500000
    ,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values()):
        writer.writerow(f"{value:.6f}" if isinstance(value, float) else value for value in row)
    return _written(text.getvalue(), path)


def _written(text, path):
    if path is not None:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text


def swc_text(
    skeleton: "CurveSkeleton",
    path: str | Path | None,
    roots: Iterable[int] | None,
    voxel_to_world: ArrayLike | None,
) -> str:
    """SWC lines: number, type, x, y, z, radius, parent."""
    if voxel_to_world is None:
        voxel_to_world = np.diag([*skeleton.spacing[::-1], 1.0])
    matrix = np.asarray(voxel_to_world, float)
    lines = ["# curve skeleton; x y z and radius in mm", "# number type x y z radius parent"]

    def add(position: np.ndarray, radius: float, parent: int) -> int:
        x, y, z = matrix[:3, :3] @ position[::-1] + matrix[:3, 3]
        number = len(lines) - 1
        lines.append(f"{number} {SWC_TYPE} {x:.6f} {y:.6f} {z:.6f} {radius:.6f} {parent}")
        return number

    at_node, done = skeleton.branches_at_nodes(), set()
    sample_of: dict[int, int] = {}
    for root in skeleton.roots(roots):
        sample_of[root] = add(skeleton.nodes[root].position, skeleton.nodes[root].radius, -1)
        front = [root]
        while front:
            node = front.pop(0)
            for number in at_node[node]:
                if number in done:
                    continue
                done.add(number)
                branch, sample = skeleton.branches[number], sample_of[node]
                step = 1 if branch.start == node else -1
                for point, size in zip(branch.points[::step][1:], branch.radius[::step][1:]):
                    sample = add(point, size, sample)
                far = branch.end if step == 1 else branch.start
                if far not in sample_of:
                    sample_of[far] = sample
                    front.append(far)
    return _written("\n".join(lines) + "\n", path)


def networkx_graph(skeleton: "CurveSkeleton") -> Any:
    """A `networkx.MultiGraph` of the skeleton; `FuzzyVesselError` where networkx is missing."""
    try:
        import networkx
    except ModuleNotFoundError as error:
        raise FuzzyVesselError(
            "to_networkx needs networkx, which is not installed: pip install networkx."
        ) from error
    graph = networkx.MultiGraph(spacing=skeleton.spacing)
    for number, node in enumerate(skeleton.nodes):
        graph.add_node(number, **vars(node))
    for number, branch in enumerate(skeleton.branches):
        graph.add_edge(
            branch.start, branch.end, key=number, points=branch.points, radius=branch.radius,
            length=skeleton.length(branch),
        )  # fmt: skip
    return graph
