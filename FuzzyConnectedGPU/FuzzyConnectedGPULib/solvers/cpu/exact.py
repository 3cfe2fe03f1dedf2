"""The default on the CPU: the bucket queue where few voxels are reached, else blocks on all cores.

The queue's time grows with the number of voxels reached, the blocks' time with all voxels.
"""

from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ..interface import Solution
from . import dial
from .blocks import blocks

SMALL = 1 << 19  # voxels: below, the blocks' threads are not worth their start
# The queue gives up after 1 / 64 of the voxels; it has then cost a fifth of the blocks' time.
QUEUE_LIMIT = 64


def solve(problem: Problem, progress: Progress) -> Solution:
    """Levels of the fuzzy scene; see `interface.Solver`."""
    if problem.voxels.size < SMALL:
        return dial.solve(problem, progress)
    start = 0.0
    if may_reach_few(problem):
        found = dial.solve_up_to(problem.voxels.size // QUEUE_LIMIT, problem, progress)
        if found is not None:
            return found
        start = 1 / QUEUE_LIMIT
    return blocks.solve(problem, progress.part(start, 1.0))


def may_reach_few(problem: Problem) -> bool:
    """Whether a cut, a mask or an earlier scene may leave little to do."""
    return problem.cut_level > 1 or problem.mask is not None or problem.start is not None
