"""The default on the CPU: the bucket queue where few voxels are reached, else blocks on all cores.

The queue's time grows with the voxels that it reaches, the blocks' time with those that there are.
"""

from . import blocks, dial

SMALL = 1 << 19  # voxels: below, the blocks' threads are not worth their start
FEW = 64  # the queue gives up after one of so many voxels; it has then cost a fifth of the blocks


def solve(problem, report):
    """Levels of the fuzzy scene; parameters and results as in `dial.solve`."""
    if problem.voxels.size < SMALL:
        return dial.solve(problem, report)
    if may_reach_few(problem):
        found = dial.solve(problem, report, most=problem.voxels.size // FEW)
        if found is not None:
            return found
    return blocks.solve(problem, lambda share: report(max(share, 1 / FEW)))


def may_reach_few(problem):
    """Whether a cut, a mask or an earlier scene may leave little to do."""
    return problem.cut_level > 1 or problem.mask is not None or problem.start is not None
