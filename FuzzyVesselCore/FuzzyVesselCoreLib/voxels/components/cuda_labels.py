"""The functions of `labels`, found on the host."""

from typing import Any

import numpy as np

from .. import labels as on_host
from .. import masks, topology


def label_components(
    mask: Any, gpu: Any, connectivity: Any = 26, progress: Any = None
) -> tuple[Any, int]:
    """See `labels.label_components`."""
    labels, count = on_host.label_components(gpu.get(mask), connectivity, progress)
    return gpu.put(labels), count


def component_sizes(labels: Any, count: int, gpu: Any) -> np.ndarray:
    """See `labels.component_sizes`."""
    return on_host.component_sizes(gpu.get(labels), count)


def component_boxes(labels: Any, count: int, gpu: Any) -> Any:
    """See `labels.component_boxes`."""
    return on_host.component_boxes(gpu.get(labels), count)


def bounding_box(mask: Any, gpu: Any) -> tuple[Any, int]:
    """The box, and how many voxels there are."""
    values = gpu.get(mask)
    return masks.bounding_box(values), int(np.count_nonzero(values))


def fill_cavities(mask: Any, gpu: Any, progress: Any = None) -> tuple[Any, int, int]:
    """See `labels.fill_cavities`."""
    filled, count, voxels = on_host.fill_cavities(gpu.get(mask) != 0, progress)
    return (gpu.put(filled.view(np.uint8)) if count else mask), count, voxels


def euler_characteristic(mask: Any, gpu: Any) -> int:
    """See `topology.euler_characteristic`."""
    return topology.euler_characteristic(gpu.get(mask))


def crop(labels: Any, box: Any, label: int, gpu: Any, margin: int = 1) -> Any:
    """One component in its box, with a margin of empty voxels that may reach out of the volume."""
    inside = masks.padded_box(box, (margin,) * 3, labels.shape)
    around = [
        (at.start - side.start + margin, side.stop + margin - at.stop)
        for side, at in zip(box, inside)
    ]
    return gpu.put(np.pad((gpu.get(labels[inside]) == label).view(np.uint8), around))
