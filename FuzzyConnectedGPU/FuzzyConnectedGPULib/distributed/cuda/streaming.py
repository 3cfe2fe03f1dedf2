"""A volume that is larger than the card: its blocks are solved one after the other, twice.

The two passes of `distributed`, with everything but the card's block in this process's memory. So
all blocks are joined at once, and no group of blocks is.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ...solvers.cpu.blocks.nodes import sorted_by_level
from ...solvers.cuda.contraction import node_rounds
from ...solvers.interface import Solution
from ..blocks import NO_EDGES, bounded_problem, with_seeds
from ..face_graph import FaceGraph, JoinedGraph, join
from ..forest import levels_from
from ..partition import Box, Partition
from . import blocks, joining

BYTES_PER_VOXEL = 14  # contraction's, face voxels' and the first pass's, besides what is read
MAX_BLOCK = 1 << 28  # voxels; of noise more would have too many nodes to be numbered
MIN_BLOCK = 1 << 12  # voxels; smaller ones are not tried
SLAB_BONUS = 1.5  # so many more face voxels are worth that a block lies in one piece of memory
CONTRACTED, JOINED = 0.5, 0.55  # shares of the progress

Prepared = TypeVar("Prepared")


def solve(problem: Problem, progress: Progress, gpu: CudaDevice) -> Solution:
    """Levels of the fuzzy scene; see `interface.CudaSolver`. The rounds are the blocks.

    Raises
    ------
    DeviceMemoryError
        Not even small blocks fit.
    """
    mask_size = 0 if problem.mask is None else 1
    needed = BYTES_PER_VOXEL + problem.voxels.itemsize + mask_size
    limit = min(gpu.free_memory() // needed, MAX_BLOCK, problem.voxels.size // 2)
    while True:
        if limit < MIN_BLOCK:
            raise DeviceMemoryError(
                f"{gpu.name} would work on blocks of {limit} voxels only, which would take too "
                "long. Close other programs that use the GPU, or use device 'cpu'."
            )
        run = _Stream(problem, Partition(problem.voxels.shape, block_shape(problem, limit)), gpu)
        try:
            return run.solve(progress)
        except DeviceMemoryError:  # more nodes than estimated
            limit //= 2


def block_shape(problem: Problem, limit: int) -> tuple[int, int, int]:
    """Voxels of a block along K, J, I: slabs, or where these have many faces about cubes."""
    shape = nk, nj, ni = problem.voxels.shape
    side = max(int(limit ** (1 / 3) + 1e-6), 1)
    cube = _balanced(nk, side), _balanced(nj, side), _balanced(ni, side)
    if limit < nj * ni:
        return cube
    slab = _balanced(nk, limit // (nj * ni)), nj, ni
    faces = [_face_count(Partition(shape, block)) for block in (slab, cube)]
    return slab if faces[0] <= SLAB_BONUS * faces[1] else cube


def _balanced(length: int, most: int) -> int:
    """The length of equal parts, none longer than `most`."""
    return -(-length // -(-length // most))


def _face_count(partition: Partition) -> int:
    return sum(partition.face_count(partition.box(group)) for group in partition.groups(0))


class _Stream:
    """One run over the blocks of a partition."""

    def __init__(self, problem: Problem, partition: Partition, gpu: CudaDevice) -> None:
        self._problem, self._partition, self._gpu = problem, partition, gpu
        self._groups = partition.groups(0)

    def solve(self, progress: Progress) -> Solution:
        """Both passes."""
        boxes, floor = list(map(self._partition.box, self._groups)), max(self._problem.cut_level, 1)
        graphs = self._contracted(progress.part(0.0, CONTRACTED))
        affinity = self._problem.affinity
        graph = join(graphs, boxes, self._partition, affinity, floor)
        progress.advance((CONTRACTED + JOINED) / 2)
        found = self._face_levels(graph)
        face_levels = [found[a:b] for a, b in zip(graph.offsets, graph.offsets[1:])]
        progress.advance(JOINED)
        levels = np.empty(self._problem.voxels.shape, np.uint16)
        self._finish(graphs, face_levels, levels, progress.part(JOINED, 1.0))
        return Solution(levels, len(boxes), self._gpu.peak_bytes)

    def _face_levels(self, graph: JoinedGraph) -> np.ndarray:
        if any(edges[0].size for edges in graph.edges) and graph.source < node_rounds.MAX_NODES:
            try:
                return joining.face_levels(graph, self._gpu)
            except DeviceMemoryError:
                pass  # there is time for it on the CPU
        return levels_from(graph.source, sorted_by_level(graph.edges), graph.source + 1)

    def _contracted(self, progress: Progress) -> list[FaceGraph]:
        graphs, none = [], np.empty(0, np.int32)
        for n, (block, voxels, faces) in enumerate(self._ahead(self._with_faces)):
            intensities = block.voxels.ravel()[faces]
            ends, forest = with_seeds(faces, block.seeds), NO_EDGES
            part = progress.part(n / len(self._groups), (n + 1) / len(self._groups))
            if ends.size:
                forest = blocks.face_forest(block, faces, ends, part, self._gpu)
            graphs.append(FaceGraph(voxels, intensities, *forest, none, none))
        return graphs

    def _finish(
        self,
        graphs: list[FaceGraph],
        face_levels: list[np.ndarray],
        levels: np.ndarray,
        progress: Progress,
    ) -> None:
        with ThreadPoolExecutor(1) as writer:
            written = []
            known = dict(zip(map(self._partition.box, self._groups), zip(graphs, face_levels)))

            def with_levels(box: Box) -> tuple[Box, Problem]:
                graph, known_levels = known[box]
                faces = self._partition.in_box(graph.voxels, box)
                return box, bounded_problem(self._block(box), faces, known_levels)

            for n, (box, bounded) in enumerate(self._ahead(with_levels)):
                part = progress.part(n / len(graphs), (n + 1) / len(graphs))
                if bounded.seeds.size:
                    result = blocks.levels(bounded, part, self._gpu)
                    written.append(writer.submit(np.copyto, levels[box.slices], result))
                else:
                    levels[box.slices] = 0
            for task in written:
                task.result()

    def _ahead(self, prepare: Callable[[Box], Prepared]) -> Iterator[Prepared]:
        """What is prepared of each block, while the one before it is computed."""
        with ThreadPoolExecutor(1) as pool:
            boxes = list(map(self._partition.box, self._groups))
            task = pool.submit(prepare, boxes[0])
            for box in boxes[1:]:
                prepared = task.result()
                task = pool.submit(prepare, box)
                yield prepared
                del prepared
            yield task.result()

    def _with_faces(self, box: Box) -> tuple[Problem, np.ndarray, np.ndarray]:
        block = self._block(box)
        return block, *self._partition.faces_inside(box, block.mask)

    def _block(self, box: Box) -> Problem:
        problem = self._problem
        voxels = np.ascontiguousarray(problem.voxels[box.slices])
        mask = None if problem.mask is None else np.ascontiguousarray(problem.mask[box.slices])
        places = np.stack(np.unravel_index(problem.seeds, problem.voxels.shape), axis=1)
        seeds = box.flat_indices(places)
        return replace(problem, voxels=voxels, mask=mask, seeds=seeds, start=None)
