"""All that is done with every voxel of a component, on the card; see `ComponentVolumes`.

The host gets what is asked for at few voxels, and the tiles that curves come through.
"""

from functools import cached_property

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components import cuda_labels
from FuzzyVesselCoreLib.voxels.distance import cuda_geodesic
from FuzzyVesselCoreLib.voxels.distance.cuda_euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.distance.cuda_ridge import removal_order

from .critical_points.critical_points import critical_points_in
from .critical_points.cuda_divergence_seeds import divergence_seeds
from .critical_points.cuda_sign_changes import cells_with_sign_changes
from .critical_points.curvature_seeds import curvature_seeds
from .endpoints import cuda_endpoints as tips
from .field.charge_distance import automatic_charge_distance
from .field.cuda_solid import CudaSolid
from .field.cuda_tiles import tiles_on_host
from .field.summation import Summation
from .object.voxel_classes import BOUNDARY
from .tracing.cuda_descent_paths import ways_in


class ComponentVolumesOnCuda:
    """The volumes of one component on the card; parameters, attributes and methods not told here
    are those of `ComponentVolumes`.

    Parameters
    ----------
    on_card : callable
        ``on_card(margin)`` gives the component with so many empty voxels round it; uint8 on the
        card.
    spacing, options, tick
        As for `ComponentVolumes`.
    gpu : CudaDevice
    count : int
        The component's voxels.
    """

    def __init__(self, on_card, spacing, options, tick, gpu, count):
        self._on_card, self._gpu = on_card, gpu
        self._mask = on_card(1)
        self.shape, self.spacing, self.count = self._mask.shape, spacing, count
        self._options, self._tick = options, tick
        self.field = None

    @cached_property
    def _depth(self):
        return distance_to_outside(self._mask, self.spacing, self._gpu, self._tick)

    @cached_property
    def depths(self):
        return tiles_on_host(self._mask, self.count, [self._depth], self._gpu)

    @cached_property
    def characteristic(self):
        return cuda_labels.euler_characteristic(self._mask, self._gpu)

    def voxels(self):
        return self._gpu.get(self._gpu.xp.flatnonzero(self._mask))

    def order_at(self, voxels):
        return removal_order(self._depth, voxels, self._gpu)

    def charge_distance(self):
        return automatic_charge_distance(
            self._mask, self._depth, self.spacing, self._tick, self._gpu
        )

    def find_field(self, charge_distance):
        gpu, options = self._gpu, self._options
        summation = Summation(options.method, options.strength, gpu)
        solid = CudaSolid(self._on_card(charge_distance), charge_distance, gpu)
        vectors = solid.forces(summation, Progress(lambda _share: self._tick()))
        self._vectors = with_margin(vectors, charge_distance, 1, gpu)
        self._classes = with_margin(solid.classes, charge_distance, 1, gpu)
        both = [self._vectors, self._classes]
        self.field = tiles_on_host(self._classes, self.count, both, gpu)
        return summation.notes()

    def critical_points(self):
        cells, corners = cells_with_sign_changes(self._vectors, self._classes, BOUNDARY, self._gpu)
        return critical_points_in(cells, corners, progress=self._tick)

    def divergence_seeds(self, share):
        return divergence_seeds(self._vectors, share, self._gpu)

    def curvature_seeds(self):
        return curvature_seeds(self._gpu.get(self._mask).view(bool), self._tick)

    def spread_from(self, voxels):
        self._distances = cuda_geodesic.geodesic_distance(
            self._mask, self._gpu.put(voxels), self.spacing, self._gpu, self._tick
        )

    def bring_nearer(self, voxels):
        cuda_geodesic.add_sources(
            self._distances, self._gpu.put(voxels), self.spacing, self._gpu, self._tick
        )

    def distances_at(self, voxels):
        return self._gpu.get(self._distances.reshape(-1)[self._gpu.put(voxels)])

    def ways_in(self, voxels):
        forces = None if self.field is None else self._vectors
        return ways_in(self._distances, forces, voxels, self._gpu)

    def limb_tips(self, smallest):
        there = self._distances, self._depth, self.spacing
        return tips.limb_tips(*there, smallest, self.count, self._gpu, self._tick)

    def drawn_out_ends(self, skeleton, stay):
        there = self._distances, self._depth, skeleton, self.spacing
        return tips.drawn_out_ends(*there, stay, self.count, self._gpu, self._tick)


def with_margin(volume, margin, wanted, gpu):
    """A volume (K, J, I, ...) on the card whose empty margin is made as wide as wanted."""
    if margin == wanted:
        return volume
    if margin > wanted:
        inner = slice(margin - wanted, wanted - margin)
        return volume[inner, inner, inner].copy()
    more = wanted - margin
    shape = [n + 2 * more for n in volume.shape[:3]]
    larger = gpu.xp.zeros((*shape, *volume.shape[3:]), volume.dtype)
    inner = slice(more, -more)
    larger[inner, inner, inner] = volume
    return larger
