"""The graph that joins blocks or groups, on a CUDA device: its forest, or its vertices' levels."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import thread_count

from ...affinity.levels import TOP_LEVEL
from ...solvers.cpu.blocks.nodes import Edges
from ...solvers.cuda.contraction import node_rounds
from ...solvers.cuda.contraction.node_rounds import MAX_ROUNDS, ROUND_THREADS, FirstRound, Rounds
from ..face_graph import JoinedGraph, forest_on_cpu, levels_on_cpu
from ..forest import NOWHERE
from .forest_rounds import ForestRounds, listed_edges

MACROS = ("NODE=u16",)  # of a file whose kernel for this has no such voxels


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


def forest(graph: JoinedGraph, kept: np.ndarray, gpu: CudaDevice) -> Edges:
    """Forest between the kept vertices of a graph; see `face_graph.forest_on_cpu`.

    As of a block (`blocks.face_forest`), of several that are as good it may be another one. A graph
    that is too large for the device is worked on by the CPU.
    """
    if not _suits(graph):
        return forest_on_cpu(graph, kept)
    numbers, others = (kept + 1).astype(np.uint32), np.flatnonzero(kept == NOWHERE)
    count = graph.source - others.size
    numbers[graph.source] = 0
    numbers[others] = np.arange(count + 1, graph.source + 1, dtype=np.uint32)
    edges = _packed(graph, numbers)
    try:
        rounds = ForestRounds(gpu, [(gpu.put(edges), edges.size)], graph.source + 1, count)
        rounds.work(Progress())
        return rounds.forest()
    except DeviceMemoryError:
        return forest_on_cpu(graph, kept)


def face_levels(graph: JoinedGraph, gpu: CudaDevice) -> np.ndarray:
    """Level of the widest path from the source to each vertex; the source is the last one.

    A graph that is too large for the device is worked on by the CPU.

    Parameters
    ----------
    graph : JoinedGraph
    gpu : CudaDevice
        Inside its ``with`` block.

    Returns
    -------
    ndarray, uint16
    """
    if not _suits(graph):
        return levels_on_cpu(graph)
    numbers = np.arange(1, graph.source + 2, dtype=np.uint32)
    numbers[graph.source] = 0
    edges = _packed(graph, numbers)
    try:
        levels = _levels_of_nodes(edges, graph.source + 1, gpu)
    except DeviceMemoryError:
        return levels_on_cpu(graph)
    return np.append(levels[1:], levels[:1])


def _levels_of_nodes(edges: np.ndarray, count: int, gpu: CudaDevice) -> np.ndarray:
    first = _AllNodes(gpu.put(edges), count, gpu)
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
    return gpu.get(first.weights)


def _suits(graph: JoinedGraph) -> bool:
    """Whether the vertices can be numbered, and there is an edge."""
    return graph.source < node_rounds.MAX_NODES and any(e[0].size for e in graph.edges)


def _packed(graph: JoinedGraph, numbers: np.ndarray) -> np.ndarray:
    """The edges as in node_edges.cuh (24 bits for each end, 16 for the level), renumbered."""
    ends = np.cumsum([edges[0].size for edges in graph.edges])
    packed, waiting = np.empty(ends[-1], np.uint64), []
    with ThreadPoolExecutor(thread_count()) as pool:
        for edges, part in zip(graph.edges, np.split(packed, ends)):
            waiting.append(pool.submit(_pack, *edges, numbers, part))
    for task in waiting:
        task.result()
    return packed


@njit(cache=True, nogil=True)
def _pack(
    first: np.ndarray,
    second: np.ndarray,
    levels: np.ndarray,
    numbers: np.ndarray,
    packed: np.ndarray,
) -> None:
    for n in range(levels.size):
        one, other = np.uint64(numbers[first[n]]), np.uint64(numbers[second[n]])
        packed[n] = (one << np.uint64(24) | other) << np.uint64(16) | np.uint64(levels[n])
