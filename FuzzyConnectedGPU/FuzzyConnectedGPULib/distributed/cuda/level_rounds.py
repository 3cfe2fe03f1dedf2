"""Levels of a graph's vertices: rounds of contraction on a CUDA device, and the way back."""

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.progress import Progress

from ...affinity import TOP_LEVEL
from ...solvers.cuda.contraction.node_rounds import uint32s
from .graph_rounds import GraphRounds

NO_FOREST = dict.fromkeys(("first", "second", "levels", "count", "began", "next_began"))


class LevelRounds(GraphRounds):
    """Rounds among nodes whose edges take 10 bytes each, to the level of every node."""

    def __init__(self, gpu: CudaDevice, nodes: int, room: int) -> None:
        super().__init__(gpu, nodes, room, wide=True)

    def levels(self, progress: Progress) -> np.ndarray:
        """Level (uint16) of the widest path from node 0 to each node, in host memory."""
        self.begin()
        hooks = []
        while self.edge_count:
            progress.check()
            parent = self.hook(0)
            following = self.number(parent, 0, **NO_FOREST)
            weights = self.xp.empty(self.nodes, np.uint16)
            kept = parent, self.best, self.nodes, weights
            self.launch("keep_weights", self.nodes, uint32s(kept))
            hooks.append((following, weights))
            del parent
            self.advance(following, 0)
        found = self.xp.zeros(self.nodes, np.uint16)  # no path leads to what is left
        found[:1].fill(TOP_LEVEL)
        while hooks:
            following, weights = hooks.pop()
            arguments = uint32s((following, found, weights.size, weights))
            self.launch("lower_nodes", weights.size, arguments)
            found = weights
        return self.gpu.get(found)
