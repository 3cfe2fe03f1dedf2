"""Public result: a graph of curves through the middle of an object, with radii and measures."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError

from .course import Course
from .critical_points import CriticalPoint

COLUMNS = (  # of the table of branches
    "branch", "component", "start", "end", "start_kind", "end_kind", "generation", "length_mm",
    "distance_mm", "tortuosity", "mean_radius_mm", "min_radius_mm", "max_radius_mm",
    "narrowest_radius_mm",
)  # fmt: skip
SWC_TYPE = 0  # undefined: vessels have no number of their own
END, JUNCTION, LOOP, ISOLATED = "end", "junction", "loop", "isolated"


@dataclass(frozen=True)
class Node:
    """An end, a junction, the only node of a closed loop, or of a tiny component."""

    position: np.ndarray  # (3,), voxels K, J, I (in the scene mm S, A, R)
    kind: str  # "end", "junction", "loop" or "isolated"
    radius: float  # mm
    component: int  # number of the object's component, from 1


@dataclass(frozen=True)
class Branch:
    """A curve from node to node."""

    points: np.ndarray  # (n, 3), likewise; the first and last are the nodes' positions
    radius: np.ndarray  # (n,), mm
    start: int  # index of the node
    end: int
    component: int  # number of the object's component, from 1


@dataclass(frozen=True)
class CurveSkeleton:
    """Curve skeleton of an object.

    Examples
    --------
    >>> points = np.array([[0.0, 0, 0], [0, 3, 4]])
    >>> nodes = [Node(point, END, 1.0, 1) for point in points]
    >>> branch = Branch(points, np.ones(2), 0, 1, 1)
    >>> voxels = points.astype(int)
    >>> skeleton = CurveSkeleton(nodes, [branch], [], voxels, (1, 4, 5), (1.0, 1.0, 1.0), {})
    >>> skeleton.to_table()["length_mm"]
    [5.0]
    """

    nodes: list[Node]
    branches: list[Branch]
    critical_points: list[CriticalPoint]  # of all components, in voxels of the volume
    voxels: np.ndarray  # of the skeleton, (n, 3), K, J, I
    shape: tuple[int, ...]  # of the labelmap
    spacing: tuple[float, ...]  # K, J, I in mm
    report: dict[str, Any]  # how it was made and what was checked; see `skeletonize`

    def to_labelmap(self) -> np.ndarray:
        """The skeleton's voxels as 1 in a uint8 volume (K, J, I)."""
        labelmap = np.zeros(self.shape, np.uint8)
        labelmap[tuple(self.voxels.T)] = 1
        return labelmap

    def to_table(self, roots: Iterable[int] | None = None) -> dict[str, list]:
        """Measures of each branch, by columns.

        branch, component, start, end (nodes), start_kind, end_kind, generation (0 for the branches
        at the root), length_mm, distance_mm (between its nodes), tortuosity (length over distance;
        infinite for a loop), mean_radius_mm, min_radius_mm, max_radius_mm, narrowest_radius_mm (the
        smallest without rounded tips and junctions, see `Course.inner_points`). `roots` are nodes
        from which generations are counted; see the method of that name.
        """
        rows, generations = [], self.generations(roots)
        for number, branch in enumerate(self.branches):
            course, radius = self.course(branch), branch.radius
            length = float(course.lengths[-1])
            distance = float(np.linalg.norm(course.points[-1] - course.points[0]))
            rows.append((
                number, branch.component, branch.start, branch.end,
                self.nodes[branch.start].kind, self.nodes[branch.end].kind,
                generations[number], length, distance,
                length / distance if distance > 0 else float("inf"),
                course.mean_radius, float(radius.min()), float(radius.max()),
                float(radius[course.inner_points()].min()),
            ))  # fmt: skip
        columns = zip(*rows) if rows else ((),) * len(COLUMNS)
        return {name: list(values) for name, values in zip(COLUMNS, columns, strict=True)}

    def course(self, branch: Branch) -> Course:
        """The polyline of a branch in mm along K, J, I, with its radii."""
        return Course(branch.points * np.asarray(self.spacing), branch.radius)

    def length(self, branch: Branch) -> float:
        """Length of a branch in mm."""
        return float(self.course(branch).lengths[-1])

    def mean_radius(self, branch: Branch) -> float:
        """Mean radius of a branch in mm, by length."""
        return self.course(branch).mean_radius

    def branches_at_nodes(self) -> list[list[int]]:
        """Numbers of the branches that meet at each node; a closed one twice."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, branch in enumerate(self.branches):
            found[branch.start].append(number)
            found[branch.end].append(number)
        return found

    def generations(self, roots: Iterable[int] | None = None) -> list[int]:
        """Generation of each branch, from 0 at the roots."""
        at_node = self.branches_at_nodes()
        generations = [-1] * len(self.branches)
        front = self.roots(roots)
        seen, generation = set(front), 0
        while front:
            following = []
            for number in (number for node in front for number in at_node[node]):
                if generations[number] >= 0:
                    continue
                generations[number] = generation
                for node in (self.branches[number].start, self.branches[number].end):
                    if node not in seen:
                        seen.add(node)
                        following.append(node)
            front, generation = following, generation + 1
        return generations

    def roots(self, chosen: Iterable[int] | None = None) -> list[int]:
        """One node for each component: the chosen ones, else the end of the thickest branch.

        The mean radius of the branch decides: at the very end even of a thick one it is small.
        `InputError` if a chosen number is no node, or two are in the same component.
        """
        by_component: dict[int, int] = {}
        for root in chosen or ():
            if not 0 <= root < len(self.nodes):
                raise InputError(f"Root {root} is no node; the skeleton has {len(self.nodes)}.")
            component = self.nodes[root].component
            if component in by_component:
                raise InputError(
                    f"Roots {by_component[component]} and {root} lie in the same component; "
                    "choose one."
                )
            by_component[component] = root
        thickness = [0.0] * len(self.nodes)
        for branch in self.branches:
            mean = self.mean_radius(branch)
            for number in (branch.start, branch.end):
                thickness[number] = max(thickness[number], mean)
        best: dict[int, tuple[tuple, int]] = {}
        for number, node in enumerate(self.nodes):
            rank = (node.kind == END, thickness[number], node.radius)
            if node.component not in best or rank > best[node.component][0]:
                best[node.component] = rank, number
        for component, (_, number) in best.items():
            by_component.setdefault(component, number)
        return [by_component[component] for component in sorted(by_component)]

    def to_csv(self, path: str | Path | None = None, roots: Iterable[int] | None = None) -> str:
        """The table as comma-separated text; written to `path` if one is given."""
        return table_text(self.to_table(roots), path)

    def to_swc(
        self,
        path: str | Path | None = None,
        roots: Iterable[int] | None = None,
        voxel_to_world: ArrayLike | None = None,
    ) -> str:
        """The skeleton as SWC text; written to `path` if one is given.

        SWC holds trees only: a cycle is cut open where its two paths from the root meet, and both
        sides end at copies of the same point. `voxel_to_world` (4, 4) leads from I, J, K to the
        world's mm, for example RAS; by default I, J, K times the spacing.
        """
        if voxel_to_world is None:
            voxel_to_world = np.diag([*self.spacing[::-1], 1.0])
        matrix = np.asarray(voxel_to_world, float)
        lines = ["# curve skeleton; x y z and radius in mm", "# number type x y z radius parent"]

        def add(position: np.ndarray, radius: float, parent: int) -> int:
            x, y, z = matrix[:3, :3] @ position[::-1] + matrix[:3, 3]
            number = len(lines) - 1
            lines.append(f"{number} {SWC_TYPE} {x:.6f} {y:.6f} {z:.6f} {radius:.6f} {parent}")
            return number

        at_node, done = self.branches_at_nodes(), set()
        sample_of: dict[int, int] = {}
        for root in self.roots(roots):
            sample_of[root] = add(self.nodes[root].position, self.nodes[root].radius, -1)
            front = [root]
            while front:
                node = front.pop(0)
                for number in at_node[node]:
                    if number in done:
                        continue
                    done.add(number)
                    branch, sample = self.branches[number], sample_of[node]
                    step = 1 if branch.start == node else -1
                    for point, size in zip(branch.points[::step][1:], branch.radius[::step][1:]):
                        sample = add(point, size, sample)
                    far = branch.end if step == 1 else branch.start
                    if far not in sample_of:
                        sample_of[far] = sample
                        front.append(far)
        return _written("\n".join(lines) + "\n", path)

    def to_networkx(self) -> Any:
        """A `networkx.MultiGraph`: nodes with position, kind, radius, component; edges with points,
        radius, length; positions in voxels K, J, I, lengths in mm. `FuzzyVesselError` without
        networkx.
        """
        try:
            import networkx
        except ModuleNotFoundError as error:
            raise FuzzyVesselError(
                "to_networkx needs networkx, which is not installed: pip install networkx."
            ) from error
        graph = networkx.MultiGraph(spacing=self.spacing)
        for number, node in enumerate(self.nodes):
            graph.add_node(number, **vars(node))
        for number, branch in enumerate(self.branches):
            graph.add_edge(
                branch.start, branch.end, key=number, points=branch.points, radius=branch.radius,
                length=self.length(branch),
            )  # fmt: skip
        return graph


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


def node_kind(degree: int, is_closed: bool) -> str:
    """Kind of a node at which so many ends of branches meet; closed: both of one branch."""
    if degree == 2 and is_closed:
        return LOOP
    return {0: ISOLATED, 1: END}.get(degree, JUNCTION)


def component_numbers(count: int, pairs: Any) -> list[int]:
    """Number of each node's connected component, from 1 in the order of their first nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, last = np.array(pairs, int).reshape(-1, 2).T
    graph = coo_array((np.ones(len(first)), (first, last)), (count, count))
    return (connected_components(graph, directed=False)[1] + 1).tolist() if count else []
