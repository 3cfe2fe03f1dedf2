"""The object of a labelmap: checked, cleaned and split into components, on a CUDA device."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components import cuda_labels

from ..graph.cuda_radii import radius_at
from ..options import SkeletonOptions
from .cleaning import close_tunnels, small_components
from .preparing import Prepared, cavity_counts, checked_box, input_warnings
from .voxel_classes import checked_labelmap


class CudaComponents:
    """The components of an object on a CUDA device; see `components.Components`.

    Parameters
    ----------
    labels : CuPy's ndarray of int32
        Labels of the components, from 1, in the object's box.
    count : int
    origin : ndarray of int, (3,)
        Of the box in the volume.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    """

    def __init__(
        self, labels: Any, count: int, origin: np.ndarray, spacing: Sequence[float], gpu: Any
    ) -> None:
        self.gpu = gpu
        self._labels, self._origin, self._spacing = labels, origin, spacing
        self._boxes = cuda_labels.component_boxes(labels, count, gpu)

    def origin(self, number: int) -> np.ndarray:
        return np.array([side.start - 1 for side in self._box(number)]) + self._origin

    def on_device(self, number: int, margin: int = 1) -> Any:
        """Return a component in its box with a margin of empty voxels; CuPy's uint8."""
        return cuda_labels.crop(self._labels, self._box(number), number + 1, self.gpu, margin)

    def mask(self, number: int) -> np.ndarray:
        return self.gpu.get(self.on_device(number)).view(bool)

    def radius_at(self, points: np.ndarray, progress: Progress) -> np.ndarray:
        return radius_at(
            points - self._origin, self._labels != 0, self._spacing, self.gpu, progress
        )

    def _box(self, number: int) -> tuple[slice, ...]:
        return checked_box(self._boxes[number])


def prepare(
    mask: np.ndarray,
    spacing: Sequence[float],
    options: SkeletonOptions,
    progress: Progress | None,
    gpu: Any,
) -> Prepared:
    """Return the `Prepared` object of a labelmap; see `preparing.prepare`."""
    progress = Progress.of(progress)
    values = checked_labelmap(mask)
    given = _nonzero(values, gpu)
    progress.check()
    found, count = cuda_labels.bounding_box(given, gpu)
    box = checked_box(found)
    warnings = input_warnings(values, count == values.size, options.strength)
    solid, *cavities = cuda_labels.fill_cavities(given[box].copy(), gpu, progress)
    progress.check()
    solid, labels, sizes, cleaned = _clean(solid, spacing, options, progress, gpu)
    changed = any(cavities) or any(cleaned.values())
    if changed:
        given[box] = solid
    object_ = values.view(np.uint8) if values.itemsize == 1 and not changed else gpu.get(given)
    origin = np.array([side.start for side in box])
    parts = CudaComponents(labels, len(sizes), origin, spacing, gpu)
    return Prepared(object_, sizes, cavity_counts(cavities) | cleaned, warnings, parts)


def _nonzero(values: np.ndarray, gpu: Any) -> Any:
    """Return 1 where a labelmap is not 0; CuPy's uint8."""
    if values.dtype.kind == "f":
        values = values != 0
    if values.dtype.kind == "b":
        return gpu.put(values.view(np.uint8))
    return (gpu.put(values) != 0).view(np.uint8)


def _clean(
    solid: Any, spacing: Sequence[float], options: SkeletonOptions, progress: Progress, gpu: Any
) -> tuple[Any, Any, np.ndarray, dict[str, int]]:
    """Return the cleaned object, the labels and sizes of its components, and the report's counts.

    Tunnels are closed on the host.
    """
    labels, count = cuda_labels.label_components(solid, gpu, progress=progress)
    sizes = cuda_labels.component_sizes(labels, count, gpu)
    islands = (0, 0)
    if options.drop_islands > 1:
        small = small_components(sizes, options.drop_islands)
        islands = int(small.sum()), int(sizes[small].sum())
        if islands[0]:
            number = np.cumsum(~small) - 1
            labels = gpu.put(np.where(small, 0, number).astype(np.int32))[labels]
            solid, sizes = (labels != 0).view(np.uint8), sizes[~small]
        progress.check()
    cleaned = dict(islands_dropped=islands[0], island_voxels=islands[1])
    tunnels = [0, 0]
    if options.close_tunnels > 0 and len(sizes) - 1 > cuda_labels.euler_characteristic(solid, gpu):
        closed, *tunnels = close_tunnels(
            gpu.get(solid).view(bool), options.close_tunnels, spacing, progress
        )
        solid = gpu.put(closed.view(np.uint8))
        labels, count = cuda_labels.label_components(solid, gpu, progress=progress)
        sizes = cuda_labels.component_sizes(labels, count, gpu)
    cleaned |= dict(tunnels_closed=tunnels[0], tunnel_voxels=tunnels[1])
    return solid, labels, sizes[1:], cleaned
