"""JIT warm-up of the contrast model: its code is compiled, or loaded, before the first run."""

import numpy as np

from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress

SIDE = 24  # voxels


def prepare() -> None:
    """Compile or load, in the background, what a run needs; does nothing the second time."""
    WARM_UP.begin()


def wait_for_warm_up(progress: Progress) -> None:
    """Wait until the warm-up has ended, if one was begun; the progress is checked."""
    WARM_UP.wait(progress)


def try_out() -> None:
    """Segment a bar from a click, and from two with a background click in a mask."""
    from .contrast_model import contrast_connectedness

    volume = np.random.default_rng(0).normal(0, 1, (SIDE,) * 3).astype(np.float32)
    for place in (4, 20):
        volume[:, place - 1 : place + 2, place - 1 : place + 2] += 60
    seeds = np.array([[4, 4, 4], [20, 4, 4]])
    contrast_connectedness(volume, seeds[:1], device="cpu")
    background, mask = np.array([[12, 20, 20]]), np.ones(volume.shape, np.uint8)
    contrast_connectedness(volume, seeds, background_seeds=background, mask=mask, device="cpu")


WARM_UP = WarmUp(try_out)
