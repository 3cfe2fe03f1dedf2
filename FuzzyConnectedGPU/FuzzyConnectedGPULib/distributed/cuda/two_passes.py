"""Both passes over the blocks of a volume in host memory, with one block on the card at a time.

What needs no card is done by threads while the card works: the face voxels of the blocks, and the
edges across their faces. The host copies no block: boxes of the volume go to the card, and come
from it, through small buffers, while the card works on other blocks.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from FuzzyVesselCoreLib.gpu.copier import Copier
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import thread_count
from FuzzyVesselCoreLib.voxels.memory_soon import MemorySoon

from ...affinity import write_level_values
from ...problem import Problem
from ...solvers.cpu.blocks.nodes import Edges
from ...solvers.interface import Solution
from ..blocks import NO_EDGES, bounded_problem, with_seeds
from ..face_graph import FaceGraph, adjoining, crossing, joined
from ..partition import Box, Partition
from . import blocks, joining
from .grouped_faces import levels_by_groups

CONTRACTED, JOINED = 0.5, 0.55  # shares of the progress


class _Block(NamedTuple):
    """A block's part of the problem, its face voxels in it, and these with its seeds."""

    problem: Problem
    faces: np.ndarray
    ends: np.ndarray
    graph: FaceGraph  # without a forest


class TwoPasses:
    """One run over the blocks of a partition; a context manager, for its threads."""

    def __init__(self, problem: Problem, partition: Partition, gpu: CudaDevice) -> None:
        self._problem, self._partition, self._gpu = problem, partition, gpu
        self._boxes = [partition.box(group) for group in partition.groups(0)]
        self._pool = ThreadPoolExecutor(thread_count())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def solve(self, progress: Progress, values: MemorySoon | None = None) -> Solution:
        """The volume's levels, or its values in the memory that was made for them."""
        found = [self._pool.submit(self._block, box) for box in self._boxes]
        levels = self._face_levels(found, progress)
        bounded = [self._pool.submit(self._bounded, *of_one) for of_one in zip(found, levels)]
        if values is None:
            result = np.empty(self._problem.voxels.shape, np.uint16)
        else:
            result = values.result()
        self._finish(bounded, result, progress.part(JOINED, 1.0))
        return Solution(result, len(self._boxes), self._gpu.peak_bytes)

    def _face_levels(self, found: list[Future[_Block]], progress: Progress) -> list[np.ndarray]:
        """First pass: the final levels of each block's face voxels."""
        faces, begun = adjoining(self._boxes), progress.part(0.0, CONTRACTED)
        at_once = joining.fits(sum(map(self._partition.face_count, self._boxes)), self._gpu)
        if at_once:
            across = [self._pool.submit(self._crossing, found, *face) for face in faces]
        graphs = self._contracted(found, begun)
        if at_once:
            graph = joined(graphs, dict(zip(faces, (edges.result() for edges in across))))
            of_all = joining.face_levels(graph, self._gpu)
            levels = np.split(of_all[: graph.source], graph.offsets[1:-1])
        else:
            of_edges = self._problem.affinity, max(self._problem.cut_level, 1)
            levels = levels_by_groups(graphs, self._partition, *of_edges, self._gpu)
        progress.advance(JOINED)
        return levels

    def _block(self, box: Box) -> _Block:
        problem = self._problem
        places = np.stack(np.unravel_index(problem.seeds, problem.voxels.shape), axis=1)
        mask = None if problem.mask is None else problem.mask[box.slices]
        seeds, voxels = box.flat_indices(places), problem.voxels[box.slices]
        part = replace(problem, voxels=voxels, mask=mask, seeds=seeds, start=None)
        at_faces = self._partition.face_voxels(box)
        if problem.mask is not None:
            at_faces = at_faces[problem.mask.reshape(-1)[at_faces] > 0]
        inside = self._partition.in_box(at_faces, box)
        none, intensities = np.empty(0, np.int32), problem.voxels.reshape(-1)[at_faces]
        graph = FaceGraph(at_faces, intensities, *NO_EDGES, none, none)
        return _Block(part, inside, with_seeds(inside, seeds), graph)

    def _crossing(self, found: list[Future[_Block]], a: int, b: int, axis: int) -> Edges:
        before, behind = found[a].result().graph, found[b].result().graph
        border, floor = self._boxes[b].start[axis], max(self._problem.cut_level, 1)
        affinity = self._problem.affinity
        return crossing(before, behind, axis, border, self._partition, affinity, floor)

    def _contracted(self, found: list[Future[_Block]], progress: Progress) -> list[FaceGraph]:
        graphs = []
        with self._gpu.copier() as copier:
            coming = self._upload(0, copier)
            for n, soon in enumerate(found):
                upload, coming = coming, self._upload(n + 1, copier)
                block, part = soon.result(), progress.part(n / len(found), (n + 1) / len(found))
                graph = block.graph
                if block.ends.size:
                    given = block.problem, block.faces, block.ends, part, self._gpu, upload
                    forest = blocks.face_forest(*given)
                    graph = graph._replace(**dict(zip(("first", "second", "levels"), forest)))
                graphs.append(graph)
        return graphs

    def _upload(self, n: int, copier: Copier) -> blocks.Upload | None:
        """Voxels and mask of block n begin to go to the card; None behind the last one."""
        if n == len(self._boxes):
            return None
        box, mask = self._boxes[n].slices, self._problem.mask
        return blocks.Upload(self._problem.voxels[box], None if mask is None else mask[box], copier)

    def _bounded(self, soon: Future[_Block], levels: np.ndarray) -> Problem:
        block = soon.result()
        return bounded_problem(block.problem, block.faces, levels)

    def _finish(
        self, bounded: list[Future[Problem]], result: np.ndarray, progress: Progress
    ) -> None:
        convert = write_level_values if result.dtype == np.float32 else _copy
        written: list[Future[None]] = []
        with self._gpu.copier() as puts, self._gpu.copier() as gets:
            coming = self._needed(bounded, 0, puts)
            for n, (box, soon) in enumerate(zip(self._boxes, bounded)):
                part = progress.part(n / len(bounded), (n + 1) / len(bounded))
                upload, coming = coming, self._needed(bounded, n + 1, puts)
                if upload is None:
                    result[box.slices] = 0
                    continue
                levels = blocks.device_levels(soon.result(), part, self._gpu, upload)
                if written:
                    written.pop().result()  # its memory is needed
                written.append(gets.get_converted(levels, result[box.slices], convert))
                del levels
            for last in written:
                last.result()

    def _needed(
        self, bounded: list[Future[Problem]], n: int, copier: Copier
    ) -> blocks.Upload | None:
        """The upload of block n, or None if no path enters it or there is no such block."""
        if n == len(bounded) or not bounded[n].result().seeds.size:
            return None
        return self._upload(n, copier)


def _copy(levels: np.ndarray, result: np.ndarray) -> None:
    np.copyto(result, levels)
