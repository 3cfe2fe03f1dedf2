"""Contraction to a forest between face voxels and the source, in rounds."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress

from ...affinity import TOP_LEVEL
from ...solvers.cpu.blocks.nodes import Edges
from ...solvers.cuda.contraction.contracted_tiles import ContractedTiles
from ...solvers.cuda.contraction.node_rounds import FirstRound, uint32s
from .graph_rounds import KERNELS, PACKED, THREADS, GraphRounds


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
        if not self.face_count:
            return
        place = tiles.grid(KERNELS), tiles.node_map(KERNELS), self.next
        arguments = uint32s((self._faces, self.face_count, *place))
        kernel = self.gpu.kernel(KERNELS, "number_faces", PACKED)
        kernel((-(-self.face_count // THREADS),), (THREADS,), arguments)


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
    rounds = ForestRounds(tiles.gpu, nodes, sum(count for _, count in lists), faces.size)
    while lists:
        rounds.add_packed(*lists.pop(0))
    return rounds.forest(progress)


class ForestRounds(GraphRounds):
    """Rounds among nodes 0 (the source), 1 to `kept`, and others, to a forest between the first.

    Parameters
    ----------
    gpu, nodes, room, wide
        As of `GraphRounds`.
    kept : int
    """

    def __init__(
        self, gpu: CudaDevice, nodes: int, room: int, kept: int, wide: bool = False
    ) -> None:
        super().__init__(gpu, nodes, room, wide)
        self._kept = kept
        self._began: DeviceArray = None

    def forest(self, progress: Progress) -> Edges:
        """All rounds, first those in which no kept node hooks; edges by node - 1, source last."""
        self.begin()
        room, types = max(self._kept, 1), (np.uint32, np.uint32, np.uint16)
        found = tuple(self.xp.empty(room, kind) for kind in types)
        while self.nodes > self._kept + 1 and self.edge_count:
            progress.check()
            self._round(self._kept, found)
        self._began = self.gpu.put(np.arange(self._kept + 1, dtype=np.uint32))
        while self.edge_count:
            progress.check()
            self._round(0, found)
        count = int(self.gpu.get(self.counts)[2])
        first, second, levels = (self.gpu.get(part[:count]) for part in found)
        for end in (first, second):
            end -= np.uint32(1)  # node 0 becomes the highest number
            np.minimum(end, np.uint32(self._kept), out=end)
        return first.view(np.int32), second.view(np.int32), levels

    def _round(self, kept: int, found: tuple) -> None:
        began = None if self._began is None else self.xp.empty(self.nodes, np.uint32)
        forest = dict(zip(("first", "second", "levels"), found), count=self.counts[2:])
        parent = self.hook(kept)
        following = self.number(parent, kept, **forest, began=self._began, next_began=began)
        del parent
        self.advance(following, kept)
        self._began = began
