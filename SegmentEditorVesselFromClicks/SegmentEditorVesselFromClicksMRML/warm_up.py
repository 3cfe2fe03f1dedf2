"""JIT warm-up of the effect: what clicks and drags run is compiled, or loaded, before them."""

from FuzzyConnectedGPULib.contrast.warm_up import WARM_UP as RUN
from FuzzyConnectedGPULib.several.live.warm_up import WARM_UP as DRAG


def prepare() -> None:
    """Compile or load it in the background; does nothing the second time."""
    for warm_up in (RUN, DRAG):  # each waits for the one before
        warm_up.begin()
