"""A block for its neighbours (first pass), and a block with the levels of its faces (second)."""

from dataclasses import replace

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..affinity import TOP_LEVEL
from ..problem import Problem
from ..solvers import blocks as block_solver
from ..solvers import contraction
from ..solvers.blocks import Edges, Run
from .cuda.cards import compute
from .face_graph import JoinedGraph, forest_on_cpu, levels_on_cpu
from .forest import NOWHERE, spanning_forest

NO_EDGES = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint16)


def face_forest(
    problem: Problem, faces: np.ndarray, progress: Progress, device: str = "cpu"
) -> Edges:
    """The forest between face voxels and the source, which all seeds are.

    Parameters
    ----------
    problem : Problem
        The block with its own seeds, or none.
    faces : ndarray, int64, sorted
        Flat indices in the block of the voxels to keep; inside the mask.
    progress : Progress
    device : str
        As in `BlockOptions`.

    Returns
    -------
    Edges
        By positions in `faces`; the source is ``faces.size``.
    """
    ends = with_seeds(faces, problem.seeds)
    if ends.size == 0:
        return NO_EDGES
    return _on_cpu(problem, faces, ends, progress)


def _on_cpu(problem: Problem, faces: np.ndarray, ends: np.ndarray, progress: Progress) -> Edges:
    run = Run(replace(problem, seeds=ends))
    try:
        run.grow_trees(progress.part(0.0, 0.9))
        nodes, source = run.seed_nodes(), run.node_count
        seeds = nodes[np.searchsorted(ends, problem.seeds)]
        to_seeds = np.full_like(seeds, source), seeds, np.full(seeds.size, TOP_LEVEL, np.uint16)
        edges = run.node_edges(progress.part(0.9, 1.0), [to_seeds])
    finally:
        run.shut_down()
    kept = np.full(source + 1, NOWHERE, np.int32)
    kept[nodes[np.searchsorted(ends, faces)]] = np.arange(faces.size, dtype=np.int32)
    kept[source] = faces.size
    return spanning_forest(edges, kept)


def finished_levels(
    problem: Problem,
    faces: np.ndarray,
    levels: np.ndarray,
    progress: Progress,
    device: str = "cpu",
) -> np.ndarray:
    """Levels of a block's voxels, from its own seeds and the final levels of its face voxels.

    Parameters
    ----------
    problem, faces, device
        As of `face_forest`.
    levels : ndarray, uint16
        Of the face voxels.
    progress : Progress

    Returns
    -------
    ndarray of uint16, of the block's shape
    """
    bounded = bounded_problem(problem, faces, levels)
    if bounded.seeds.size == 0:
        return np.zeros(problem.voxels.shape, np.uint16)
    return compute(
        device,
        lambda gpu: gpu.get(contraction.solve(bounded, progress, gpu).levels),
        lambda: block_solver.solve_exact(bounded, progress).levels,
    )


def forest_in(graph: JoinedGraph, kept: np.ndarray, device: str) -> Edges:
    """Forest between the kept vertices of a group; see `face_graph.forest_on_cpu`."""
    return forest_on_cpu(graph, kept)


def levels_in(graph: JoinedGraph, device: str) -> np.ndarray:
    """Level of the widest path from the source to each vertex of a group."""
    return levels_on_cpu(graph)


def bounded_problem(problem: Problem, faces: np.ndarray, levels: np.ndarray) -> Problem:
    """A block whose face voxels begin with their final levels; parameters as above."""
    reached = levels > 0
    if not reached.all():
        faces, levels = faces[reached], levels[reached]
    further, at = _further(faces, problem.seeds)
    seeds, seed_levels = np.insert(faces, at, further), np.insert(levels, at, TOP_LEVEL)
    seed_levels[np.searchsorted(seeds, problem.seeds)] = TOP_LEVEL
    return replace(problem, seeds=seeds, seed_levels=seed_levels)


def with_seeds(faces: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """The voxels of both, sorted; the seeds are few.

    Examples
    --------
    >>> with_seeds(np.array([2, 5]), np.array([1, 5, 9])).tolist()
    [1, 2, 5, 9]
    """
    further, at = _further(faces, seeds)
    return np.insert(faces, at, further) if further.size else faces


def _further(faces: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The seeds that are no face voxels, and where they belong among these."""
    at = np.searchsorted(faces, seeds)
    if faces.size == 0:
        return seeds, at
    new = faces[np.minimum(at, faces.size - 1)] != seeds
    return seeds[new], at[new]
