"""Several vessels: their checked points, their labels by owners, and branches handed over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from ..input_validation import SharedVoxelError, checked_seeds

UNOWNED, DISPUTED = 0, 255  # owners of voxels; the groups lie between
BACKGROUND = DISPUTED - 1  # owner, beside vessels, of what background points reach strongest
MAX_GROUPS, MAX_VESSELS = 254, 100
# Steps along K, J, I to the neighbours.
SIDES_26 = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1

Groups = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class CheckedGroups:
    """Names of the groups; K, J, I (n, 3) of all points, each once; the group (uint8) of each."""

    names: tuple[str, ...]
    seeds: np.ndarray
    owners: np.ndarray


def checked_groups(
    groups: Groups, shape: tuple[int, int, int], mask: np.ndarray | None
) -> CheckedGroups:
    """The points of all groups inside the mask; raises `InputError` as `relative_connectedness`."""
    if not isinstance(groups, Mapping):
        try:
            groups = {f"group {n}": points for n, points in enumerate(groups, start=1)}
        except TypeError:
            raise InputError(
                f"The groups are {groups!r}; give a list of arrays of points, or a dict from names "
                "to them."
            ) from None
    groups = {str(name): points for name, points in groups.items()}
    if not 1 <= len(groups) <= MAX_GROUPS:
        raise InputError(f"There are {len(groups)} groups of points; give 1 to {MAX_GROUPS}.")
    owner_of: dict[tuple[int, ...], int] = {}
    for label, (name, points) in enumerate(groups.items(), start=1):
        voxels = checked_seeds(points, shape, f"point of {name!r}")
        if mask is not None:
            voxels = voxels[mask[tuple(voxels.T)] > 0]
            if not len(voxels):
                raise InputError(
                    f"Every point of {name!r} lies outside the mask: place one inside it, or "
                    "choose another mask."
                )
        for point in map(tuple, voxels.tolist()):
            other = owner_of.setdefault(point, label)
            if other != label:
                raise SharedVoxelError(list(groups)[other - 1], name, point)
    owners = np.array(list(owner_of.values()), np.uint8)
    return CheckedGroups(tuple(groups), np.array(list(owner_of), np.int64), owners)


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


def checked_vessels(
    vessels: Mapping[str, Any], shape: Any, mask: Any, hand_overs: Sequence[HandOver] = ()
) -> dict[str, np.ndarray]:
    """The points (n, 3) of each vessel inside the mask; no voxel is a point of two."""
    if not 1 <= len(vessels) <= MAX_VESSELS:
        raise InputError(f"There are {len(vessels)} vessels; give 1 to {MAX_VESSELS}.")
    for each in hand_overs:
        if not 1 <= each.label <= len(vessels):
            raise InputError(
                f"{each.name} names vessel {each.label}, but there are {len(vessels)}."
            )
        checked_seeds([each.voxel], shape, each.name)
    found = {str(name): np.empty((0, 3), np.int64) for name in vessels}
    clicked = {str(name): points for name, points in vessels.items() if np.size(points)}
    if len(clicked) == 1:  # the scene's own checks are enough
        ((name, points),) = clicked.items()
        return {**found, name: checked_seeds(points, shape)}
    groups = checked_groups(clicked, shape, mask)
    for label, name in enumerate(groups.names, 1):
        found[name] = groups.seeds[groups.owners == label]
    return found


# ---- From owners to labels


def labels_of_owners(
    labels: np.ndarray, owners: np.ndarray, filled: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The vessel (uint8) of each labelled voxel by its owner, and which are disputed (bool).

    Filled gaps have no owner of their own.
    """
    own = labels * owners.astype(np.uint8, copy=False)
    if filled:
        own = share_unowned(own, labels > 0)
    return own * (own < BACKGROUND), own == DISPUTED


def highest_vessel(owners: np.ndarray) -> int:
    """The highest number of a vessel among owners."""
    return int(owners.max(where=owners < BACKGROUND, initial=0))


def share_unowned(owners: np.ndarray, domain: np.ndarray) -> np.ndarray:
    """Give voxels of a domain without an owner to the vessel that is the fewest steps away.

    Steps over 26 neighbours stay in the domain (bool, of the shape of `owners`). `DISPUTED` where
    two vessels are equally near; `UNOWNED` outside of the domain, and where no vessel is reached.
    """
    owners = np.where(domain, owners, UNOWNED).astype(np.uint8)
    box = bounding_box(domain & (owners == UNOWNED))
    if box is None:
        return owners
    box = tuple(slice(max(side.start - 1, 0), side.stop + 1) for side in box)
    part = np.pad(owners[box], 1)
    free = np.pad(domain[box], 1).ravel() & (part.ravel() == UNOWNED)
    steps = SIDES_26 @ np.array([part.shape[1] * part.shape[2], part.shape[2], 1])
    near = np.where(part == DISPUTED, UNOWNED, part).ravel()  # what was disputed does not spread
    at = np.flatnonzero(free)
    while at.size:  # those whose neighbours changed in the round before
        seen = near[at[:, np.newaxis] + steps]
        highest, lowest = seen.max(axis=1), np.where(seen, seen, DISPUTED).min(axis=1)
        found = highest > UNOWNED
        reached, free[at[found]] = at[found], False
        near[reached] = np.where(lowest == highest, highest, DISPUTED)[found]
        part.reshape(-1)[reached] = near[reached]
        at = np.unique(reached[:, np.newaxis] + steps)
        at = at[free[at]]
    owners[box] = part[1:-1, 1:-1, 1:-1]
    return owners


# ---- Branches that are handed over


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
