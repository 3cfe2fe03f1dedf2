"""The ridge of `distances`, found on the host."""

from typing import Any

from .. import distances


def ridge_depths(depth: Any, gpu: Any) -> Any:
    """See `distances.ridge_depths`."""
    return distances.ridge_depths(gpu.get(depth))


def removal_order(depth: Any, voxels: Any, gpu: Any) -> Any:
    """See `distances.removal_order`."""
    return distances.removal_order(gpu.get(depth), voxels)


def removal_order_on_device(depth: Any, voxels: Any, gpu: Any) -> Any:
    """See `distances.removal_order`."""
    return gpu.put(distances.removal_order(gpu.get(depth), gpu.get(voxels)))
