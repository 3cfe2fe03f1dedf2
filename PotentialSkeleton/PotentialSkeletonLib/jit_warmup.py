"""JIT warm-up: numba's code is compiled, or loaded from its cache, before the first run.

Loading takes two seconds, and compiling half a minute where that was never done on the machine.
Processes share that, each with stages of its own (`jit_recipes`). A small object is worked on in a
thread afterwards.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.compiling_processes import compile_in_processes, is_cached
from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress

SPACING = (1.5, 1.0, 1.0)
# On two cores the first and the last are one process's.
RECIPES = tuple(
    f"{__package__}.jit_recipes:{name}"
    for name in ("up_to_critical_points", "curves_and_thinning", "tips_and_graph")
)


def prepare() -> None:
    """Compile or load, in the background, what skeletons need; does nothing the second time."""
    WARM_UP.begin()


def wait_for_warm_up(progress: Progress) -> None:
    """Wait until the warm-up has ended, if one was begun; the progress is checked."""
    WARM_UP.wait(progress)


def _compile_or_load() -> None:
    from .graph.radii import fill_radii  # among the last functions of each process
    from .thinning.gap_paths import climb

    if not (is_cached(fill_radii) and is_cached(climb)):
        compile_in_processes(RECIPES)
    try_out()


WARM_UP = WarmUp(_compile_or_load)


def try_out() -> None:
    """Skeletons of a small object, by all ways that have compiled code of their own."""
    from .assembly import assemble
    from .jit_recipes import across_a_gap
    from .options import SkeletonOptions

    across_a_gap()
    for charge_distance in (None, 2):
        options = SkeletonOptions(
            level=3, charge_distance=charge_distance, device="cpu", drop_islands=27,
            close_tunnels=2.0,
        )  # fmt: skip
        assemble(small_object(), SPACING, options, Progress())


def small_object() -> np.ndarray:
    """Return a ball with a cavity, a bent branch, a ring and an island (bool, K, J, I)."""
    k, j, i = np.indices((34, 40, 56))
    ball = (k - 16) ** 2 + (j - 14) ** 2 + (i - 14) ** 2 <= 81
    cavity = (k - 16) ** 2 + (j - 10) ** 2 + (i - 9) ** 2 <= 2
    branch = (k - 16 - i // 9) ** 2 + (j - 14) ** 2 <= 9
    across = np.hypot(j - 26, i - 40)
    ring = (k - 20) ** 2 + (across - 9) ** 2 <= 12
    island = (k <= 1) & (j <= 1) & (i <= 1)
    return (ball & ~cavity) | (branch & (i > 10) & (i < 54)) | ring | island
