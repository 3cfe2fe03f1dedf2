"""Points of several groups or vessels that compete for voxels, checked; and the owners' numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..input_validation import SharedVoxelError, checked_seeds
from .hand_overs import HandOver

UNOWNED, DISPUTED = 0, 255  # owners of voxels; the groups lie between
BACKGROUND = DISPUTED - 1  # owner, beside vessels, of what background points reach strongest
BACKGROUND_NAME = "Not vessel"  # in messages
MAX_GROUPS, MAX_VESSELS = 254, 100

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


def background_inside(seeds: Any, shape: Any, mask: np.ndarray | None) -> np.ndarray:
    """The background points inside the mask, each once."""
    if seeds is None or not np.size(seeds):
        return np.empty((0, 3), np.int64)
    voxels = np.unique(checked_seeds(seeds, shape, "background seed"), axis=0)
    return voxels if mask is None else voxels[mask[tuple(voxels.T)] > 0]
