"""Contraction of the graph of nodes that the tiles leave, round by round, and the way back."""

from pathlib import Path

import numpy as np

from ..affinity import TOP_LEVEL

KERNELS = Path(__file__).with_name("kernels") / "node_rounds.cu"
THREADS, FACE_THREADS = 256, 320  # FACE_THREADS: pairs of voxels across a tile's upper borders
EDGES_A_THREAD = 4  # as in node_rounds.cu
EDGES_A_VOXEL = 0.14  # of the second round, a first guess


def connect_nodes(tiles, report):
    """Each node's connectedness.

    Parameters
    ----------
    tiles : ContractedTiles
        Gives up its nodes' arrays on the way, to make room.
    report : callable

    Returns
    -------
    connected : array, uint16
        Level of each node of the tiles.
    rounds : int
    """
    if tiles.node_count == 0:
        return tiles.xp.zeros(1, np.uint16), 0
    rounds = [first_round(tiles)]
    while rounds[-1].edge_count:
        report(min(0.7 + 0.02 * len(rounds), 0.9))
        rounds.append(further_round(tiles, rounds[-1]))
    connected = tiles.xp.zeros(rounds[-1].next_count, np.uint16)
    connected[0] = TOP_LEVEL
    for each in reversed(rounds):
        each.run("lower_nodes", each.count, each.weights, each.next, connected, each.count)
        connected = each.weights
    return connected, len(rounds)


def first_round(tiles):
    """Hooks along the nodes' best edges, all of which lead into other tiles."""
    first = Round(tiles, tiles.node_count)
    parent = tiles.xp.empty(first.count, np.uint32)
    place = tiles.exits, tiles.node_of, tiles.first_nodes, *tiles.shape[1:]
    first.run("hook_exits", first.count, *place, first.count, parent)
    first.weights, tiles.exit_weights = tiles.exit_weights, None
    first.merge(parent, kept=tiles.exits)
    tiles.exits = None
    most = int(tiles.voxels.size * EDGES_A_VOXEL)
    while True:
        target = first.open_list(most)
        steps = tiles.steps, tiles.step_weights, first.count
        first.run("keep_steps", -(-first.count // EDGES_A_THREAD), *steps, *target)
        place = tiles.voxels, tiles.node_of, tiles.first_nodes, *tiles.shape, *tiles.affinity
        tiles.launch(KERNELS.name, "cross_edges", FACE_THREADS, place, target)
        first.close_list()
        if first.edge_count <= most:
            tiles.steps = tiles.step_weights = None
            return first
        most = first.edge_count


def further_round(tiles, last):
    """Hooks along the best edges that were found while the last round's edges were listed."""
    further = Round(tiles, last.next_count)
    parent = tiles.xp.empty(further.count, np.uint32)
    further.weights = tiles.xp.empty(further.count, np.uint16)
    ends = last.best, *last.edges[:2], further.count
    further.run("hook_nodes", further.count, *ends, parent, further.weights)
    further.merge(parent, kept=tiles.xp.empty(further.count, np.uint32))
    target = further.open_list(last.edge_count)
    blocks = -(-last.edge_count // EDGES_A_THREAD)
    further.run("keep_edges", blocks, *last.edges, last.edge_count, *target)
    further.close_list()
    last.edges = last.best = None
    return further


class Round:
    """Nodes of one round, what they become in the next, and the edges that are left for it."""

    def __init__(self, tiles, count):
        self.gpu, self.xp, self.define = tiles.gpu, tiles.xp, tiles.voxel_define
        self.count = count

    def run(self, kernel, threads, *arguments):
        """Run a kernel with so many threads; integers among the arguments go as uint32."""
        arguments = [np.uint32(a) if isinstance(a, int) else a for a in arguments]
        run = self.gpu.kernel(KERNELS, kernel, (self.define,))
        run((-(-threads // THREADS),), (THREADS,), arguments)

    def merge(self, parent, kept):
        """Find what each node becomes, by where it hooked; kept: room to work in."""
        self.counts = self.xp.zeros(2, np.uint32)  # edges; nodes besides that of the seeds
        self.next = self.xp.empty(self.count, np.uint32)
        nodes = self.counts[1:]
        self.run("number_nodes", self.count, parent, self.weights, self.count, kept, nodes)
        self.run("follow_hooks", self.count, parent, kept, self.count, self.next)

    def open_list(self, most):
        """Arguments by which the kernels list the next round's edges, at most so many."""
        xp = self.xp
        self.counts[:1].fill(0)
        self.edges = xp.empty(most, np.uint32), xp.empty(most, np.uint32), xp.empty(most, np.uint16)
        most_nodes = self.count // 2 + 1  # at least two become one, besides the seeds' node
        self.best = xp.zeros(most_nodes, np.uint64)
        return self.next, *self.edges, np.uint32(most), self.counts, self.best

    def close_list(self):
        edges, nodes = self.gpu.get(self.counts)
        self.edge_count, self.next_count = int(edges), int(nodes) + 1
