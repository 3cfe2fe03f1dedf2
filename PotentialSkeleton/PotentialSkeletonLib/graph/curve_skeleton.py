"""Public result: a graph of curves through the middle of an object, with radii and measures."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

from ..critical_points.critical_points import CriticalPoint
from . import exports
from .inner_part import inner_points

END, JUNCTION, LOOP, ISOLATED = "end", "junction", "loop", "isolated"


@dataclass(frozen=True)
class Node:
    """An end, a junction, the only node of a closed loop, or of a tiny component.

    Attributes
    ----------
    position : ndarray of float, (3,)
        Voxels K, J, I.
    kind : str
        "end", "junction", "loop" or "isolated".
    radius : float
        mm.
    component : int
        Number of the object's component, from 1.
    """

    position: np.ndarray
    kind: str
    radius: float
    component: int


@dataclass(frozen=True)
class Branch:
    """A curve from node to node.

    Attributes
    ----------
    points : ndarray of float, (n, 3)
        Voxels K, J, I; the first and last are the nodes' positions.
    radius : ndarray of float, (n,)
        mm.
    start, end : int
        Indices of the nodes.
    component : int
        Number of the object's component, from 1.
    """

    points: np.ndarray
    radius: np.ndarray
    start: int
    end: int
    component: int


@dataclass(frozen=True)
class CurveSkeleton:
    """Curve skeleton of an object.

    Attributes
    ----------
    nodes : list of Node
    branches : list of Branch
    critical_points : list of CriticalPoint
        Of all components, in voxels of the volume.
    voxels : ndarray of int, (n, 3)
        The skeleton's voxels, K, J, I.
    shape : tuple of int
        Of the labelmap.
    spacing : tuple of float
        K, J, I in mm.
    report : dict
        How it was made and what was checked; see `skeletonize`.

    Examples
    --------
    >>> points = np.array([[0.0, 0, 0], [0, 3, 4]])
    >>> nodes = [Node(point, END, 1.0, 1) for point in points]
    >>> branch = Branch(points, np.ones(2), 0, 1, 1)
    >>> voxels = points.astype(int)
    >>> skeleton = CurveSkeleton(nodes, [branch], [], voxels, (1, 4, 5), (1.0, 1.0, 1.0), {})
    >>> skeleton.to_table()["length_mm"]
    [5.0]
    >>> int(skeleton.to_labelmap().sum())
    2
    """

    nodes: list[Node]
    branches: list[Branch]
    critical_points: list[CriticalPoint]
    voxels: np.ndarray
    shape: tuple[int, ...]
    spacing: tuple[float, ...]
    report: dict[str, Any]

    def to_labelmap(self) -> np.ndarray:
        """The skeleton's voxels as 1 in a uint8 volume (K, J, I)."""
        labelmap = np.zeros(self.shape, np.uint8)
        labelmap[tuple(self.voxels.T)] = 1
        return labelmap

    def to_table(self, roots: Iterable[int] | None = None) -> dict[str, list]:
        """Measures of each branch.

        Parameters
        ----------
        roots : iterable of int, optional
            Nodes from which generations are counted, at most one for each component. By default,
            and in the other components, the end of the branch with the largest mean radius (at
            the very end even of a thick branch the radius is small).

        Returns
        -------
        dict of str to list
            Columns: branch, component, start, end (nodes), start_kind, end_kind, generation (0
            for the branches at the root), length_mm, distance_mm (between its nodes), tortuosity
            (length over distance; infinite for a loop), mean_radius_mm, min_radius_mm,
            max_radius_mm, narrowest_radius_mm (the smallest without rounded tips and junctions,
            see `inner_part`).
        """
        generations = self.generations(roots)
        columns: dict[str, list] = {name: [] for name in exports.COLUMNS}
        for number, branch in enumerate(self.branches):
            length = self.length(branch)
            distance = self._length_of(branch.points[[0, -1]])
            row = (
                number, branch.component, branch.start, branch.end,
                self.nodes[branch.start].kind, self.nodes[branch.end].kind,
                generations[number], length, distance,
                length / distance if distance > 0 else float("inf"),
                self.mean_radius(branch),
                float(branch.radius.min()), float(branch.radius.max()),
                self._narrowest_radius(branch),
            )  # fmt: skip
            for name, value in zip(exports.COLUMNS, row, strict=True):
                columns[name].append(value)
        return columns

    def length(self, branch: Branch) -> float:
        """Length of a branch in mm."""
        return self._length_of(branch.points)

    def generations(self, roots: Iterable[int] | None = None) -> list[int]:
        """Generation of each branch; parameters as for `to_table`."""
        at_node: list[list[int]] = [[] for _ in self.nodes]
        for number, branch in enumerate(self.branches):
            at_node[branch.start].append(number)
            at_node[branch.end].append(number)
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

        Raises
        ------
        InputError
            A chosen number is no node, or two are in the same component.
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
            for number in (branch.start, branch.end):
                thickness[number] = max(thickness[number], self.mean_radius(branch))
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
        return exports.table_text(self.to_table(roots), path)

    def to_swc(
        self,
        path: str | Path | None = None,
        roots: Iterable[int] | None = None,
        voxel_to_world: ArrayLike | None = None,
    ) -> str:
        """The skeleton as SWC text; written to `path` if one is given.

        Parameters
        ----------
        path : str or Path, optional
        roots : iterable of int, optional
            As for `to_table`; the samples of a component begin there.
        voxel_to_world : array_like, (4, 4), optional
            From I, J, K to the world's mm, for example RAS. By default I, J, K times the spacing.

        Returns
        -------
        str
            SWC holds trees only: a cycle is cut open where its two paths from the root meet, and
            both sides end at copies of the same point.
        """
        return exports.swc_text(self, path, roots, voxel_to_world)

    def to_networkx(self) -> Any:
        """A `networkx.MultiGraph`: nodes with position, kind, radius, component; edges with points,
        radius, length; positions in voxels K, J, I, lengths in mm. Needs networkx.

        Raises
        ------
        FuzzyVesselError
            networkx is not installed.
        """
        return exports.networkx_graph(self)

    def _narrowest_radius(self, branch: Branch) -> float:
        steps = np.diff(branch.points, axis=0) * np.asarray(self.spacing)
        lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
        return float(branch.radius[inner_points(lengths, branch.radius)].min())

    def _length_of(self, points: np.ndarray) -> float:
        steps = np.diff(points, axis=0) * np.asarray(self.spacing)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    def mean_radius(self, branch: Branch) -> float:
        """Mean radius of a branch in mm, by length."""
        steps = np.sqrt(((np.diff(branch.points, axis=0) * self.spacing) ** 2).sum(axis=1))
        if steps.sum() == 0:
            return float(branch.radius.mean())
        return float(((branch.radius[1:] + branch.radius[:-1]) / 2 * steps).sum() / steps.sum())
