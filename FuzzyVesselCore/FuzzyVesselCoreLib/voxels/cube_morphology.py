"""Names of `masks`."""

from typing import Any

from . import masks
from .masks import dilate  # noqa: F401


def erode(mask: Any, layers: int, axes: Any = (0, 1, 2), progress: Any = None) -> Any:
    """See `masks.erode`."""
    return masks.erode(mask, layers, axes)
