"""Fuzzy connectedness, from seeds to a labelmap, in plain arrays (K, J, I).

Data flow: volume, seeds -> `input_validation`, `problem` -> `affinity/` -> `solvers/` ->
`scene` (`FuzzyScene`) -> `threshold/` -> labels. `segmentation` runs all of it (`SegmentOptions`),
by default with the object model of `contrast/`; `fuzzy_connectedness` computes a scene
(`SolverOptions`); `relative/` divides a volume among several objects, and `several/` a segmentation
among several vessels; `distributed/` computes volumes that fit in no memory, block by block;
`cached_connectedness` computes only what changed since the last run; `memory` estimates the memory
of a run. What is listed in ``__all__`` is public, and so is the package `distributed`; the rest is
private.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .affinity import GaussianAffinity, estimate_affinity
    from .cached_connectedness import CachedConnectedness
    from .contrast.automatic.automatic_seeds import automatic_seeds
    from .fuzzy_connectedness import connectedness
    from .relative import RelativeConnectedness, relative_connectedness
    from .scene import FuzzyScene, error_voxels
    from .segment_options import MODELS, SegmentOptions
    from .segmentation import Segmentation, segment
    from .several import HandOver, SeveralVessels, segment_several
    from .solver_options import SolverOptions
    from .solvers import SOLVERS
    from .threshold.automatic import AutomaticThreshold, automatic_threshold
    from .threshold.thresholds import background_threshold, binarize, volume_curve

__all__ = [
    "MODELS",
    "SOLVERS",
    "AutomaticThreshold",
    "CachedConnectedness",
    "FuzzyScene",
    "GaussianAffinity",
    "HandOver",
    "RelativeConnectedness",
    "SegmentOptions",
    "Segmentation",
    "SeveralVessels",
    "SolverOptions",
    "automatic_seeds",
    "automatic_threshold",
    "background_threshold",
    "binarize",
    "connectedness",
    "error_voxels",
    "estimate_affinity",
    "relative_connectedness",
    "segment",
    "segment_several",
    "volume_curve",
]

# Imported when they are asked for: a first run waits for every file that is imported.
_PLACES = {
    "AutomaticThreshold": ".threshold.automatic",
    "CachedConnectedness": ".cached_connectedness",
    "FuzzyScene": ".scene",
    "GaussianAffinity": ".affinity",
    "HandOver": ".several",
    "MODELS": ".segment_options",
    "RelativeConnectedness": ".relative",
    "SOLVERS": ".solvers",
    "SegmentOptions": ".segment_options",
    "Segmentation": ".segmentation",
    "SeveralVessels": ".several",
    "SolverOptions": ".solver_options",
    "automatic_seeds": ".contrast.automatic.automatic_seeds",
    "automatic_threshold": ".threshold.automatic",
    "background_threshold": ".threshold.thresholds",
    "binarize": ".threshold.thresholds",
    "connectedness": ".fuzzy_connectedness",
    "error_voxels": ".scene",
    "estimate_affinity": ".affinity",
    "relative_connectedness": ".relative",
    "segment": ".segmentation",
    "segment_several": ".several",
    "volume_curve": ".threshold.thresholds",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
