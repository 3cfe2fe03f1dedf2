"""JIT warm-up of closed surfaces: their code is compiled, or loaded, before the first one."""

import numpy as np

from ...jit.warm_up import WarmUp


def try_out() -> None:
    """Make the surface of one voxel."""
    from .closed_surface import closed_surface

    closed_surface(np.ones((1, 1, 1), np.uint8), 1, np.eye(4))


WARM_UP = WarmUp(try_out)
