"""The distances of `distances`, found on the host."""

from typing import Any

from .. import distances


def distance_to_outside(mask: Any, spacing: Any, gpu: Any, progress: Any = None) -> Any:
    """See `distances.distance_to_outside`."""
    return gpu.put(distances.distance_to_outside(gpu.get(mask), spacing, progress))
