"""The solids of a labelmap: each component with its cavities filled, its charges and its points.

Each component is a solid of its own: the charges of other components do not act on it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from FuzzyVesselCoreLib.compilation import compiled_code
from FuzzyVesselCoreLib.voxels.components.labels import boxes_of, label_pieces, runs_of

from .voxel_classes import SURFACE


@dataclass(frozen=True)
class Solid:
    """One component of the object, dilated as far as its charges are moved outward.

    Parameters
    ----------
    labels : ndarray of int, shape (K, J, I)
        Of the volume.
    label : int
        The component's.
    extent : tuple of slice
        Where the component lies in the volume.
    charge_distance : int
        Layers by which it is dilated.
    """

    labels: np.ndarray
    label: int
    extent: tuple
    charge_distance: int

    @property
    def box(self):
        """Where the solid lies in the volume; its ends may lie beyond the volume's."""
        layers = self.charge_distance
        return tuple(slice(s.start - layers, s.stop + layers) for s in self.extent)

    @cached_property
    def object(self):
        """The component itself; bool, shape of the box."""
        return np.pad(self.labels[self.extent] == self.label, self.charge_distance)

    @cached_property
    def classes(self):
        """Classes of the dilated component's voxels; uint8, shape of the box."""
        return self._found[0]

    @cached_property
    def _found(self):
        return self._classified(lambda: None)

    def _classified(self, look):
        with compiled_code():
            from FuzzyVesselCoreLib.voxels.bit_packed_morphology import classes_and_wanted
        return classes_and_wanted(self.object, self.charge_distance, look)

    def find_all(self, report):
        """Find `classes` and `wanted` now; `report` is called between steps, raises to cancel."""
        self.__dict__["_found"] = self._classified(report)  # where the property keeps it

    @cached_property
    def charges(self):
        """Positions K, J, I in the box of the charges: the surface voxels; int32 (n, 3)."""
        return self.positions(self.classes == SURFACE)

    @property
    def charge_count(self):
        """How many charges there are."""
        return int((self.classes == SURFACE).sum())

    @cached_property
    def wanted(self):
        """The voxels whose force is summed over the charges; bool, shape of the box.

        These are the inner voxels, and the boundary voxels that have no inner one among their 26
        neighbours. All other boundary voxels get the mean of inner neighbours.
        """
        return self._found[1]

    @cached_property
    def is_free(self):
        """Where there is no charge; bool, shape of the box."""
        return self.classes > SURFACE

    @staticmethod
    def positions(voxels):
        """Positions K, J, I in the box of marked voxels; int32 (n, 3)."""
        return np.argwhere(voxels).astype(np.int32)


def fill_cavities(mask, report=None):
    """Fill what the object encloses: background that is not 6-connected to the volume's outside.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    report : callable, optional
        Called between slabs; raises to cancel.

    Returns
    -------
    filled : ndarray, bool
    count : int
        Number of cavities.
    voxels : int
        Their voxels.
    """
    runs = runs_of(mask, 0, False, True, report)
    if runs.count == 0:
        return mask, 0, 0
    filled = np.array(mask, order="C")
    return filled, runs.count, int(runs.fill(filled.view(np.uint8)))


def label_components(mask, report=None):
    """Number the 26-connected components of an object from 1; int32 labels and their count."""
    return label_pieces(mask, report=report)


def solids(labels, charge_distance):
    """The solids in rising order of their labels.

    Parameters
    ----------
    labels : ndarray, int32, shape (K, J, I)
        From `label_components`.
    charge_distance : int
        By how many layers each component is dilated before its surface is charged.

    Yields
    ------
    label : int
    solid : Solid
    """
    for label, extent in enumerate(boxes_of(labels, labels.max(initial=0)), start=1):
        yield label, Solid(labels, label, extent, charge_distance)
