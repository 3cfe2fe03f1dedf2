"""Branches of a vessel: what lies beyond a voxel, and handing it over to another vessel."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import bounding_box


@dataclass(frozen=True)
class HandOver:
    """A branch that goes to another vessel.

    Attributes
    ----------
    voxel : tuple of 3 int
        K, J, I of the click: where the branch begins.
    label : int
        Of the vessel that it goes to.
    name : str
        What messages call the click.
    """

    voxel: tuple[int, int, int]
    label: int
    name: str = "hand-over"


def branch_of(
    vessel: np.ndarray,
    points: np.ndarray,
    voxel: Sequence[int],
    spacing: Sequence[float] = (1.0, 1.0, 1.0),
) -> tuple[np.ndarray, ...]:
    """The branch of a voxel: what lies beyond it, as seen from the vessel's points (`relative`).

    `vessel` is bool (K, J, I), `points` (n, 3) outside of it do not count, `voxel` is in it;
    lengths in mm by the spacing are rounded to 1/16 of the smallest. Returns indices K, J, I of the
    branch.
    """
    from scipy import ndimage

    from FuzzyVesselCoreLib.voxels.distances import geodesic_distance

    box = bounding_box(vessel)
    if box is None:
        return tuple(np.empty((3, 0), int))
    origin = np.array([side.start for side in box])
    mask = np.pad(vessel[box], 1).astype(np.uint8)  # the distance needs a margin
    roots = np.reshape(points, (-1, 3))
    roots = roots[vessel[tuple(roots.T)] > 0] - origin + 1
    distances = geodesic_distance(mask, np.ravel_multi_index(tuple(roots.T), mask.shape), spacing)
    at = tuple(np.array(voxel) - origin + 1)
    far = distances < 0  # no way to any point, or outside
    beyond = far if far[at] else far | (distances >= distances[at])
    components, _ = ndimage.label(beyond & (mask > 0), np.ones((3, 3, 3)))
    found = np.nonzero(components == components[at])
    return tuple(indices + first - 1 for indices, first in zip(found, origin))


def apply_hand_overs(
    labels: np.ndarray,
    points: Sequence[np.ndarray],
    hand_overs: Sequence[HandOver],
    spacing: Sequence[float],
) -> tuple[str, ...]:
    """Hand branches over in labels (uint8, K, J, I; 1 for the first vessel), in place and in order.

    `points` are K, J, I (n, 3) of each vessel. Returns, for each that had no effect, why.
    """
    roots, notes = [np.reshape(each, (-1, 3)) for each in points], []
    for each in hand_overs:
        owner = int(labels[each.voxel])
        if owner == each.label:
            continue
        if owner == 0:
            text = _(
                "There is no vessel at {name}, so no branch was handed over: move the point "
                "into the branch, or delete it."
            )
        elif (roots[owner - 1] == each.voxel).all(axis=1).any():
            text = _(
                "{name} lies on a point of the other vessel, which keeps its branch: delete "
                "one of the two."
            )
        else:
            branch = branch_of(labels == owner, roots[owner - 1], each.voxel, spacing)
            labels[branch] = each.label
            roots[each.label - 1] = np.vstack([roots[each.label - 1], each.voxel])
            continue
        notes.append(text.format(name=each.name))
    return tuple(notes)
