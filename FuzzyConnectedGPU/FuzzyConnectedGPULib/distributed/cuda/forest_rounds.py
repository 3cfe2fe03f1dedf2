"""Contraction to a forest between face voxels and the source: the nodes of tiles, in rounds."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import pointer
from FuzzyVesselCoreLib.progress import Progress

from ...affinity.levels import TOP_LEVEL
from ...solvers.cpu.blocks.nodes import Edges
from ...solvers.cuda.contraction.contracted_tiles import ContractedTiles
from ...solvers.cuda.contraction.node_rounds import EDGES_PER_THREAD, FirstRound, uint32s

KERNELS = Path(__file__).with_name("forest_rounds.cu")
THREADS = 256


class FaceTiles(ContractedTiles):
    """The tiles of a block whose seeds, among them its face voxels, are nodes of their own."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.node_type = np.uint16  # a tile at a block's corner has more than 255 face voxels


class FaceRound(FirstRound):
    """The first round; face voxel n is node n + 1 of the next one, all other seeds are node 0."""

    def __init__(self, tiles: FaceTiles, faces: np.ndarray) -> None:
        super().__init__(tiles)
        self.face_count = faces.size
        self._faces = self.gpu.put(faces) if faces.size else None
        self.surviving.fill(faces.size)  # the survivors are numbered behind them

    def number_roots(self, tiles: ContractedTiles) -> None:
        """Give the face voxels' nodes their numbers."""
        place = tiles.grid(KERNELS), tiles.node_map(KERNELS), self.next
        arguments = uint32s((self._faces, self.face_count, *place))
        _launch(self.gpu, "number_faces", self.face_count, arguments)


def spanning_forest(
    tiles: FaceTiles, faces: np.ndarray, face_seeds: np.ndarray, progress: Progress
) -> Edges:
    """The forest of a block whose tiles are contracted.

    Parameters
    ----------
    tiles : FaceTiles
    faces : ndarray, int64
        Flat indices in the block.
    face_seeds : ndarray, int32
        Positions in `faces` of those that are seeds, too.
    progress : Progress

    Returns
    -------
    Edges
        By positions in `faces`; the source is ``faces.size``.
    """
    edges = (face_seeds.astype(np.uint64) + np.uint64(1)) << np.uint64(40) | np.uint64(TOP_LEVEL)
    lists, nodes = [], faces.size + 1
    if edges.size:
        lists.append((tiles.gpu.put(edges), edges.size))
    if tiles.node_count:
        first = FaceRound(tiles, faces)
        first.hook(tiles)
        first.list_edges(tiles)
        lists, nodes = [*first.lists, *lists], first.next_count
        del first.best, first.next, first.weights, first.lists
    rounds = ForestRounds(tiles.gpu, lists, nodes, faces.size)
    lists.clear()
    rounds.work(progress)
    return rounds.forest()


class ForestRounds:
    """Rounds among nodes 0 (the source), 1 to `faces`, and others, whose edges are in lists."""

    def __init__(self, gpu: CudaDevice, lists: list, nodes: int, faces: int) -> None:
        self._gpu, self._xp, self._faces, self._nodes = gpu, gpu.xp, faces, nodes
        self._counts = gpu.xp.zeros(3, np.uint32)  # edges, survivors, edges of the forest
        self._room = max(sum(count for _, count in lists), 1)
        self._edges, self._edge_count = gpu.xp.empty(self._room, np.uint64), 0
        self._best = gpu.xp.zeros(nodes, np.uint64)
        for edges, count in lists:
            self._keep(edges, count, None, self._edges)
        self._edge_count = int(gpu.get(self._counts)[0])
        self._spare = gpu.xp.empty(self._edge_count, np.uint64) if self._edge_count else None
        room = max(faces, 1)
        types = np.uint32, np.uint32, np.uint16
        self._forest = tuple(gpu.xp.empty(room, kind) for kind in types)
        self._began: DeviceArray = None

    def work(self, progress: Progress) -> None:
        """All rounds: first those in which the face voxels are kept."""
        while self._nodes > self._faces + 1 and self._edge_count:
            progress.check()
            self._round(self._faces)
        self._began = self._gpu.put(np.arange(self._faces + 1, dtype=np.uint32))
        while self._edge_count:
            progress.check()
            self._round(0)

    def forest(self) -> Edges:
        """The forest that was found."""
        count = int(self._gpu.get(self._counts)[2])
        first, second, levels = (self._gpu.get(part[:count]) for part in self._forest)
        for end in (first, second):
            end -= np.uint32(1)  # node 0 becomes the highest number
            np.minimum(end, np.uint32(self._faces), out=end)
        return first.view(np.int32), second.view(np.int32), levels

    def _round(self, kept: int) -> None:
        """One round, in which nodes up to `kept` hook nowhere."""
        xp, nodes = self._xp, self._nodes
        parent, following = xp.empty(nodes, np.uint32), xp.empty(nodes, np.uint32)
        self._counts[:2].fill(0)
        _launch(
            self._gpu, "hook_nodes", nodes, uint32s((self._edges, self._best, kept, nodes, parent))
        )
        began = None if self._began is None else xp.empty(nodes, np.uint32)
        first, second, levels = self._forest
        forest = dict(first=first, second=second, levels=levels, count=self._counts[2:])
        written = self._gpu.struct(KERNELS, "Forest", **forest, began=self._began, next_began=began)
        numbers = parent, self._best, kept, nodes, following, self._counts[1:], written
        _launch(self._gpu, "number_nodes", nodes, uint32s(numbers))
        _launch(self._gpu, "follow_hooks", nodes, uint32s((parent, nodes, following)))
        self._best.fill(0)
        self._keep(self._edges, self._edge_count, following, self._spare)
        self._edges, self._spare = self._spare, self._edges
        edges, survivors = (int(n) for n in self._gpu.get(self._counts)[:2])
        self._edge_count, self._nodes, self._began = edges, kept + 1 + survivors, began

    def _keep(self, edges: DeviceArray, count: int, following: Any, found: DeviceArray) -> None:
        counter = self._counts[:1]
        listed_edges(edges, count, following, found, counter, self._best, self._gpu)


def listed_edges(
    edges: DeviceArray,
    count: int,
    following: DeviceArray | None,
    found: DeviceArray,
    counter: DeviceArray,
    best: DeviceArray,
    gpu: CudaDevice,
) -> None:
    """Add the edges that lead from one node to another to a list, and offer them to their nodes.

    Parameters
    ----------
    edges, count : array, uint64, and int
        Edges of node_edges.cuh, and how many.
    following : array, uint32, or None
        Each node's number in the list; None: the same.
    found : array, uint64
        The list.
    counter : array, uint32, shape (1,)
        Number of edges in the list.
    best : array, uint64
        Best edge of each node.
    gpu : CudaDevice
    """
    if count == 0:
        return
    numbers = dict(first=0, capacity=found.size, count=counter, best=best)
    kept = gpu.struct(KERNELS, "Edges", edges=found, **numbers)
    arguments = (*uint32s((edges, count)), pointer(following), kept)
    _launch(gpu, "keep_edges", -(-count // EDGES_PER_THREAD), arguments)


def _launch(gpu: CudaDevice, name: str, threads: int, arguments: tuple) -> None:
    if threads:
        gpu.kernel(KERNELS, name, ("NODE=u16",))((-(-threads // THREADS),), (THREADS,), arguments)
