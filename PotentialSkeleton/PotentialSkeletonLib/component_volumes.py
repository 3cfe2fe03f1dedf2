"""All that is done with every voxel of a component, on the CPU.

The rest of a component's skeleton works on few voxels, given as flat indices, and asks here for
what it needs to know of them. Each result is made when it is first asked for.
"""

import warnings
from functools import cached_property

import numpy as np

from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.distance.geodesic import add_sources, geodesic_distance
from FuzzyVesselCoreLib.voxels.distance.ridge import removal_order
from FuzzyVesselCoreLib.voxels.topology.euler import euler_characteristic

from .critical_points.critical_points import critical_points
from .critical_points.curvature_seeds import curvature_seeds
from .critical_points.divergence_seeds import divergence_seeds
from .endpoints.endpoints import drawn_out_ends, geodesic_tips
from .field.charge_distance import automatic_charge_distance
from .field.force_field import field_of_components
from .field.tiles import Tiles
from .tracing.descent_paths import ways_in


class ComponentVolumes:
    """The volumes of one component.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The component without cavities; it must not touch the array's border.
    spacing : 3 floats K, J, I, in mm
    options : Options
    tick : callable
        Called between slices, with the share done where that is known; raises to cancel.

    Attributes
    ----------
    shape : tuple of int
    spacing : 3 floats
    count : int
        The component's voxels.
    field : Tiles or None
        After `find_field`: the forces, (K, J, I, 3), 0 where there is none, and what is not 0
        where curves may run: in the object, and as far as its charges were moved outward.
    """

    def __init__(self, mask, spacing, options, tick):
        self._mask, self._bytes = mask, mask.view(np.uint8)
        self.shape, self.spacing = mask.shape, spacing
        self._options, self._tick = options, tick
        self.count = int(np.count_nonzero(mask))
        self.field = self._forces = None

    @cached_property
    def depths(self):
        """`Tiles` of the distance to the outside in mm; float32, 0 outside and only there."""
        return Tiles.whole(self._depth)

    @cached_property
    def _depth(self):
        return distance_to_outside(self._bytes, self.spacing, self._tick)

    @cached_property
    def characteristic(self):
        """Euler characteristic of the component."""
        return euler_characteristic(self._mask, self._tick)

    def voxels(self):
        """Flat indices, rising, of all the component's voxels."""
        return np.flatnonzero(self._mask)

    def order_at(self, voxels):
        """In which order voxels may be removed: float32 (n,), the least first."""
        return removal_order(self._depth, voxels)

    def charge_distance(self):
        """Layers by which charges go outward, so that thin parts are resolved (0 to 2)."""
        return automatic_charge_distance(self._bytes, self._depth, self.spacing, self._tick)

    def find_field(self, charge_distance):
        """Find the `field`; the field's notes (tuple of str)."""
        options = self._options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the notes are passed on, once
            found = field_of_components(
                self._mask, self._bytes, options.strength, method=options.method,
                charge_distance=charge_distance, device=options.device, progress=self._tick,
            )  # fmt: skip
        self._found, self._forces = found, found.vectors
        self.field = Tiles.whole(found.vectors, found.classes)
        return found.notes

    def critical_points(self):
        """Zeros of the field, also outside of the object; list of CriticalPoint."""
        return critical_points(self._found, everywhere=True, progress=self._tick)

    def divergence_seeds(self, share):
        """Voxels (n, 3) where the unit force converges most; see `divergence_seeds`."""
        return divergence_seeds(self._forces, share, self._tick, self._found.classes)

    def curvature_seeds(self):
        """Voxels (n, 3) where the surface is sharp; see `curvature_seeds.curvature_seeds`."""
        return curvature_seeds(self._mask, self._tick)

    def spread_from(self, voxels):
        """Find the distances along the component from the nearest of some voxels.

        All that follows refers to these distances. Voxels are given as flat indices, rising.
        """
        self._distances = geodesic_distance(self._bytes, voxels, self.spacing, self._tick)

    def bring_nearer(self, voxels):
        """Lower the distances to those from other voxels that hold the ones before."""
        add_sources(self._distances, voxels, self.spacing, self._tick)

    def distances_at(self, voxels):
        """Distances of voxels from the nearest source, int32 (n,)."""
        return self._distances.reshape(-1)[voxels]

    def ways_in(self, voxels):
        """From each voxel the shortest way to a source, as far as there is no force.

        Returns
        -------
        list of ndarray of int, (n, 3)
            Voxels K, J, I, one beside the other; the last has a force or is a source.
        """
        return ways_in(self._distances, self._forces, voxels)

    def limb_tips(self, smallest):
        """Flat indices, rising, of the ends of limbs; see `tips.geodesic_tips`."""
        return geodesic_tips(self._distances, self._depth, self.spacing, smallest, self._tick)

    def drawn_out_ends(self, skeleton, tips):
        """Flat indices, rising, of the ends of limbs that go on beyond a skeleton's ends.

        Parameters
        ----------
        skeleton : ndarray of int
            Flat indices, rising, of the voxels from which the distances are.
        tips : ndarray of int
            Flat indices of ends that stay.
        """
        return drawn_out_ends(
            self._distances, self._depth, skeleton, self.spacing, tips, self._tick
        )
