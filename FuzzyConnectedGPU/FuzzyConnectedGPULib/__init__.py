"""Fuzzy connectedness, from seeds to a labelmap, in plain arrays (K, J, I).

`segmentation` is the entry: volume and seeds -> fuzzy scene (by default with the object model of
`contrast`, else `affinity` and `solvers`) -> division among vessels (`relative`) -> labels
(`scene`; the model "affinity" chooses its threshold by `thresholds`). `fuzzy_connectedness`
computes a scene alone, `distributed` volumes larger than memory, block by block. What is listed in
``__all__`` is public, and so is the package `distributed`; the rest is private.
"""

from importlib import import_module
from typing import Any

# Where each public name lies; imported when asked for, as a first run waits for every import.
_PLACES = {
    ".affinity": "GaussianAffinity estimate_affinity",
    ".contrast.automatic_seeds": "automatic_seeds",
    ".contrast.contrast_map": "CachedConnectedness ContrastMapCache",
    ".fuzzy_connectedness": "SolverOptions connectedness",
    ".relative.relative_connectedness": "RelativeConnectedness relative_connectedness",
    ".relative.vessels": "HandOver",
    ".scene": "AutomaticThreshold FuzzyScene binarize error_voxels volume_curve",
    ".segmentation": "MODELS Segmentation SegmentOptions relabel segment segment_several",
    ".solvers": "SOLVERS",
    ".thresholds": "automatic_threshold background_threshold",
}
__all__ = sorted(name for names in _PLACES.values() for name in names.split())


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names.split():
            value = globals()[name] = getattr(import_module(place, __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
