"""Contraction of the graph of nodes that the tiles leave, round by round, and the way back."""

from pathlib import Path

import numpy as np

from FuzzyVesselCommon.errors import NoRoomError

from ..affinity import TOP_LEVEL

KERNELS = Path(__file__).with_name("kernels") / "node_rounds.cu"
THREADS, FACE_THREADS = 256, 320  # FACE_THREADS: pairs of voxels across a tile's upper borders
EDGES_A_THREAD, FEW_NODES, WIDE_BLOCK = 4, 1024, 1024  # as in node_rounds.cu
FEW_EDGES = 1 << 13  # with so few, few nodes are quicker done by one block than by launches
MOST_NODES = 2**24  # an edge holds two nodes in 48 bits
KEPT = 0.6  # a first guess: the share of its edges that a later round leaves


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
    while rounds[-1].edge_count and not is_small(rounds[-1]):
        report(min(0.7 + 0.02 * len(rounds), 0.9))
        rounds.append(further_round(tiles, rounds[-1]))
    connected = last_nodes(tiles, rounds[-1])
    for each in reversed(rounds):
        each.run("lower_nodes", each.count, each.weights, each.next, connected, each.count)
        connected = each.weights
    return connected, len(rounds)


def is_small(last):
    """Whether what a round leaves is for one block."""
    return last.next_count <= FEW_NODES and last.edge_count <= FEW_EDGES


def first_round(tiles):
    """Hooks along the nodes' best edges, all of which lead into other tiles."""
    first = Round(tiles, tiles.node_count, tiles.exit_weights)
    place = tiles.exits, tiles.node_of, tiles.first_nodes, *tiles.shape[1:]
    first.run("hook_exits", first.count, *place, first.count, tiles.exits)
    first.merge(tiles.exits)
    tiles.exits = tiles.exit_weights = place = None
    first.read_counts()
    first.best = tiles.xp.zeros(first.next_count, np.uint64)
    if first.next_count > MOST_NODES:
        raise NoRoomError(
            f"The volume contracts to {first.next_count:,} nodes only, and {MOST_NODES:,} can be "
            "numbered; use the solver 'active-tiles', or raise the cut."
        )

    def keep_steps(list_of_edges):
        steps = tiles.steps, tiles.step_weights, first.count, first.next
        first.run("keep_steps", -(-first.count // EDGES_A_THREAD), *steps, *list_of_edges)

    def cross_edges(list_of_edges):
        place = tiles.voxels, tiles.node_of, tiles.first_nodes, *tiles.shape, *tiles.affinity
        after = first.next, *list_of_edges
        tiles.launch(KERNELS, "cross_edges", FACE_THREADS, place, after)

    rooms, tiles.rooms = tiles.rooms, None
    first.list_edges(keep_steps, rooms[0])
    tiles.steps = tiles.step_weights = None
    first.counts[1:] = 0
    first.list_edges(cross_edges, rooms[1])
    tiles.voxels = None
    return first


def further_round(tiles, last):
    """Hooks along the best edges that were found while the last round's edges were listed."""
    further = Round(tiles, last.next_count, tiles.xp.empty(last.next_count, np.uint16))
    parent = tiles.xp.empty(further.count, np.uint32)
    (edges, count), (more, _) = (*last.lists, last.lists[0])[:2]
    ends = last.best, edges, count, more, further.count
    further.run("hook_nodes", further.count, *ends, parent, further.weights)
    further.merge(parent)
    # At least two nodes become one; to read how many they become would make the card wait.
    further.best = tiles.xp.zeros(further.count // 2 + 1, np.uint64)

    def keep_edges(list_of_edges):
        for edges, count in last.lists:
            blocks = -(-count // EDGES_A_THREAD)
            further.run("keep_edges", blocks, edges, count, further.next, *list_of_edges)

    room = tiles.xp.empty(int(last.edge_count * KEPT), np.uint64)
    further.list_edges(keep_edges, room)
    last.lists = last.best = None
    return further


def last_nodes(tiles, last):
    """Connectedness of the nodes that the last round leaves: few, or without an edge."""
    connected = tiles.xp.zeros(last.next_count, np.uint16)
    if last.edge_count == 0:
        connected[0] = TOP_LEVEL
        return connected
    (edges, count), (more, more_count) = (*last.lists, (last.lists[0][0], 0))[:2]
    ends = edges, np.uint32(count), more, np.uint32(more_count), np.uint32(last.next_count)
    tiles.kernel(KERNELS, "raise_nodes")((1,), (WIDE_BLOCK,), (*ends, connected))
    return connected


class Round:
    """Nodes of one round, what they become in the next, and the edges that are left for it.

    Attributes
    ----------
    count, next_count : int
        Nodes of this round and of the next.
    weights : array, uint16
        Of the edges by which the nodes hook.
    next : array, uint32
        Each node's number in the next round; 0 with the seeds.
    lists : list of (array, int)
        Edges, and how many they are.
    best : array, uint64
        Best edge of each node of the next round; may be longer.
    counts : array, uint32
        Nodes of the next round besides that of the seeds, and edges of the last list.
    """

    def __init__(self, tiles, count, weights):
        self.gpu, self.xp, self.kernel = tiles.gpu, tiles.xp, tiles.kernel
        self.count, self.weights = count, weights
        self.lists, self.edge_count = [], 0
        self.counts = self.xp.zeros(2, np.uint32)

    def run(self, name, threads, *arguments):
        """Run a kernel with so many threads; integers among the arguments go as uint32."""
        if threads:
            arguments = [np.uint32(a) if isinstance(a, int) else a for a in arguments]
            self.kernel(KERNELS, name)((-(-threads // THREADS),), (THREADS,), arguments)

    def merge(self, parent):
        """Find what each node becomes, by where it hooked."""
        self.next = self.xp.empty(self.count, np.uint32)
        after = self.next, self.counts[:1]
        self.run("number_nodes", self.count, parent, self.weights, self.count, *after)
        self.run("follow_hooks", self.count, parent, self.count, self.next)

    def read_counts(self):
        """Learn how many nodes the next round has; the edges of the last list."""
        nodes, edges = (int(count) for count in self.gpu.get(self.counts))
        self.next_count = nodes + 1
        return edges

    def list_edges(self, kernels, room):
        """Let kernels list edges for the next round in the array `room`, or a larger one."""
        best = self.best.copy() if self.lists else 0
        while True:
            most = np.uint32(room.size)
            kernels((room, np.uint32(self.edge_count), most, self.counts[1:], self.best))
            found = self.read_counts()
            if found <= room.size:
                self.lists.append((room, found))
                self.edge_count += found
                return
            self.counts[1:] = 0
            room = None
            room = self.xp.empty(found, np.uint64)
            self.best[...] = best  # its edges will have other numbers
