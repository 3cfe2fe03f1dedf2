"""Levels of all face voxels from the graph that joins all blocks, on a CUDA device."""

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray

from ...affinity.levels import TOP_LEVEL
from ...solvers.cuda.contraction import node_rounds
from ...solvers.cuda.contraction.node_rounds import MAX_ROUNDS, ROUND_THREADS, FirstRound, Rounds
from ..face_graph import JoinedGraph
from .forest_rounds import listed_edges

MACROS = "VOXEL=short", "NODE=u16"  # of a file whose kernel for this has neither


class _AllNodes(FirstRound):
    """The graph's vertices as the nodes of a first round in which none hooked."""

    def __init__(self, edges: DeviceArray, count: int, gpu: CudaDevice) -> None:
        self.count = self.next_count = count
        self.best, found = gpu.xp.zeros(count, np.uint64), gpu.xp.zeros(1, np.uint32)
        kept = gpu.xp.empty(edges.size, np.uint64)
        listed_edges(edges, edges.size, None, kept, found, self.best, gpu)
        self.cross_first = int(gpu.get(found)[0])
        self.lists = [(kept, self.cross_first), (kept, 0)]
        self.next = gpu.put(np.arange(count, dtype=np.uint32))
        self.weights = gpu.put(np.full(count, TOP_LEVEL, np.uint16))


def face_levels(graph: JoinedGraph, gpu: CudaDevice) -> np.ndarray:
    """Level of the widest path from the source to each vertex; the source is the last one.

    Parameters
    ----------
    graph : JoinedGraph
        With fewer vertices than `node_rounds.MAX_NODES`, and at least one edge.
    gpu : CudaDevice
        Inside its ``with`` block.

    Returns
    -------
    ndarray, uint16
    """
    count = graph.source + 1
    first = _AllNodes(gpu.put(_packed(graph)), count, gpu)
    counts = gpu.xp.zeros(node_rounds.COUNTS, np.uint32)
    rounds = Rounds(gpu, node_rounds.KERNELS, first, counts)
    nodes = dict(count=count, next=first.next, weights=first.weights)
    struct = gpu.struct(node_rounds.KERNELS, "FirstNodes", **nodes)
    gpu.launch_cooperative(
        gpu.kernel(node_rounds.KERNELS, "further_rounds", MACROS),
        -(-rounds.threads // ROUND_THREADS),
        ROUND_THREADS,
        (rounds.lists, rounds.nodes, struct),
    )
    assert int(gpu.get(counts)[2 * MAX_ROUNDS]) <= MAX_ROUNDS
    levels = gpu.get(first.weights)
    return np.append(levels[1:], levels[:1])  # on the device the source is node 0


def _packed(graph: JoinedGraph) -> np.ndarray:
    """The edges as in node_edges.cuh: 24 bits for each end, 16 for the level."""
    packed = np.empty(sum(edges[0].size for edges in graph.edges), np.uint64)
    at, count = 0, np.uint64(graph.source + 1)
    for one, other, levels in graph.edges:
        part = packed[at : at + one.size]
        part[:] = (one.astype(np.uint64) + np.uint64(1)) % count
        part <<= np.uint64(24)
        part |= (other.astype(np.uint64) + np.uint64(1)) % count
        part <<= np.uint64(16)
        part |= levels
        at += one.size
    return packed
