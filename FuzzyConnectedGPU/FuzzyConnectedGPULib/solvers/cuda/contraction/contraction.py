"""The exact CUDA solver for whole scenes: contraction (Boruvka 1926), first within tiles.

Every voxel hooks onto the neighbour to which its best edge leads; what hangs together is taken for
one point, and so on until only the seeds' piece is left. The number of rounds grows with the
logarithm of the volume's size, however long and winding the paths are. With a cut only the tiles
are contracted that a path from the seeds may reach (`reached_tiles`).
"""

from math import ceil, floor
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import NoRoomError

from ..active_tiles import VOXEL_NAMES
from . import node_rounds, reached_tiles

KERNELS = Path(__file__).with_name("contract_tiles.cu")
TILE = 8, 8, 16  # voxels along K, J, I; as in tile_place.cuh
THREADS = 256
TILES_A_LAUNCH = 1 << 16  # keeps a launch short on a slow card
MOST_VOXELS = 2**32 - 2  # voxels are numbered by 32 bits
# First guesses of nodes, and of edges across tiles' borders that are left after the first round;
# where they are too small the true numbers are known after the run.
NODES_A_VOXEL, CROSSES_A_VOXEL = 0.115, 0.085
TABLE = 2048  # entries; as in contract_tiles.cu
REACH = 4.6  # a bell is level beyond: 4.6 ** 2 > 30 * ln(2)


def solve(problem, report, gpu):
    """Levels of the fuzzy scene; parameters and returns as in `active_tiles.solve`.

    The rounds that are returned are those among the nodes that the tiles leave.
    """
    report(0.0)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    # Nobody else holds the voxels: they make room as soon as all edges are known.
    tiles = ContractedTiles(problem, gpu.put(problem.voxels), mask, gpu)
    levels, rounds = connect(tiles, report)
    return gpu.get(levels), rounds


def propagate(problem, voxels, mask, report, gpu):
    """Levels on the card, from the problem's voxels and mask (or None) on the card."""
    return connect(ContractedTiles(problem, voxels, mask, gpu), report)


def connect(tiles, report):
    """Levels on the card and rounds, from a volume whose tiles are not contracted yet."""
    tiles.contract(report)
    connected, rounds = node_rounds.connect_nodes(tiles, report)
    place = tiles.levels, tiles.node_of, tiles.first_nodes, connected, *tiles.shape
    tiles.launch(node_rounds.KERNELS, "lower_voxels", THREADS, place)
    return tiles.levels, int(tiles.gpu.get(rounds)[0])


class ContractedTiles:
    """A volume on the card, its tiles and the nodes that they are contracted to.

    Attributes
    ----------
    levels : array, uint16, of the volume's shape
        The lowest weight on the way from a voxel to its node; at last the scene.
    node_of : array, uint8 or uint16
        Each voxel's node, counted from the first of its tile.
    reached : array, uint32, or None
        The tiles that are contracted; None: all.
    first_nodes : array, uint32
        Of each tile.
    node_count : int
    exits, exit_weights : arrays, uint32 and uint16
        The voxel to which each node's best edge leads.
    steps, step_weights : arrays, int16 and uint16
        The edges that hold the nodes of one tile together.
    counts : array, uint32
        Nodes, and the most in one tile; then `node_rounds.COUNTS` that are 0.
    rooms : two arrays, uint64
        The memory of exits and of the steps, for the lists of edges that come after them.
    """

    def __init__(self, problem, voxels, mask, gpu):
        if problem.voxels.size > MOST_VOXELS:
            raise NoRoomError(
                f"The volume has {problem.voxels.size:,} voxels, and {MOST_VOXELS:,} can be "
                "numbered; use the solver 'active-tiles', or work on a smaller region."
            )
        self.gpu, self.xp = gpu, gpu.xp
        self.problem, self.voxels = problem, voxels
        self.mask = np.uintp(0) if mask is None else mask
        self.seeds = gpu.put(problem.seeds)
        self.shape = tuple(np.int32(n) for n in problem.voxels.shape)
        self.tile_count = tile_count(problem.voxels.shape)
        self.voxel_name = VOXEL_NAMES[problem.voxels.dtype.name]
        self.node_type = np.uint8
        self.table_extent = table_extent(problem)

    def contract(self, report):
        """Contract all tiles; again where they have more nodes than was reckoned with."""
        xp, voxel_count = self.xp, self.voxels.size
        search = self.search_tiles()
        self.begin()  # while the tiles are searched
        self.reached = reached_tiles.found_tiles(search, self.gpu)
        self.contracted_count = self.tile_count if self.reached is None else self.reached.size
        share = self.contracted_count / self.tile_count
        most = int(voxel_count * share * NODES_A_VOXEL)
        crosses = int(voxel_count * share * CROSSES_A_VOXEL)
        while True:
            self.node_of = xp.empty(voxel_count, self.node_type)
            self.exit_weights = xp.empty(most, np.uint16)
            self.rooms = [
                xp.empty(n, np.uint64) for n in (-(-most // 2), max(most // 2 + 1, crosses))
            ]
            self.exits = self.rooms[0].view(np.uint32)
            self.steps = self.rooms[1].view(np.int16)[:most]
            self.step_weights = self.rooms[1].view(np.uint16)[most : 2 * most]
            counts = self.counts[:2]
            place = self.voxels, self.mask, self.levels, self.node_of, self.first_nodes, *self.shape
            nodes = self.exits, self.exit_weights, self.steps, self.step_weights, np.uint32(most)
            before = *place, *self.affinity, *self.tables
            self.launch(KERNELS, "contract_tiles", THREADS, before, (*nodes, counts))
            self.node_count, in_one_tile = (int(n) for n in self.gpu.get(counts))
            report(0.6)
            if self.node_count <= most and in_one_tile <= np.iinfo(self.node_type).max:
                return
            most = max(most, self.node_count)
            if in_one_tile > np.iinfo(self.node_type).max:
                self.node_type = np.uint16
            self.exits = self.exit_weights = self.steps = self.step_weights = nodes = None
            self.rooms = None
            self.node_of = place = before = None
            self.clear()

    def begin(self):
        """Make what the tiles find: levels of the seeds, first nodes, tables, counts."""
        problem, xp = self.problem, self.xp
        self.affinity = self.gpu.put(problem.affinity.coefficients()), np.int32(problem.cut_level)
        self.tables = xp.empty(TABLE, np.float32), *map(np.int32, self.table_extent or (0, 0, 0))
        self.counts = xp.empty(2 + node_rounds.COUNTS, np.uint32)
        self.levels = xp.empty(problem.voxels.shape, np.uint16)
        self.first_nodes = xp.empty(self.tile_count, np.uint32)
        self.clear()

    def clear(self):
        """Fill it."""
        self.levels.fill(0)
        self.counts.fill(0)
        tables, *extent = self.tables
        threads = max(self.seeds.size, self.tile_count, TABLE)
        seeds = self.seeds, np.uint32(self.seeds.size), self.levels
        nodes = np.uint32(self.tile_count), self.first_nodes
        begin = self.kernel(KERNELS, "begin")
        arguments = *seeds, *nodes, self.affinity[0], *extent, tables
        begin((-(-threads // THREADS),), (THREADS,), arguments)

    def search_tiles(self):
        """Let the tiles be searched that a path from the seeds may reach."""
        volume = self.voxels, self.mask, self.seeds, self.tile_count
        try:
            return reached_tiles.search_tiles(self.problem, *volume, self.gpu)
        except NoRoomError:  # a thin volume's tiles take more than all that comes after them
            return None

    def kernel(self, file, name):
        """A kernel for these voxels and nodes."""
        node = "u8" if self.node_type is np.uint8 else "u16"
        defines = f"VOXEL={self.voxel_name}", f"NODE={node}"
        if file is KERNELS:
            defines += (f"TABLES={int(self.table_extent is not None)}",)
        return self.gpu.kernel(file, name, defines)

    def launch(self, file, name, threads, before, after=()):
        """Run a kernel that takes one block a tile, on all tiles that are contracted."""
        kernel = self.kernel(file, name)
        reached = np.uintp(0) if self.reached is None else self.reached
        for first in range(0, self.contracted_count, TILES_A_LAUNCH):
            count = min(TILES_A_LAUNCH, self.contracted_count - first)
            kernel((count,), (threads,), (*before, reached, np.int32(first), *after))


def tile_count(shape):
    return int(np.prod([-(-n // side) for n, side in zip(shape, TILE)]))


def table_extent(problem):
    """What the tables of an integer volume's affinity must hold.

    Returns
    -------
    (lowest sum, number of sums, number of differences) or None
        None for float voxels, and where the tables are too long for a multiprocessor's memory.
    """
    if problem.voxels.dtype.kind == "f":
        return None
    mean, sum_factor, difference_factor = problem.affinity.coefficients()[:3].tolist()
    limits = np.iinfo(problem.voxels.dtype)
    lowest, highest = 2 * limits.min, 2 * limits.max
    reach = REACH / sum_factor
    first = min(max(floor(2 * (mean - reach)) - 1, lowest), highest)
    last = min(max(ceil(2 * (mean + reach)) + 1, lowest), highest)
    differences = min(ceil(REACH / difference_factor) + 2, limits.max - limits.min + 1)
    extent = first, last - first + 1, differences
    return extent if extent[1] + extent[2] <= TABLE else None
