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
    """Skeletons of small objects, by all ways that have compiled code of their own."""
    from .assembly import assemble
    from .level_thinning import gap_paths
    from .object.preparing import prepare as prepared
    from .options import SkeletonOptions
    from .thinning import empty_states

    mask, spacing, progress = small_object(), (1.5, 1.0, 1.0), Progress()
    for charge_distance in (None, 2):
        options = SkeletonOptions(level=3, charge_distance=charge_distance, device="cpu")

        def object_of(part: Progress, options: SkeletonOptions = options) -> object:
            return prepared(mask, spacing, options, part)

        assemble(object_of, mask.shape, spacing, options, progress)
    row = np.flatnonzero(np.pad(np.ones((1, 1, 19)), 1))
    depth = np.pad(np.ones((1, 1, 19), np.float32), 1)
    gap_paths(row[3:6], row[16:19], row[18:19], depth, empty_states(depth.shape), progress)


WARM_UP = WarmUp(try_out)


def small_object() -> np.ndarray:
    """A ball with a cavity, a bent branch, a ring and an island (bool, K, J, I)."""
    k, j, i = np.indices((34, 40, 56))
    ball = (k - 16) ** 2 + (j - 14) ** 2 + (i - 14) ** 2 <= 81
    cavity = (k - 16) ** 2 + (j - 10) ** 2 + (i - 9) ** 2 <= 2
    branch = (k - 16 - i // 9) ** 2 + (j - 14) ** 2 <= 9
    across = np.hypot(j - 26, i - 40)
    ring = (k - 20) ** 2 + (across - 9) ** 2 <= 12
    island = (k <= 1) & (j <= 1) & (i <= 1)
    return (ball & ~cavity) | (branch & (i > 10) & (i < 54)) | ring | island
