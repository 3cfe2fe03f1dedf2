"""The exact CUDA solver: contraction (Boruvka 1926), first within tiles.

Every voxel hooks onto the neighbour along its best edge; connected voxels are contracted to one
vertex, and so on until only the seeds' component remains. The number of rounds grows with the
logarithm of the volume's size, however long and tortuous the paths are. Tiles of 8 x 8 x 16 voxels
are contracted first, in shared memory (contract_tiles.cu); the graph of the nodes that they leave
is contracted in further rounds, and values are handed back from nodes to voxels (graph_rounds.cu).
"""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernels import int32s, pointer, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ..problem import Problem
from ..scene import TOP_LEVEL
from . import Solution

TILES = Path(__file__).with_name("contract_tiles.cu")
ROUNDS = Path(__file__).with_name("graph_rounds.cu")
TILE = 8, 8, 16  # voxels along K, J, I; this and the next three as in tiles.cuh and graph_rounds.cu
THREADS, PAIRS, EDGES_PER_THREAD = 256, 320, 4
NODE_MACROS: dict[type, str] = {np.uint8: "NODE=u8", np.uint16: "NODE=u16"}
TILES_PER_LAUNCH = 1 << 16  # keeps a launch short on a slow GPU
MAX_VOXELS = 2**32 - 4  # voxels are numbered by 32 bits, some of which are marks
NODES_PER_VOXEL = 0.125  # a first estimate, just above that of noise


def solve(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
    """Levels of the fuzzy scene, left on the device; the rounds are those among nodes."""
    if problem.voxels.size > MAX_VOXELS:
        raise DeviceMemoryError(
            f"The volume has {problem.voxels.size:,} voxels, and {MAX_VOXELS:,} can be numbered on "
            "a CUDA device; use device 'cpu', or work on a smaller region."
        )
    progress.advance(0.0)
    tiles = ContractedTiles(problem, gpu)
    gpu.synchronize()
    started = perf_counter()
    tiles.contract()
    progress.advance(0.6)
    if not tiles.node_count:
        return Solution(tiles.levels, 0, gpu.peak_bytes)
    rounds = [tiles.hook()]  # next numbers and weights of each round's nodes
    graph = Graph(gpu, tiles.kernel, rounds[0][2])
    tiles.list_edges(graph, rounds[0][0])
    progress.advance(0.8)
    while graph.edge_count:
        rounds.append(graph.contract())
        progress.check()
    connected = gpu.xp.zeros(graph.nodes, np.uint16)  # no path leads to the others
    connected[:1].fill(TOP_LEVEL)
    count = len(rounds)
    while rounds:
        following, weights, _ = rounds.pop()
        args = following, connected, np.uint32(weights.size), weights
        run(tiles.kernel(ROUNDS, "lower_nodes"), weights.size, *args)
        connected = weights
    tiles.launch(ROUNDS, "lower_voxels", THREADS, tiles.node_map, tiles.levels, connected)
    gpu.synchronize()
    return Solution(tiles.levels, count, gpu.peak_bytes, perf_counter() - started)


def affinity_record(problem: Problem, gpu: CudaDevice) -> Any:
    """The struct `Affinity` of affinity.cuh."""
    coefficients = problem.affinity.coefficients()
    flags = coefficients[5:].astype(bool)
    return gpu.record(*coefficients[:5], *flags, np.int32(problem.cut_level))


def run(kernel: Any, threads: int, *args: Any) -> None:
    """Launch a kernel with one thread for each of so many items."""
    kernel((-(-threads // THREADS),), (THREADS,), args)


class ContractedTiles:
    """A volume on the device, its tiles and the nodes that they are contracted to.

    `levels` (uint16) are the lowest weight on the way from a voxel to its node; at last the scene.
    """

    def __init__(self, problem: Problem, gpu: CudaDevice) -> None:
        self.problem, self.gpu, self.xp = problem, gpu, gpu.xp
        self._voxels = gpu.put(problem.voxels)
        self._mask = None if problem.mask is None else gpu.put(problem.mask)
        self._seeds, levels = gpu.put(problem.seeds), problem.seed_levels
        self._seed_levels = None if levels is None else gpu.put(levels)
        self.tile_count = int(np.prod([-(-n // m) for n, m in zip(problem.voxels.shape, TILE)]))
        self._node_type: type = np.uint8
        self._grid = gpu.record(*int32s(problem.voxels.shape))
        self.levels = self.xp.empty(problem.voxels.shape, np.uint16)
        self.node_count = 0

    def kernel(self, path: Path, name: str) -> Any:
        """A kernel for these types of voxels and nodes."""
        macros: tuple[str, ...] = (NODE_MACROS[self._node_type],)
        if path is TILES:
            macros = voxel_macro(self.problem.voxels.dtype), *macros
        return self.gpu.kernel(path, name, macros)

    def launch(self, path: Path, name: str, threads: int, *args: Any) -> None:
        """Run a kernel with one block per tile."""
        kernel = self.kernel(path, name)
        for first in range(0, self.tile_count, TILES_PER_LAUNCH):
            count = min(TILES_PER_LAUNCH, self.tile_count - first)
            kernel((count,), (threads,), (self._grid, np.int32(first), *args))

    def contract(self) -> None:
        """Contract all tiles; again where they have more nodes than estimated. Frees the voxels."""
        xp, gpu, size = self.xp, self.gpu, self.problem.voxels.size
        max_nodes = int(size * NODES_PER_VOXEL) + self.problem.seeds.size  # each may be a node
        while True:
            self._node_of = xp.empty(size, self._node_type)
            self._first_nodes = xp.empty(self.tile_count, np.uint32)
            self.node_map: Any = gpu.record(self._node_of, self._first_nodes)
            self._weights_across = xp.empty(self.tile_count * PAIRS, np.uint16)
            outgoing, outgoing_weights = (
                xp.empty(max_nodes, np.uint32),
                xp.empty(max_nodes, np.uint16),
            )
            within, weights_within = xp.empty(max_nodes, np.int16), xp.empty(max_nodes, np.uint16)
            seeded, counts = xp.zeros(self.tile_count, np.uint8), xp.zeros(2, np.uint32)
            self.levels.fill(0)
            seeds = self._seeds, pointer(self._seed_levels), np.uint32(self._seeds.size)
            begin = self.kernel(ROUNDS, "begin_seeds")
            run(begin, self._seeds.size, *seeds, self._grid, self.levels, seeded)
            found: Any = gpu.record(
                outgoing, outgoing_weights, within, weights_within, self._weights_across,
                np.uint32(max_nodes), counts,
            )  # fmt: skip
            image: Any = gpu.record(self._voxels, self._mask, seeded, self.levels)
            affinity = affinity_record(self.problem, gpu)
            self.launch(TILES, "contract_tiles", THREADS, image, affinity, self.node_map, found)
            self.node_count, in_one_tile = (int(n) for n in gpu.get(counts))
            if self.node_count <= max_nodes and in_one_tile <= np.iinfo(self._node_type).max:
                break
            max_nodes = max(max_nodes, self.node_count)
            if in_one_tile > np.iinfo(self._node_type).max:
                self._node_type = np.uint16
            self._node_of = self._weights_across = self.node_map = image = found = None
            outgoing = outgoing_weights = within = weights_within = None
            gpu.free_unused_memory()
        self._voxels = self._mask = image = None
        gpu.free_unused_memory()  # what is needed from here on has other sizes
        self._outgoing, self._outgoing_weights = outgoing, outgoing_weights
        self._within, self._weights_within = within, weights_within

    def hook(self) -> tuple[DeviceArray, DeviceArray, int]:
        """Hook the nodes along their best edges; as `numbered`."""
        count = np.uint32(self.node_count)
        parent, weights = (
            self._outgoing[: self.node_count],
            self._outgoing_weights[: self.node_count],
        )
        args = parent, self._within, self._grid, self.node_map, count, parent
        run(self.kernel(ROUNDS, "hook_outgoing"), self.node_count, *args)
        self._outgoing = self._outgoing_weights = None
        return numbered(self.gpu, self.kernel, parent, weights)

    def list_edges(self, graph: "Graph", following: DeviceArray) -> None:
        """List all edges between nodes, in the next round's numbers; frees the tiles' edges."""

        def add(edges: Any) -> None:
            count, none = np.uint32(self.node_count), np.uintp(0)
            args = none, none, self._within, self._weights_within, count, following, edges
            keep = self.kernel(ROUNDS, "keep_edges")
            run(keep, -(-self.node_count // EDGES_PER_THREAD), *args)
            across = self._weights_across, self.node_map, following, edges
            self.launch(ROUNDS, "cross_tile_edges", PAIRS, *across)
            if self._seed_levels is not None:
                seeds = self._seeds, self._seed_levels, np.uint32(self._seeds.size)
                place = self._grid, self.node_map, following, edges
                run(self.kernel(ROUNDS, "source_edges"), self._seeds.size, *seeds, *place)

        graph.fill(add)
        self._within = self._weights_within = self._weights_across = None
        self.gpu.free_unused_memory()


def numbered(
    gpu: CudaDevice, kernel: Any, parent: DeviceArray, weights: DeviceArray
) -> tuple[DeviceArray, DeviceArray, int]:
    """Each node's number in the next round by its parent, its weight, and the nodes there."""
    count, found = np.uint32(weights.size), gpu.xp.zeros(1, np.uint32)
    following = gpu.xp.empty(weights.size, np.uint32)
    args = parent, weights, count, following, found
    run(kernel(ROUNDS, "number_nodes"), weights.size, *args)
    run(kernel(ROUNDS, "follow_hooks"), weights.size, parent, count, following)
    return following, weights, int(gpu.get(found)[0]) + 1


class Graph:
    """Nodes, of which node 0 is the seeds' component, and edges; each round contracts them."""

    def __init__(self, gpu: CudaDevice, kernel: Any, nodes: int) -> None:
        self._gpu, self._kernel, self.nodes, self.edge_count = gpu, kernel, nodes, 0
        self._one = self._other = self._weights = self._best = None

    def fill(self, add: Any) -> None:
        """Take the edges that ``add(edges)`` lists; it is called twice, first to count them."""
        xp, gpu = self._gpu.xp, self._gpu
        count, none = xp.zeros(1, np.uint32), (None, None, None)
        add(gpu.record(*none, np.uint32(0), count, None))
        self.edge_count = int(gpu.get(count)[0])
        if not self.edge_count:
            return
        count.fill(0)
        ends = tuple(xp.empty(self.edge_count, np.uint32) for _ in range(2))
        weights, best = xp.empty(self.edge_count, np.uint16), xp.zeros(self.nodes, np.uint64)
        add(gpu.record(*ends, weights, np.uint32(self.edge_count), count, best))
        (self._one, self._other), self._weights, self._best = ends, weights, best

    def contract(self) -> tuple[DeviceArray, DeviceArray, int]:
        """One round; each node's number in the next one, its weight, and the nodes there."""
        xp, count = self._gpu.xp, np.uint32(self.nodes)
        parent, weights = xp.empty(self.nodes, np.uint32), xp.empty(self.nodes, np.uint16)
        args: Any = self._one, self._other, self._best, count, parent, weights
        run(self._kernel(ROUNDS, "hook_nodes"), self.nodes, *args)
        found = numbered(self._gpu, self._kernel, parent, weights)
        self._best = parent = args = None
        self.nodes = found[2]
        before = self._one, self._other, np.uintp(0), self._weights, np.uint32(self.edge_count)
        keep, threads = self._kernel(ROUNDS, "keep_edges"), -(-self.edge_count // EDGES_PER_THREAD)
        self.fill(lambda edges: run(keep, threads, *before, found[0], edges))
        return found
