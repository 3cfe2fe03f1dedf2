"""Contraction within tiles: from the voxels of each tile to the nodes of a graph."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.coming_planes import slot_bytes
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import pointer, voxel_macro
from FuzzyVesselCoreLib.progress import Progress

from ....problem import Problem
from ..affinity_struct import affinity_struct
from . import node_rounds, reached_tiles
from .affinity_tables import TABLE, table_extent

KERNELS = Path(__file__).with_name("contract_tiles.cu")
BEGIN = Path(__file__).with_name("begin_tiles.cu")
TILE = 8, 8, 16  # voxels along K, J, I; as in tile_geometry.cuh
THREADS = 256
PAIRS = 320  # of neighbours across a tile's upper borders; as in tile_geometry.cuh
SLAB_BYTES = 16 << 20  # of planes that come to the device at a time
ALIGNED = 32  # 64-bit words, between parts of one memory
TILES_PER_LAUNCH = 1 << 16  # keeps a launch short on a slow GPU
NODE_MACROS: dict[type, str] = {np.uint8: "NODE=u8", np.uint16: "NODE=u16"}
MAX_VOXELS = 2**32 - 4  # voxels are numbered by 32 bits, some of which are marks
# First estimates of the numbers of nodes, and of cross-tile edges after the first round; where they
# are too small the true numbers are known after the run.
NODES_PER_VOXEL, CROSS_EDGES_PER_VOXEL = 0.125, 0.085
LIKELY_NODES = 0.8  # of the first estimate: vessels in noise, and CT


def tile_count(shape: tuple[int, ...]) -> int:
    """Number of tiles of a volume of this shape (K, J, I)."""
    return int(np.prod([-(-n // side) for n, side in zip(shape, TILE)]))


def macros(problem: Problem) -> tuple[str, ...]:
    """What contract_tiles.cu is compiled with for a problem, but for the type of nodes."""
    tables = f"TABLES={int(table_extent(problem) is not None)}"
    weighted = f"WEIGHTED={int(problem.affinity.form == 'weighted')}"
    return voxel_macro(problem.voxels.dtype), tables, weighted


def first_files(problem: Problem) -> list[tuple[Path, tuple[str, ...]]]:
    """The files that a problem needs, with their macros."""
    node = NODE_MACROS[np.uint8]
    rounds = [(file, (node,)) for file in (node_rounds.KERNELS, node_rounds.FURTHER)]
    return [(KERNELS, (node, *macros(problem))), *rounds, (BEGIN, ())]


def come_in_slabs(problem: Problem) -> bool:
    """Whether the voxels come to the device plane by plane, and none stays there.

    A search of reached tiles needs all of them at once, and small volumes are there at once.
    """
    slabs = problem.voxels.nbytes // SLAB_BYTES
    return slabs > 1 and problem.mask is None and reached_tiles.bounds_of_edges(problem) is None


class _Slab(NamedTuple):
    """Tiles, counted in the order of contraction, and all voxels that they need.

    The voxels begin with the one whose number is `first_voxel`.
    """

    tiles: range
    voxels: DeviceArray
    first_voxel: int


def slabs_of(volume: np.ndarray) -> tuple[list[range], list[tuple[int, int]]]:
    """Slabs that a volume comes in: layers of tiles, and first plane and end of what they need."""
    side = TILE[0]
    layers, at_a_time = -(-len(volume) // side), max(SLAB_BYTES // volume[:side].nbytes, 1)
    slabs = [range(n, min(n + at_a_time, layers)) for n in range(0, layers, at_a_time)]
    planes = [  # with one of the tiles below and above
        (max(slab.start * side - 1, 0), min(slab.stop * side + 1, len(volume))) for slab in slabs
    ]
    return slabs, planes


def _slabs(volume: np.ndarray, memory: DeviceArray, gpu: CudaDevice) -> Iterator[_Slab]:
    """The slabs of a volume, as they come into some memory.

    Of no object that keeps this iterator: in a cycle a run that fails would keep its memory.
    """
    slabs, planes = slabs_of(volume)
    in_layer = tile_count(volume.shape) // slabs[-1].stop
    coming = gpu.coming_planes(volume, planes, memory.view(np.uint8))
    for voxels, slab, (first, _) in zip(coming, slabs, planes):
        tiles = range(slab.start * in_layer, slab.stop * in_layer)
        yield _Slab(tiles, voxels, first * volume[0].size)


class ContractedTiles:
    """A volume on the device, its tiles and the nodes that they are contracted to.

    Attributes
    ----------
    levels : array, uint16, of the volume's shape
        The lowest weight on the way from a voxel to its node; at last the scene.
    node_of : array, uint8 or uint16
        Each voxel's node, counted from the first of its tile.
    seeds, seed_levels : arrays, int64 and uint16
        The problem's; the levels may be None.
    reached : array, uint32, or None
        The tiles that are contracted; None: all.
    first_nodes : array, uint32
        Of each tile.
    seeded : array, uint8
        Whether a tile has a seed.
    node_count : int
    outgoing, outgoing_weights : arrays, uint32 and uint16
        The voxel that each node's best outgoing edge leads to, and the edge's weight.
    tile_edges, tile_edge_weights : arrays, int16 and uint16
        Intra-tile edges, which connect the nodes of one tile.
    came_in_slabs : bool
        Whether the voxels come to the device in parts.
    weights_across : array, uint16
        Of the `PAIRS` edges across the upper borders of each contracted tile.
    counts : array, uint32
        Number of nodes, and the most in one tile; then `node_rounds.COUNTS` zeros.
    workspaces : two arrays, uint64
        Memory of `outgoing` and of the intra-tile edges, reused for the lists of edges. Behind the
        edges lie the slabs, and then the numbers of the nodes in the next round (`take_numbers`).
    """

    node_of: DeviceArray
    outgoing: DeviceArray
    outgoing_weights: DeviceArray
    tile_edges: DeviceArray
    reached: DeviceArray | None
    tile_edge_weights: DeviceArray
    weights_across: DeviceArray
    workspaces: Any
    _edge_room: int  # of the second workspace, in its words
    _coming: Iterator[_Slab]

    def __init__(
        self,
        problem: Problem,
        voxels: DeviceArray | None,
        mask: DeviceArray | None,
        gpu: CudaDevice,
    ) -> None:
        if problem.voxels.size > MAX_VOXELS:
            raise DeviceMemoryError(
                f"The volume has {problem.voxels.size:,} voxels, and {MAX_VOXELS:,} can be "
                "numbered; use the solver 'active-tiles', or work on a smaller region."
            )
        self.gpu, self.xp = gpu, gpu.xp
        self.problem, self.voxels = problem, voxels
        self.mask = mask
        self.levels: DeviceArray = None
        self.came_in_slabs = voxels is None
        self.seeds, levels = gpu.put(problem.seeds), problem.seed_levels
        self.seed_levels = None if levels is None else gpu.put(levels)
        self.tile_count = tile_count(problem.voxels.shape)
        self.node_type: type = np.uint8
        self.node_count = 0
        self.table_extent, self._macros = table_extent(problem), macros(problem)

    def contract(self, progress: Progress, meanwhile: Callable[[], None] | None = None) -> None:
        """Contract all tiles; again where they have more nodes than estimated.

        `meanwhile` is called when all voxels have been sent and the tiles are being contracted.
        """
        search = self.search_tiles()
        if search is not None:
            self.begin()  # while the tiles are searched
        self.reached = reached_tiles.found_tiles(search, self.gpu)
        self.contracted_count = self.tile_count if self.reached is None else self.reached.size
        voxel_count = self.problem.voxels.size * self.contracted_count / self.tile_count
        seed_count = self.problem.seeds.size  # each may be a node, with an edge to the source
        max_nodes = int(voxel_count * NODES_PER_VOXEL) + seed_count
        cross_edges = int(voxel_count * CROSS_EDGES_PER_VOXEL) + seed_count
        while True:
            self.allocate(max_nodes, cross_edges)
            if self.levels is None:
                self.begin()
            counts = self.counts[:2]
            self._contract_slabs(max_nodes, counts, progress)
            if meanwhile is not None:
                meanwhile()
            self.node_count, in_one_tile = (int(n) for n in self.gpu.get_soon(counts)())
            progress.advance(0.6)
            if self.node_count <= max_nodes and in_one_tile <= np.iinfo(self.node_type).max:
                self.voxels = self.mask = None
                return
            max_nodes = max(max_nodes, self.node_count)
            if in_one_tile > np.iinfo(self.node_type).max:
                self.node_type = np.uint16
            # Free the memory before it is allocated anew.
            self.outgoing = self.outgoing_weights = None
            self.tile_edges = self.tile_edge_weights = None
            self.workspaces = self.node_of = self.weights_across = None
            self.gpu.free_unused_memory()
            self.clear()

    def _contract_slabs(self, max_nodes: int, counts: DeviceArray, progress: Progress) -> None:
        if self.voxels is not None:
            whole = _Slab(range(self.contracted_count), self.voxels, 0)
            self._contract_tiles(whole, max_nodes, counts)
        for slab in self._coming:
            self._contract_tiles(slab, max_nodes, counts)
            progress.check()

    def _contract_tiles(self, slab: _Slab, max_nodes: int, counts: DeviceArray) -> None:
        struct = self.gpu.struct
        volume = dict(voxels=slab.voxels, first_voxel=slab.first_voxel)
        volume.update(mask=self.mask, levels=self.levels)
        volume.update(seeded=self.seeded)
        edges = dict(outgoing=self.outgoing, outgoing_weights=self.outgoing_weights)
        edges.update(within=self.tile_edges, weights_within=self.tile_edge_weights)
        edges.update(weights_across=self.weights_across)
        args = (
            struct(KERNELS, "Image", **volume),
            self.affinity(KERNELS),
            self.tables(KERNELS),
            self.node_map(KERNELS),
            struct(KERNELS, "NodeEdges", **edges, max_nodes=max_nodes, counts=counts),
        )
        self.launch(KERNELS, "contract_tiles", THREADS, *args, tiles=slab.tiles)

    def affinity(self, kernels: Path) -> KernelStruct:
        """`Affinity` of affinity.cuh."""
        return affinity_struct(self.gpu, kernels, self.problem.affinity, self.problem.cut_level)

    def tables(self, kernels: Path) -> KernelStruct:
        """`Tables` of affinity_tables.cuh."""
        lowest_sum, sums, differences = self.table_extent or (0, 0, 0)
        extent = dict(lowest_sum=lowest_sum, sums=sums, differences=differences)
        return self.gpu.struct(kernels, "Tables", entries=self.table_entries, **extent)

    def node_map(self, kernels: Path) -> KernelStruct:
        """`NodeMap` of node_map.cuh."""
        maps = dict(node_of=self.node_of, first_nodes=self.first_nodes)
        return self.gpu.struct(kernels, "NodeMap", **maps)

    def grid(self, kernels: Path, first: int = 0) -> KernelStruct:
        """`TileGrid` of tile_geometry.cuh: the contracted tiles, from one on."""
        shape = self.problem.voxels.shape
        return reached_tiles.tile_grid(self.gpu, kernels, shape, self.reached, first)

    def allocate(self, max_nodes: int, cross_edges: int) -> None:
        """Allocate the nodes' arrays, for so many nodes and later so many cross-tile edges.

        Where the voxels come in slabs, the first of them comes meanwhile.
        """
        xp = self.xp
        half = -(-max_nodes // 2)  # 64 bits for two nodes
        self._edge_room = -(-half // ALIGNED) * ALIGNED
        size = max(self._edge_room, cross_edges)
        if self.came_in_slabs:
            behind = -(-slot_bytes(self.problem.voxels, slabs_of(self.problem.voxels)[1]) // 8)
            numbers = int(LIKELY_NODES * half)  # that lie behind the cross-tile edges then
            size = max(self._edge_room + max(behind, half), cross_edges + numbers)
        self.workspaces = [xp.empty(n, np.uint64) for n in (half, size)]
        self._coming = iter(())
        if self.came_in_slabs:
            slabs = _slabs(self.problem.voxels, self.workspaces[1][self._edge_room :], self.gpu)
            self._coming = chain([next(slabs)], slabs)
        self.node_of = xp.empty(self.problem.voxels.size, self.node_type)
        self.weights_across = xp.empty(self.contracted_count * PAIRS, np.uint16)
        self.outgoing_weights = xp.empty(max_nodes, np.uint16)
        self.outgoing = self.workspaces[0].view(np.uint32)
        self.tile_edges = self.workspaces[1].view(np.int16)[:max_nodes]
        self.tile_edge_weights = self.workspaces[1].view(np.uint16)[max_nodes : 2 * max_nodes]

    def take_numbers(self, count: int) -> DeviceArray:
        """Memory for a number (uint32) of each node, where the slabs were; call it once."""
        half, shared = -(-count // 2), self.workspaces[1]
        if half > shared.size - self._edge_room:
            return self.xp.empty(count, np.uint32)
        self.workspaces[1] = shared[: shared.size - half]
        return shared[shared.size - half :].view(np.uint32)[:count]

    def begin(self) -> None:
        """Allocate and fill levels, first nodes, marks of seeds, tables and counts."""
        xp = self.xp
        self.table_entries = xp.empty(TABLE, np.float32)
        self.counts = xp.empty(2 + node_rounds.COUNTS, np.uint32)
        self.levels = xp.empty(self.problem.voxels.shape, np.uint16)
        self.first_nodes = xp.empty(self.tile_count, np.uint32)
        self.seeded = xp.empty(self.tile_count, np.uint8)
        self.clear()

    def clear(self) -> None:
        """Reset levels (seeds at the top), first nodes, marks and counts; fill the tables."""
        self.levels.fill(0)
        self.counts.fill(0)
        self.seeded.fill(0)
        nodes = np.uint32(self.tile_count), self.first_nodes
        tables = self.affinity(BEGIN), self.tables(BEGIN)
        self._run("begin", max(self.tile_count, TABLE), *nodes, *tables)
        seeds = self.seeds, pointer(self.seed_levels), np.uint32(self.seeds.size)
        whole = reached_tiles.tile_grid(self.gpu, BEGIN, self.problem.voxels.shape)
        self._run("begin_seeds", self.seeds.size, *seeds, whole, self.levels, self.seeded)

    def search_tiles(self) -> reached_tiles.Search | None:
        """Start the search of tiles that a path from the seeds may reach."""
        volume = self.voxels, self.mask, self.seeds, self.tile_count
        try:
            return reached_tiles.search_tiles(self.problem, *volume, self.gpu)
        except DeviceMemoryError:  # a thin volume's tiles need more memory than all later stages
            return None

    def kernel(self, path: Path, name: str) -> Any:
        """A kernel for these types of voxels and nodes."""
        of_voxels = self._macros if path is KERNELS else ()
        return self.gpu.kernel(path, name, (NODE_MACROS[self.node_type], *of_voxels))

    def _run(self, name: str, threads: int, *args: Any) -> None:
        self.gpu.kernel(BEGIN, name)((-(-threads // THREADS),), (THREADS,), args)

    def launch(
        self, path: Path, name: str, threads: int, *args: Any, tiles: range | None = None
    ) -> None:
        """Run a kernel with one block per contracted tile, or per tile of some of them.

        Its first argument is the `grid`.
        """
        kernel = self.kernel(path, name)
        tiles = range(self.contracted_count) if tiles is None else tiles
        for first in tiles[::TILES_PER_LAUNCH]:
            count = min(TILES_PER_LAUNCH, tiles.stop - first)
            kernel((count,), (threads,), (self.grid(path, first), *args))
