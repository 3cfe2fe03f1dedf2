"""Contraction of the graph of nodes that the tiles leave, round by round, and the way back."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import NoRoomError

KERNELS = Path(__file__).with_name("node_rounds.cu")
THREADS, FACE_THREADS = 256, 320  # FACE_THREADS: pairs of voxels across a tile's upper borders
EDGES_A_THREAD, ROUND_THREADS, MOST_ROUNDS = 4, 512, 32  # as in node_rounds.cu
COUNTS = 3 + 2 * MOST_ROUNDS + 2  # that the kernels count, from 0
MOST_NODES = 2**24  # an edge holds two nodes in 48 bits


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
    rounds : array, uint32
        Its first number is that of the rounds.
    """
    if tiles.node_count == 0:
        return tiles.xp.zeros(1, np.uint16), tiles.counts[2:]
    first = FirstRound(tiles)
    report(0.7)
    first.hook(tiles)
    first.list_edges(tiles)
    report(0.8)
    return first.weights, further_rounds(tiles, first)


class FirstRound:
    """The nodes of the tiles, what they become in the next round, and the edges that are left.

    Attributes
    ----------
    count, next_count : int
        Nodes of this round and of the next.
    weights : array, uint16
        Of the edges by which the nodes hook.
    next : array, uint32
        Each node's number in the next round; 0 with the seeds.
    lists : two of (array, int)
        Edges, and how many they are: of those within tiles, and of those across their borders.
    more_first : int
        Number of the second list's first edge.
    best : array, uint64
        Best edge of each node of the next round.
    stayed, found : arrays, uint32
        Counts of the nodes that stay, and of the edges of both lists.
    """

    def __init__(self, tiles):
        self.stayed, self.found = tiles.counts[2:3], tiles.counts[3:5]
        self.gpu, self.xp, self.kernel = tiles.gpu, tiles.xp, tiles.kernel
        self.count, self.weights = tiles.node_count, tiles.exit_weights
        self.next = self.xp.empty(self.count, np.uint32)
        self.more_first = self.count  # a node has one step at most

    def run(self, name, threads, *arguments):
        """Run a kernel with so many threads; integers among the arguments go as uint32."""
        arguments = [np.uint32(a) if isinstance(a, int) else a for a in arguments]
        self.kernel(KERNELS, name)((-(-threads // THREADS),), (THREADS,), arguments)

    def hook(self, tiles):
        """Hook along the nodes' best edges, all of which lead into other tiles."""
        place = tiles.exits, tiles.node_of, tiles.first_nodes, *tiles.shape[1:]
        parent, after = tiles.exits, (self.next, self.stayed)
        self.run("hook_exits", self.count, *place, self.count, parent)
        self.let_stay(tiles, parent)
        self.run("number_nodes", self.count, parent, self.weights, self.count, *after)
        self.run("follow_hooks", self.count, parent, self.count, self.next)
        tiles.exits = tiles.exit_weights = place = parent = None
        self.next_count = int(self.gpu.get(self.stayed)[0]) + 1
        if self.next_count > MOST_NODES:
            raise NoRoomError(
                f"The volume contracts to {self.next_count:,} nodes only, and {MOST_NODES:,} can "
                "be numbered; use the solver 'active-tiles', or raise the cut."
            )

    def let_stay(self, tiles, parent):
        """Let further nodes stay than those that hook along one edge, or nowhere: here none."""

    def list_edges(self, tiles):
        """List the edges in the tiles' rooms, or in larger ones.

        The steps lie in the second list's room, which is written when they are listed.
        """
        rooms, tiles.rooms = tiles.rooms, None
        self.best = self.xp.zeros(self.next_count, np.uint64)
        self.list_both(tiles, rooms)
        found = [int(count) for count in self.gpu.get(self.found)]
        if found[0] > rooms[0].size:
            rooms[0] = None
            rooms[0] = self.xp.empty(found[0], np.uint64)
            self.best.fill(0)
            self.found.fill(0)
            self.list_both(tiles, rooms)
            found[1] = int(self.gpu.get(self.found)[1])
        tiles.steps = tiles.step_weights = None
        if found[1] > rooms[1].size:
            # Of equal edges the last number is the best: so none of those without room stays best.
            self.more_first += found[1]
            rooms[1] = None
            rooms[1] = self.xp.empty(found[1], np.uint64)
            self.found[1:].fill(0)
            self.list_crosses(tiles, rooms)
        tiles.voxels = None
        self.lists = list(zip(rooms, found))

    def list_both(self, tiles, rooms):
        """List steps, then crosses if the steps have found room."""
        steps = tiles.steps, tiles.step_weights, self.count, self.next
        room = rooms[0], 0, rooms[0].size, self.found, self.best
        self.run("keep_steps", -(-self.count // EDGES_A_THREAD), *steps, *room)
        self.list_crosses(tiles, rooms)

    def list_crosses(self, tiles, rooms):
        """List the edges across the tiles' borders, whose numbers begin after the steps'."""
        place = tiles.voxels, tiles.node_of, tiles.first_nodes, *tiles.shape, *tiles.affinity
        steps = self.found, np.uint32(rooms[0].size)
        room = rooms[1], np.uint32(self.more_first), np.uint32(rooms[1].size), self.found[1:]
        after = self.next, *steps, *room, self.best
        tiles.launch(KERNELS, "cross_edges", FACE_THREADS, place, after)


def further_rounds(tiles, first):
    """All rounds but the first, and the way back to its nodes; how many rounds there were."""
    xp, nodes = tiles.xp, first.next_count
    # Each round leaves at most half of its nodes, besides that of the seeds.
    room = 2 * nodes + 2 * MOST_ROUNDS
    ways = xp.empty(nodes, np.uint32), xp.empty(room, np.uint32), xp.empty(room, np.uint16)
    best = first.best, xp.empty(nodes // 2 + 1, np.uint64)
    (edges, edge_count), (more_edges, more_count) = first.lists
    lists = edges, edge_count, more_edges, first.more_first, more_count
    back, counts = (first.count, first.next, first.weights), tiles.counts[5:]
    arguments = *lists, nodes, *best, *ways, *back, counts
    threads = max(nodes, (edge_count + more_count) // EDGES_A_THREAD)
    tiles.gpu.launch_together(
        tiles.kernel(KERNELS, "further_rounds"),
        -(-threads // ROUND_THREADS),
        ROUND_THREADS,
        [np.uint32(a) if isinstance(a, int) else a for a in arguments],
    )
    return counts[2 * MOST_ROUNDS :]
