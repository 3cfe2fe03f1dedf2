"""What is left of a block or a group of blocks for its neighbours: a forest on its face voxels."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.threads import thread_count

from ..affinity import GaussianAffinity
from ..solvers.blocks import Edges, sorted_by_level
from .forest import NOWHERE, levels_from, spanning_forest
from .partition import Box, Partition


class FaceGraph(NamedTuple):
    """A maximum spanning forest on the face voxels of a box and the source.

    The source is one vertex more, number ``voxels.size``: all seeds of the volume in one.

    Attributes
    ----------
    voxels : ndarray, int64, shape (n,)
        Flat indices in the volume, sorted; those inside the mask.
    intensities : ndarray, shape (n,)
    first, second : ndarray, int32
        Vertices of each edge.
    levels : ndarray, uint16
        Its level.
    vertices : ndarray, int32, shape (n,)
        Of a group: the number of each voxel in the graph of its members (`joined`).
    checksum : ndarray of uint8
        Of a block: checksum of its voxels and its mask as they were read.
    """

    voxels: np.ndarray
    intensities: np.ndarray
    first: np.ndarray
    second: np.ndarray
    levels: np.ndarray
    vertices: np.ndarray
    checksum: np.ndarray

    @property
    def edges(self) -> Edges:
        """Of the forest."""
        return self.first, self.second, self.levels


class JoinedGraph(NamedTuple):
    """The graphs of a group's members with the edges between them; the last vertex is the source.

    `offsets` has the first vertex of each member, and the source.
    """

    edges: list[Edges]
    offsets: np.ndarray

    @property
    def source(self) -> int:
        """The number of the source."""
        return int(self.offsets[-1])


def join(
    members: Sequence[FaceGraph],
    boxes: Sequence[Box],
    partition: Partition,
    affinity: GaussianAffinity,
    floor: int,
) -> JoinedGraph:
    """The graph of several boxes: their forests, and the edges of voxels that adjoin across faces.

    Raises
    ------
    OverflowError
        If there are 2**31 vertices or more.
    """

    def across(face: tuple[int, int, int]) -> Edges:
        a, b, axis = face
        border = boxes[b].start[axis]
        return crossing(members[a], members[b], axis, border, partition, affinity, floor)

    faces = adjoining(boxes)
    with ThreadPoolExecutor(thread_count()) as pool:
        return joined(members, dict(zip(faces, pool.map(across, faces))))


def joined(
    members: Sequence[FaceGraph], crossings: dict[tuple[int, int, int], Edges]
) -> JoinedGraph:
    """The same where the edges across each face of `adjoining` are known from `crossing`."""
    offsets = np.cumsum([0] + [member.voxels.size for member in members])
    if offsets[-1] >= 2**31 - 1:
        raise OverflowError(f"{offsets[-1]} face voxels are too many for one group of blocks.")
    source, edges = np.int32(offsets[-1]), []
    for member, offset in zip(members, offsets.astype(np.int32)):
        ends = [
            np.where(end == member.voxels.size, source, end + offset)
            for end in (member.first, member.second)
        ]
        edges.append((ends[0], ends[1], member.levels))
    for (a, b, _), (here, there, levels) in crossings.items():
        edges.append((here + np.int32(offsets[a]), there + np.int32(offsets[b]), levels))
    return JoinedGraph(edges, offsets)


def adjoining(boxes: Sequence[Box]) -> list[tuple[int, int, int]]:
    """Positions of two boxes of a partition that share a face, and the axis across it.

    Examples
    --------
    >>> adjoining([Box((0, 0, 0), (4, 4, 4)), Box((0, 0, 4), (4, 4, 8))])
    [(0, 1, 2)]
    """
    positions, faces = {box.start: n for n, box in enumerate(boxes)}, []
    for a, box in enumerate(boxes):
        for axis in range(3):
            k, j, i = (box.stop[n] if n == axis else box.start[n] for n in range(3))
            if (k, j, i) in positions:
                faces.append((a, positions[k, j, i], axis))
    return faces


def crossing(
    before: FaceGraph,
    behind: FaceGraph,
    axis: int,
    border: int,
    partition: Partition,
    affinity: GaussianAffinity,
    floor: int,
) -> Edges:
    """Edges across the face between two boxes, which lies before the plane `border` of the axis.

    By the vertices of each of them; of the graphs only voxels and intensities are read.
    """
    here = np.flatnonzero(partition.coordinate(before.voxels, axis) == border - 1)
    partners = before.voxels[here] + partition.strides[axis]
    there = np.searchsorted(behind.voxels, partners)
    there[there == behind.voxels.size] = 0
    exists = behind.voxels[there] == partners if behind.voxels.size else np.zeros(here.size, bool)
    here, there = here[exists], there[exists]
    levels = affinity.levels(before.intensities[here], behind.intensities[there])
    strong = levels >= floor
    return here[strong].astype(np.int32), there[strong].astype(np.int32), levels[strong]


def forest_on_cpu(graph: JoinedGraph, kept: np.ndarray) -> Edges:
    """Forest between the kept vertices; see `spanning_forest`."""
    return spanning_forest(sorted_by_level(graph.edges), kept)


def levels_on_cpu(graph: JoinedGraph) -> np.ndarray:
    """Level of the widest path from the source to each vertex."""
    return levels_from(graph.source, sorted_by_level(graph.edges), graph.source + 1)


def merge(
    members: Sequence[FaceGraph],
    boxes: Sequence[Box],
    box: Box,
    partition: Partition,
    affinity: GaussianAffinity,
    floor: int,
    forest: Callable[[JoinedGraph, np.ndarray], Edges] = forest_on_cpu,
) -> FaceGraph:
    """The face graph of a group from those of its members; parameters as of `join`."""

    def outer(member: FaceGraph, own: Box) -> np.ndarray:
        return np.flatnonzero(partition.on_inner_faces(member.voxels, box, own))

    with ThreadPoolExecutor(thread_count()) as pool:
        on_faces = list(pool.map(outer, members, boxes))
    graph = join(members, boxes, partition, affinity, floor)
    voxels = np.concatenate([of.voxels[at] for of, at in zip(members, on_faces)])
    intensities = np.concatenate([of.intensities[at] for of, at in zip(members, on_faces)])
    order = np.argsort(voxels, kind="stable")
    vertices = np.concatenate([at + n for at, n in zip(on_faces, graph.offsets)])
    vertices = vertices[order].astype(np.int32)
    kept = np.full(graph.source + 1, NOWHERE, np.int32)
    kept[vertices] = np.arange(vertices.size, dtype=np.int32)
    kept[graph.source] = vertices.size
    edges = forest(graph, kept)
    return FaceGraph(voxels[order], intensities[order], *edges, vertices, np.empty(0, np.uint8))


def member_levels(
    graph: JoinedGraph,
    outer: np.ndarray,
    levels: np.ndarray,
    widest: Callable[[JoinedGraph], np.ndarray] = levels_on_cpu,
) -> list[np.ndarray]:
    """Final levels of the vertices of each member of a group.

    Parameters
    ----------
    graph : JoinedGraph
        Of the members.
    outer, levels : ndarrays, int32 and uint16
        The vertices on the group's own faces, and their final levels.
    widest : callable
    """
    reached = levels > 0
    outer, edges = outer[reached], graph.edges
    if outer.size:
        edges = [*edges, (np.full_like(outer, graph.source), outer, levels[reached])]
    found = widest(graph._replace(edges=edges))
    return np.split(found[: graph.source], graph.offsets[1:-1])
