"""JIT warm-up: numba's code is compiled, or loaded from its cache, before the first run.

Loading takes a second, and compiling up to half a minute where that was never done on the machine.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress


def prepare() -> None:
    """Compile or load, in the background, what skeletons need; does nothing the second time."""
    WARM_UP.begin()


def wait_for_warm_up(progress: Progress) -> None:
    """Wait until the warm-up has ended, if one was begun; the progress is checked."""
    WARM_UP.wait(progress)


def try_out() -> None:
    """A skeleton of a small object, and a path across a gap, which it does not need."""
    from .extraction import skeletonize
    from .level_thinning import gap_paths
    from .thinning import empty_states

    k, j, i = np.indices((34, 40, 56))
    branch = (k - 16 - i // 9) ** 2 + (j - 14) ** 2 <= 9
    ring = (k - 20) ** 2 + (np.hypot(j - 26, i - 40) - 9) ** 2 <= 12
    island = (k <= 1) & (j <= 1) & (i <= 1)
    mask = branch & (i > 10) & (i < 54) | ring | island
    skeletonize(mask, (1.5, 1.0, 1.0), level=3, device="cpu")
    row = np.flatnonzero(np.pad(np.ones((1, 1, 19)), 1))
    depth = np.pad(np.ones((1, 1, 19), np.float32), 1)
    gap_paths(row[3:6], row[16:19], row[18:19], depth, empty_states(depth.shape), Progress())


WARM_UP = WarmUp(try_out)
