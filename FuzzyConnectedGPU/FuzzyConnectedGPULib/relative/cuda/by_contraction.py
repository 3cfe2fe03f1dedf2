"""Relative connectedness on CUDA: contraction, once for all groups."""

from pathlib import Path

import numpy as np

from ...solvers.cuda.contraction import contraction, node_rounds
from ...solvers.cuda.contraction.node_rounds import EDGES_A_THREAD, MOST_ROUNDS, ROUND_THREADS
from .by_groups import own_points

KERNELS = Path(__file__).with_name("owner_rounds.cu")
THREADS = 256


def propagate(problem, seed_owners, voxels, mask, report, gpu):
    """Levels of all groups together, and who has each voxel.

    Parameters
    ----------
    problem : Problem
    seed_owners : ndarray, uint8
        As in `owners_by_blocks.solve`.
    voxels, mask : arrays on the card
        The problem's; the mask may be None.
    report : callable
    gpu : CudaDevice

    Returns
    -------
    levels, owners : arrays on the card, shape (K, J, I), uint16 and uint8
        As of `owners_by_blocks.solve`, bit for bit.

    Raises
    ------
    NoRoomError
        The volume is too large for the card, or to be numbered.
    """
    tiles = _Tiles(problem, voxels, mask, gpu)
    tiles.contract(report)
    owners = gpu.xp.zeros(problem.voxels.shape, np.uint8)
    groups = gpu.put(seed_owners)
    if tiles.node_count:
        nodes = _node_owners(tiles, groups, report)
        place = tiles.levels, owners, tiles.node_of, tiles.first_nodes, *nodes, *tiles.shape
        tiles.launch(KERNELS, "own_voxels", THREADS, place)
    own_points(tiles.seeds, groups, owners, gpu)
    return tiles.levels, owners


class _Tiles(contraction.ContractedTiles):
    """The tiles of one object, and kernels that are not its own."""

    def kernel(self, file, name):
        """A kernel for these voxels and nodes."""
        if file is not KERNELS:
            return super().kernel(file, name)
        node = "u8" if self.node_type is np.uint8 else "u16"
        return self.gpu.kernel(file, name, (f"NODE={node}",))

    def for_points(self, name, arguments):
        """Run a kernel of one thread a point."""
        self.kernel(KERNELS, name)((-(-self.seeds.size // THREADS),), (THREADS,), arguments)

    def together(self, name, threads, *arguments):
        """Run a kernel whose blocks wait for one another; integers go as uint32."""
        self.gpu.launch_together(
            self.kernel(KERNELS, name),
            -(-threads // ROUND_THREADS),
            ROUND_THREADS,
            [np.uint32(a) if isinstance(a, int) else a for a in arguments],
        )


class _FirstRound(node_rounds.FirstRound):
    """The first round, in which each point is a node that stays."""

    def let_stay(self, tiles, parent):
        """Let the nodes of the points stay."""
        points = tiles.seeds, np.uint32(tiles.seeds.size)
        place = tiles.node_of, tiles.first_nodes, *tiles.shape[1:]
        tiles.for_points("keep_points", (*points, *place, parent))


def _node_owners(tiles, groups, report):
    """Of each node of the tiles the levels of the two best groups, and the best group."""
    first = _FirstRound(tiles)
    report(0.7)
    first.hook(tiles)
    first.list_edges(tiles)
    report(0.8)
    xp, nodes, counts = tiles.xp, first.next_count, tiles.counts[5:]
    room = 2 * nodes + 2 * MOST_ROUNDS  # as in `node_rounds.further_rounds`
    ways = xp.empty(room, np.uint32), xp.empty(room, np.uint16)
    best = first.best, xp.empty(nodes // 2 + 1, np.uint64)
    (edges, edge_count), (more_edges, more_count) = first.lists
    lists = edges, edge_count, more_edges, first.more_first, more_count
    threads = max(nodes, (edge_count + more_count) // EDGES_A_THREAD)
    hooks = xp.empty(nodes, np.uint32), *ways, counts
    tiles.together("hook_rounds", threads, *lists, nodes, *best, *hooks)
    edges = more_edges = lists = best = first.lists = first.best = None  # make room
    claims = xp.zeros(room, np.uint64)
    points = tiles.seeds, groups, np.uint32(tiles.seeds.size)
    place = tiles.node_of, tiles.first_nodes, *tiles.shape[1:]
    tiles.for_points("begin_claims", (*points, *place, first.next, claims))
    found = first.weights, xp.empty(first.count, np.uint16), xp.empty(first.count, np.uint8)
    back = claims, first.count, first.next, *found
    arrived = xp.zeros(1, np.uint32)
    tiles.together("claim_rounds", first.count, nodes, *ways, counts, arrived, *back)
    return found
