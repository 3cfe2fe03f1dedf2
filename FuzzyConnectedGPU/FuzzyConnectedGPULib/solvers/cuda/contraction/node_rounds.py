"""Contraction of the graph of nodes that the tiles leave, in rounds, and the way back."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.progress import Progress

if TYPE_CHECKING:
    from .contracted_tiles import ContractedTiles

KERNELS = Path(__file__).with_name("node_rounds.cu")
FURTHER = Path(__file__).with_name("further_rounds.cu")
THREADS, FACE_THREADS = 256, 320  # FACE_THREADS: pairs of voxels across a tile's upper borders
EDGES_PER_THREAD, ROUND_THREADS, MAX_ROUNDS = 4, 512, 32  # as in node_rounds.cu
COUNTS = 3 + 2 * MAX_ROUNDS + 2  # counters of the kernels, 0 at first
FEW_NODES = 0.8  # of the first workspace, at least, for the intra-tile edges
MAX_NODES = 2**24  # an edge holds two nodes in 48 bits


def connect_nodes(tiles: "ContractedTiles", progress: Progress) -> tuple[DeviceArray, DeviceArray]:
    """Connectedness of each node.

    Parameters
    ----------
    tiles : ContractedTiles
        Its nodes' arrays are freed as soon as they are not needed.
    progress : Progress

    Returns
    -------
    connected : array, uint16
        Level of each node of the tiles.
    rounds : array, uint32
        The first element is the number of rounds.
    """
    if tiles.node_count == 0:
        return tiles.xp.zeros(1, np.uint16), tiles.counts[2:]
    first = FirstRound(tiles)
    progress.advance(0.7)
    first.hook(tiles)
    first.begin_lists(tiles)
    progress.advance(0.8)
    return first.weights, _further_rounds(tiles, first)


class FirstRound:
    """The nodes of the tiles, their numbers in the next round, and the remaining edges.

    Attributes
    ----------
    count, next_count : int
        Nodes of this round and of the next.
    weights : array, uint16
        Of the edges by which the nodes hook.
    next : array, uint32
        Each node's number in the next round; 0 for the seeds' component.
    lists : two of (array, int)
        Intra-tile and cross-tile edges, and their numbers, once the lists are settled.
    cross_first : int
        Number of the first cross-tile edge.
    best : array, uint64
        Best edge of each node of the next round.
    surviving, found : arrays, uint32
        Numbers of surviving roots, and of the edges of both lists.
    """

    def __init__(self, tiles: "ContractedTiles") -> None:
        self.surviving, self.found = tiles.counts[2:3], tiles.counts[3:5]
        self.gpu, self.xp, self.kernel = tiles.gpu, tiles.xp, tiles.kernel
        self.count, self.weights = tiles.node_count, tiles.outgoing_weights
        self.next = tiles.take_numbers(self.count)
        self.cross_first = self.count  # a node has one intra-tile edge at most

    def run(self, name: str, threads: int, *args: Any) -> None:
        """Run a kernel with so many threads; integers are passed as uint32."""
        self.kernel(KERNELS, name)((-(-threads // THREADS),), (THREADS,), uint32s(args))

    def hook(self, tiles: "ContractedTiles") -> None:
        """Hook along the nodes' best edges."""
        edges = tiles.outgoing, tiles.tile_edges
        place = tiles.grid(KERNELS), tiles.node_map(KERNELS)
        parent, result = tiles.outgoing, (self.next, self.surviving)
        self.run("hook_outgoing", self.count, *edges, *place, self.count, parent)
        del edges, place
        self.keep_roots(tiles, parent)
        self.run("number_nodes", self.count, parent, self.weights, self.count, *result)
        surviving = self.gpu.get_soon(self.surviving)  # while the next kernels run
        self.number_roots(tiles)
        self.run("follow_hooks", self.count, parent, self.count, self.next)
        tiles.outgoing = tiles.outgoing_weights = None
        self.next_count = int(surviving()[0]) + 1
        if self.next_count > MAX_NODES:
            raise DeviceMemoryError(
                f"The volume contracts to {self.next_count:,} nodes only, and {MAX_NODES:,} can "
                "be numbered; use the solver 'active-tiles', or raise the cut."
            )

    def keep_roots(self, tiles: "ContractedTiles", parent: DeviceArray) -> None:
        """Let further nodes survive; none here. Called before the survivors are numbered."""

    def number_roots(self, tiles: "ContractedTiles") -> None:
        """Give nodes that hook nowhere another number than the source's; none here."""

    def list_edges(self, tiles: "ContractedTiles") -> None:
        """List the edges in the tiles' workspaces, or in larger ones."""
        self.begin_lists(tiles)
        self.settle_lists(tiles)

    def begin_lists(self, tiles: "ContractedTiles") -> None:
        """List the edges in the tiles' workspaces, as far as they fit.

        The intra-tile edges lie in the second workspace, which is overwritten once they are listed.
        """
        self._room, tiles.workspaces = tiles.workspaces, None
        self._take_best(self._room)
        self._list_all(tiles, self._room)
        self._found_soon = self.gpu.get_soon(self.found)

    def settle_lists(self, tiles: "ContractedTiles") -> None:
        """Wait for the numbers of edges; where they did not fit list them in larger workspaces."""
        workspaces, self._room = self._room, None
        found = [int(count) for count in self._found_soon()]
        if found[0] > workspaces[0].size:
            workspaces[0] = None
            self.gpu.free_unused_memory()
            workspaces[0] = self.xp.empty(found[0], np.uint64)
            self.best.fill(0)
            self.found.fill(0)
            self._list_all(tiles, workspaces)
            found[1] = int(self.gpu.get(self.found)[1])
        tiles.tile_edges = tiles.tile_edge_weights = None
        if found[1] > workspaces[1].size:
            # Of equal edges the last number is the best: no edge that did not fit stays the best.
            self.cross_first += found[1]
            workspaces[1] = None
            self.gpu.free_unused_memory()
            workspaces[1] = self.xp.empty(found[1], np.uint64)
            self.found[1:].fill(0)
            self._list_cross_edges(tiles, workspaces)
        tiles.weights_across = None
        self.lists = list(zip(workspaces, found))

    def _take_best(self, workspaces: list) -> None:
        """Memory for the best edges: behind the intra-tile edges where these are likely few."""
        room = workspaces[0].size - self.next_count
        if room < workspaces[0].size * FEW_NODES:
            self.best = self.xp.empty(self.next_count, np.uint64)
        else:
            workspaces[0], self.best = workspaces[0][:room], workspaces[0][room:]
        self.best.fill(0)

    def _list_all(self, tiles: "ContractedTiles", workspaces: list) -> None:
        """List intra-tile edges, then cross-tile edges if the first ones fit."""
        edges = tiles.tile_edges, tiles.tile_edge_weights, self.count, self.next
        within = self._edges(workspaces[0], 0, self.found)
        self.run("keep_tile_edges", -(-self.count // EDGES_PER_THREAD), *edges, within)
        self._list_cross_edges(tiles, workspaces)

    def _list_cross_edges(self, tiles: "ContractedTiles", workspaces: list) -> None:
        """List the cross-tile edges, whose numbers follow those of the intra-tile edges.

        The edges of seeds with levels to the source are among them.
        """
        within = self._edges(workspaces[0], 0, self.found)
        across = self._edges(workspaces[1], self.cross_first, self.found[1:])
        nodes = tiles.weights_across, tiles.node_map(KERNELS), self.next
        tiles.launch(KERNELS, "cross_tile_edges", FACE_THREADS, *nodes, within, across)
        if tiles.seed_levels is not None:
            place = tiles.grid(KERNELS), tiles.node_map(KERNELS), self.next
            seeds = tiles.seeds, tiles.seed_levels, tiles.seeds.size
            self.run("source_edges", tiles.seeds.size, *seeds, *place, within, across)

    def _edges(self, edges: DeviceArray, first: int, count: DeviceArray) -> KernelStruct:
        """`Edges` of node_edges.cuh: a list whose numbers begin at `first`."""
        numbers = dict(first=first, capacity=edges.size, count=count)
        arrays = dict(edges=edges, best=self.best, weights=None)
        return self.gpu.struct(KERNELS, "Edges", **arrays, **numbers)


def _further_rounds(tiles: "ContractedTiles", first: FirstRound) -> DeviceArray:
    """All rounds but the first, and the way back to its nodes; returns the number of rounds."""
    counts = tiles.counts[5:]
    if tiles.came_in_slabs:  # what the rounds need lies where the weights across borders were
        first.settle_lists(tiles)
        rounds = Rounds(tiles.gpu, FURTHER, first, counts)
    else:  # while the edges are listed
        rounds = Rounds(tiles.gpu, FURTHER, first, counts)
        first.settle_lists(tiles)
    rounds.take_lists(first)
    nodes = dict(count=first.count, next=first.next, weights=first.weights)
    tiles.gpu.launch_cooperative(
        tiles.kernel(FURTHER, "further_rounds"),
        -(-rounds.threads // ROUND_THREADS),
        ROUND_THREADS,
        (rounds.lists, rounds.nodes, tiles.gpu.struct(FURTHER, "FirstNodes", **nodes)),
    )
    return counts[2 * MAX_ROUNDS :]


class Rounds:
    """The arguments of the rounds from the second on, and their memory; see rounds.cuh.

    Attributes
    ----------
    lists, nodes : KernelStruct
        `BothLists` (None when they are freed) and `Rounds`.
    size : int
        Nodes of all rounds at most.
    threads : int
        That the rounds can use.
    """

    lists: KernelStruct | None

    def __init__(
        self, gpu: CudaDevice, kernels: Path, first: FirstRound, counts: DeviceArray
    ) -> None:
        xp, count = gpu.xp, first.next_count
        # Each round leaves at most half of its nodes, besides that of the seeds.
        self.size = 2 * count + 2 * MAX_ROUNDS
        best = dict(best=first.best, other_best=xp.empty(count // 2 + 1, np.uint64))
        hooks = dict(next=xp.empty(self.size, np.uint32), weights=xp.empty(self.size, np.uint16))
        hooks.update(nodes=count, now=count, counts=counts)
        parent = xp.empty(count, np.uint32)
        self.nodes = gpu.struct(kernels, "Rounds", **hooks, **best, parent=parent)
        self._hooked = gpu.struct(
            kernels, "Rounds", **hooks, best=None, other_best=None, parent=None
        )
        self._gpu, self._kernels, self.threads = gpu, kernels, count

    def take_lists(self, first: FirstRound) -> None:
        """Fill `lists` when they are settled."""
        (edges, edge_count), (more, more_count) = first.lists
        lists = dict(edges=edges, edge_count=edge_count, more=more, more_count=more_count)
        lists.update(more_first=first.cross_first)
        self.lists = self._gpu.struct(self._kernels, "BothLists", **lists)
        self.threads = max(self.threads, (edge_count + more_count) // EDGES_PER_THREAD)

    def free_edges(self) -> None:
        """Free the memory of what is not needed when all nodes have hooked."""
        self.lists, self.nodes = None, self._hooked


def uint32s(args: tuple) -> tuple:
    """Kernel arguments, Python's integers as uint32."""
    return tuple(np.uint32(a) if isinstance(a, int) else a for a in args)
