"""Rounds of contraction of a graph whose edges lie in a list on a CUDA device."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import pointer

from ...solvers.cpu.blocks.nodes import Edges
from ...solvers.cuda.contraction.node_rounds import EDGES_PER_THREAD, uint32s

KERNELS = Path(__file__).with_name("forest_rounds.cu")
THREADS = 256
PACKED, WIDE = ("NODE=u16",), ("NODE=u16", "WIDE=1")


class GraphRounds:
    """A graph's nodes, of which node 0 is the source, and its edges; each round contracts them.

    Parameters
    ----------
    gpu : CudaDevice
    nodes : int
        Below 2**24, or with `wide` below 2**32.
    room : int
        Edges that will be added at most; below 2**32.
    wide : bool
        Whether an edge takes 10 bytes instead of 8 (node_edges.cuh).
    """

    def __init__(self, gpu: CudaDevice, nodes: int, room: int, wide: bool) -> None:
        self.gpu, self.xp, self.nodes, self.edge_count = gpu, gpu.xp, nodes, 0
        self._wide = wide
        self.counts = gpu.xp.zeros(3, np.uint32)  # edges, survivors, edges of a forest
        self.best = gpu.xp.zeros(nodes, np.uint64)
        self._edges = self._list(room)
        self._spare: Any = None

    def _list(self, room: int) -> tuple[DeviceArray, DeviceArray | None]:
        room = max(room, 1)
        edges = self.xp.empty(room, np.uint64)
        return edges, self.xp.empty(room, np.uint16) if self._wide else None

    def add_packed(self, edges: DeviceArray, count: int) -> None:
        """Add edges of node_edges.cuh, before the first round."""
        self._keep(edges, None, count, None, self._edges)

    def add(self, edges: Edges, numbers: DeviceArray) -> None:
        """Add edges of the host by vertices (int32), whose nodes are their numbers (uint32)."""
        if not (count := edges[0].size):
            return
        put = (self.gpu.put(part) for part in (*_as_uint32(edges[:2]), edges[2]))
        arguments = (*put, *uint32s((count,)), numbers, self._struct(self._edges))
        self.launch("number_edges", -(-count // EDGES_PER_THREAD), arguments)

    def begin(self) -> None:
        """All edges are added."""
        self.edge_count = int(self.gpu.get(self.counts)[0])
        self._spare = self._list(self.edge_count)

    def hook(self, kept: int) -> DeviceArray:
        """The parent of each node; nodes up to `kept` are their own."""
        parent = self.xp.empty(self.nodes, np.uint32)
        self.counts[:2].fill(0)
        edges = self._edges[0], self.best
        self.launch("hook_nodes", self.nodes, uint32s((*edges, kept, self.nodes, parent)))
        return parent

    def number(self, parent: DeviceArray, kept: int, **forest: Any) -> DeviceArray:
        """Each node's number in the next round, by its parent; `forest` fills `Forest`."""
        following = self.xp.empty(self.nodes, np.uint32)
        written = self.gpu.struct(KERNELS, "Forest", **forest)
        numbers = parent, self.best, kept, self.nodes, following, self.counts[1:], written
        self.launch("number_nodes", self.nodes, uint32s(numbers))
        self.launch("follow_hooks", self.nodes, uint32s((parent, self.nodes, following)))
        return following

    def advance(self, following: DeviceArray, kept: int) -> None:
        """Go on to the next round's nodes, and to the edges that are left."""
        self.best[: self.nodes].fill(0)
        self._keep(*self._edges, self.edge_count, following, self._spare)
        self._edges, self._spare = self._spare, self._edges
        edges, survivors = (int(n) for n in self.gpu.get(self.counts)[:2])
        self.edge_count, self.nodes = edges, kept + 1 + survivors

    def _keep(
        self,
        edges: DeviceArray,
        weights: DeviceArray | None,
        count: int,
        following: DeviceArray | None,
        found: Any,
    ) -> None:
        if count:
            numbers = pointer(weights), *uint32s((count,)), pointer(following)
            arguments = (edges, *numbers, self._struct(found))
            self.launch("keep_edges", -(-count // EDGES_PER_THREAD), arguments)

    def _struct(self, found: tuple[DeviceArray, DeviceArray | None]) -> KernelStruct:
        edges, weights = found
        numbers = dict(first=0, capacity=edges.size, count=self.counts[:1])
        arrays = dict(edges=edges, best=self.best, weights=weights)
        return self.gpu.struct(KERNELS, "Edges", **arrays, **numbers)

    def launch(self, name: str, threads: int, arguments: tuple) -> None:
        """Launch a kernel of forest_rounds.cu with so many threads."""
        if threads:
            kernel = self.gpu.kernel(KERNELS, name, WIDE if self._wide else PACKED)
            kernel((-(-threads // THREADS),), (THREADS,), arguments)


def _as_uint32(ends: tuple) -> list[np.ndarray]:
    return [np.ascontiguousarray(end).view(np.uint32) for end in ends]
