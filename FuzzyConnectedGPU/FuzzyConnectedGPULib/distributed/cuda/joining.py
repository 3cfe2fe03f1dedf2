"""The graph that joins blocks or groups, on a CUDA device: its forest, or its vertices' levels."""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.progress import Progress

from ...solvers.cpu.blocks.nodes import Edges
from ..face_graph import JoinedGraph, forest_on_cpu, levels_on_cpu
from .forest_rounds import ForestRounds
from .level_rounds import LevelRounds

BYTES_PER_VERTEX = 80  # of `face_levels`: two lists of up to 2 edges, best edges, hooks
MAX_EDGES = 2**32 - 2**12  # their numbers, and those of a launch's threads, have 32 bits


def forest(graph: JoinedGraph, kept: np.ndarray, gpu: CudaDevice) -> Edges:
    """Forest between the kept vertices of a graph; see `face_graph.forest_on_cpu`.

    As of a block (`blocks.face_forest`), of several that are as good it may be another one. A graph
    that is too large for the device is worked on by the CPU.
    """
    edges = edge_count(graph)
    if not 0 < edges <= MAX_EDGES:
        return forest_on_cpu(graph, kept)
    numbers = np.empty(kept.size, np.uint32)
    count = number_nodes(kept, graph.source, numbers)
    try:
        rounds = ForestRounds(gpu, graph.source + 1, edges, count, wide=True)
        _add(rounds, graph, numbers)
        return rounds.forest(Progress())
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
    edges = edge_count(graph)
    if not 0 < edges <= MAX_EDGES:
        return levels_on_cpu(graph)
    numbers = np.arange(1, graph.source + 2, dtype=np.uint32)
    numbers[graph.source] = 0
    try:
        rounds = LevelRounds(gpu, graph.source + 1, edges)
        _add(rounds, graph, numbers)
        levels = rounds.levels(Progress())
    except DeviceMemoryError:
        return levels_on_cpu(graph)
    return np.append(levels[1:], levels[:1])


def fits(vertices: int, gpu: CudaDevice) -> bool:
    """Whether the device has the memory for the levels of a graph of so many vertices."""
    return vertices * BYTES_PER_VERTEX <= gpu.free_memory()


def edge_count(graph: JoinedGraph) -> int:
    """Of all lists."""
    return sum(edges[0].size for edges in graph.edges)


def _add(rounds: ForestRounds | LevelRounds, graph: JoinedGraph, numbers: np.ndarray) -> None:
    on_device = rounds.gpu.put(numbers)
    for edges in graph.edges:
        rounds.add(edges, on_device)


@njit(cache=True, nogil=True)
def number_nodes(kept: np.ndarray, source: int, numbers: np.ndarray) -> int:
    """Nodes of vertices: 0 the source, then those that are kept, then the others.

    Returns the number of those that are kept, without the source.
    """
    count = 0
    for n in range(source):
        count += kept[n] >= 0
    other = count
    for n in range(source):
        if kept[n] >= 0:
            numbers[n] = kept[n] + 1
        else:
            other += 1
            numbers[n] = other
    numbers[source] = 0
    return count
