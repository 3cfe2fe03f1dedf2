"""The object that a skeleton is taken of, on the card: cleaned, in its components."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components import cuda_labels as pieces

from ..graph.cuda_radii import radius_at
from .cleaning import close_tunnels, small_pieces
from .preparing import Prepared, filled, remarks_on
from .voxel_classes import checked_labelmap


class ComponentsOnCuda:
    """The components of an object, one after the other; as `ComponentsOnCpu`.

    Parameters
    ----------
    labels : CuPy's ndarray of int32
        Numbers of the components, from 1, in the object's box.
    count : int
    origin : ndarray of int, (3,)
        Of the box in the volume.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    """

    def __init__(self, labels, count, origin, spacing, gpu):
        self.gpu = gpu
        self._labels, self._origin, self._spacing = labels, origin, spacing
        self._boxes = pieces.boxes_of(labels, count, gpu)

    def origin(self, number):
        """Where the component's array begins in the volume."""
        return np.array([side.start - 1 for side in self._boxes[number]]) + self._origin

    def on_card(self, number, margin=1):
        """One component, counted from 0, in its box with empty voxels round it; uint8."""
        return pieces.crop(self._labels, self._boxes[number], number + 1, self.gpu, margin)

    def mask(self, number):
        """The same with one empty voxel round it, on the host; bool."""
        return self.gpu.get(self.on_card(number)).view(bool)

    def radius_at(self, points, report=None):
        """Distance of points (n, 3), in voxels of the volume, to all components' outside; in mm."""
        progress = Progress.of(report)
        return radius_at(
            points - self._origin, self._labels != 0, self._spacing, self.gpu, progress
        )


def prepare(mask, spacing, options, tick, gpu):
    """The `Prepared` object of a mask whose voxels are gone through on the card."""
    values = checked_labelmap(mask)
    given = _not_zero(values, gpu)
    tick()
    box, count = pieces.box_of(given, gpu)
    notes = remarks_on(values, count == values.size, box, options.strength)
    solid, *cavities = pieces.fill_cavities(given[box].copy(), gpu, tick)
    tick()
    solid, labels, sizes, cleaned = _clean(solid, spacing, options, tick, gpu)
    changed = any(cavities) or any(cleaned.values())
    if changed:
        given[box] = solid
    object_ = values.view(np.uint8) if values.itemsize == 1 and not changed else gpu.get(given)
    origin = np.array([side.start for side in box])
    parts = ComponentsOnCuda(labels, len(sizes), origin, spacing, gpu)
    return Prepared(object_, sizes, filled(cavities) | cleaned, notes, parts)


def _not_zero(values, gpu):
    """1 where a labelmap is not 0, on the card; uint8."""
    if values.dtype.kind == "f":
        values = values != 0
    if values.dtype.kind == "b":
        return gpu.put(values.view(np.uint8))
    return (gpu.put(values) != 0).view(np.uint8)


def _clean(solid, spacing, options, tick, gpu):
    """The cleaned object, its components' labels and sizes, and the report's part on it.

    What tunnels are closed with is found on the host.
    """
    labels, count = pieces.label_pieces(solid, True, gpu, tick)
    sizes = pieces.sizes_of(labels, count, gpu)
    islands = (0, 0)
    if options.drop_islands > 1:
        small = small_pieces(sizes, options.drop_islands)
        islands = int(small.sum()), int(sizes[small].sum())
        if islands[0]:
            number = np.cumsum(~small) - 1
            labels = gpu.put(np.where(small, 0, number).astype(np.int32))[labels]
            solid, sizes = (labels != 0).view(np.uint8), sizes[~small]
        tick()
    cleaned = dict(islands_dropped=islands[0], island_voxels=islands[1])
    tunnels = (0, 0)
    if options.close_tunnels > 0 and len(sizes) - 1 > pieces.euler_characteristic(solid, gpu):
        closed, *tunnels = close_tunnels(
            gpu.get(solid).view(bool), options.close_tunnels, spacing, tick
        )
        solid = gpu.put(closed.view(np.uint8))
        labels, count = pieces.label_pieces(solid, True, gpu, tick)
        sizes = pieces.sizes_of(labels, count, gpu)
    cleaned |= dict(tunnels_closed=tunnels[0], tunnel_voxels=tunnels[1])
    return solid, labels, sizes[1:], cleaned
