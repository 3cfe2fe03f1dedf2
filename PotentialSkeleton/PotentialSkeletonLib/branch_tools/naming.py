"""Proposed names of a tree's branches, from rules about how vessels divide and in which direction.

A rule is a row of a table: a vessel ends in two or three groups of branches that lie apart along an
axis of the body, or gives off two to its sides. Anatomy varies and a mask is rarely whole, so every
name is a proposal (it ends with "(?)") for a person to accept or to change. The segments are those
of Couinaud, by the portal vein's branches; the caudate lobe (segment 1) has no branch of its own
here: it drains into the vena cava itself.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..curve_skeleton import CurveSkeleton
from ..interchange.vmtk import to_world, world_matrix
from ..tree.rooting import Forest, rooted_forest
from .measuring import checked_branch

LIVER_SEGMENT = _("segment")
PROPOSED = " (?)"  # at the end of a name that no person has accepted yet
RIGHT, ANTERIOR, SUPERIOR = np.eye(3)  # of the patient
ASIDE = 0.6  # cosine to the axis, from which on a branch leaves to the side
FIRST_PART = 20.0  # mm of a branch, which have its direction
ENDS, SIDES = "ends in", "gives off"
# Vessel, what it does, the axis, and names in their order along it: the furthest is first.
Rule = tuple[Any, ...]


@dataclass(frozen=True)
class Anatomy:
    """A vessel, the direction in which it runs, and the rules for what comes from it."""

    trunk: str
    direction: np.ndarray
    share: float  # of the volume beyond a fork: a vessel ends where two branches have so much
    rules: tuple[Rule, ...]

    @property
    def names(self) -> list[str]:
        """All names that there are, from the trunk on."""
        return [self.trunk, *(name for rule in self.rules for name in rule[3:])]


ANATOMIES = {
    "portal vein": Anatomy(
        _("portal vein"),
        RIGHT,
        0.2,
        (
            (_("portal vein"), ENDS, RIGHT, _("right branch"), _("left branch")),
            (_("right branch"), ENDS, ANTERIOR, _("right anterior"), _("right posterior")),
            (_("right anterior"), ENDS, SUPERIOR, f"{LIVER_SEGMENT} 8", f"{LIVER_SEGMENT} 5"),
            (_("right posterior"), ENDS, SUPERIOR, f"{LIVER_SEGMENT} 7", f"{LIVER_SEGMENT} 6"),
            (_("left branch"), ENDS, SUPERIOR, f"{LIVER_SEGMENT} 2", _("umbilical part")),
            (_("umbilical part"), ENDS, RIGHT, f"{LIVER_SEGMENT} 4", f"{LIVER_SEGMENT} 3"),
        ),
    ),
    "vena cava": Anatomy(
        _("vena cava"),
        SUPERIOR,
        0.35,
        (
            (
                _("vena cava"),
                ENDS,
                RIGHT,
                _("right hepatic vein"),
                _("middle hepatic vein"),
                _("left hepatic vein"),
            ),
        ),
    ),
    "aorta": Anatomy(
        _("aorta"),
        -SUPERIOR,
        0.35,
        (
            (_("aorta"), ENDS, RIGHT, _("right common iliac"), _("left common iliac")),
            (_("aorta"), SIDES, RIGHT, _("right renal artery"), _("left renal artery")),
        ),
    ),
}


def propose_names(
    skeleton: CurveSkeleton,
    anatomy: str,
    trunk: int | None = None,
    ijk_to_ras: ArrayLike | None = None,
) -> dict[int, str]:
    """Propose names for the branches at which the named vessels begin.

    Parameters
    ----------
    skeleton : CurveSkeleton
    anatomy : str
        "portal vein", "vena cava" or "aorta", a key of `ANATOMIES`.
    trunk : int, optional
        Number of a branch of that vessel; by default the one with the largest mean radius.
    ijk_to_ras : array_like, (4, 4), optional
        From voxels I, J, K to mm along the patient's right, anterior and superior; by default I, J,
        K times the spacing.

    Returns
    -------
    dict of int to str
        A name, with "(?)" at its end, for each branch in question; what lies downstream of one has
        its name through `inherited_names`. Vessels that the rules do not find are left out.

    Raises
    ------
    InputError
        For an unknown anatomy, a branch that does not exist or closes a loop, or a skeleton without
        branches.

    Examples
    --------
    An aorta from above (K is up) with its two iliac arteries:

    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> aorta = skeleton_of_polylines(
    ...     [[[90, 0, 0], [40, 0, 0]], [[40, 0, 0], [0, 0, 30]], [[40, 0, 0], [0, 0, -30]]],
    ...     [[9, 9], [5, 5], [5, 5]],
    ... )
    >>> propose_names(aorta, "aorta")
    {0: 'aorta (?)', 1: 'right common iliac (?)', 2: 'left common iliac (?)'}
    """
    if anatomy not in ANATOMIES:
        text = _("The anatomy {name!r} is unknown: use {names}.")
        raise InputError(text.format(name=anatomy, names=", ".join(ANATOMIES)))
    if not skeleton.branches:
        raise InputError(_("The skeleton has no branches to name."))
    if trunk is None:
        radii = np.array([skeleton.mean_radius(branch) for branch in skeleton.branches])
        radii[rooted_forest(skeleton).cut] = -1
        trunk = int(np.argmax(radii))
    tree = _Tree(skeleton, ANATOMIES[anatomy], trunk, ijk_to_ras)
    begins = {tree.anatomy.trunk: [tree.trunk]}  # positions in the forest, of each vessel
    for vessel, does, axis, *names in tree.anatomy.rules:
        way, ends = tree.course(begins.get(vessel, []))
        if does == ENDS:
            begins.update(tree.apart(tree.enough(ends, axis, len(names)), axis, names))
        else:
            begins.update(tree.sideways(way, ends, axis, names))
    return {
        tree.forest.branches[position].number: name + PROPOSED
        for name, positions in begins.items()
        for position in positions
    }


class _Tree:
    """A forest that begins with the trunk, and its branches' volumes and points in the patient."""

    def __init__(self, skeleton, anatomy, trunk, ijk_to_ras) -> None:
        self.anatomy = anatomy
        branch = checked_branch(skeleton, trunk)
        matrix = world_matrix(skeleton.spacing, ijk_to_ras)
        away = (to_world(branch.points[[0, -1]], matrix) @ anatomy.direction).argmin()
        root = (branch.start, branch.end)[away]
        self.forest: Forest = rooted_forest(skeleton, roots=[root])
        at = {each.number: n for n, each in enumerate(self.forest.branches)}
        if trunk not in at:
            text = _("Branch {number} closes a loop: choose another one of the vessel.")
            raise InputError(text.format(number=trunk))
        self.trunk = at[trunk]
        self.points = [to_world(each.points, matrix) for each in self.forest.branches]
        self.volumes = np.zeros(len(self.points))  # of each branch with all downstream of it
        self.moments = np.zeros((len(self.points), 3))
        for n in reversed(range(len(self.points))):  # children come after their parents
            each = self.forest.branches[n]
            steps = np.linalg.norm(np.diff(self.points[n], axis=0), axis=1)
            weights = steps * (each.radius[1:] ** 2 + each.radius[:-1] ** 2) / 2
            self.volumes[n] += weights.sum()
            self.moments[n] += weights @ (self.points[n][1:] + self.points[n][:-1]) / 2
            if each.parent >= 0:
                self.volumes[each.parent] += self.volumes[n]
                self.moments[each.parent] += self.moments[n]

    def course(self, begins):
        """The branches of a vessel from its beginnings on, and those in which it ends (or none)."""
        way, ends = list(begins), list(begins)
        while len(ends) == 1:
            ends = self._large(ends[0])
            way += ends if len(ends) == 1 else []
        # Three branches at nearly one place are two forks with a short piece between them.
        short = [n for n in ends if self._short(n)]
        beyond = [child for n in short for child in self._large(n)]
        return way + short, [n for n in ends if n not in short] + beyond

    def _large(self, position):
        """The branches at the end of one that have a share of the volume beyond it."""
        children = self.forest.branches[position].children
        volumes = self.volumes[children]
        if not children:
            return []
        least = min(self.anatomy.share * volumes.sum(), volumes.max())
        return [n for n in children if self.volumes[n] >= least]

    def _short(self, position):
        branch = self.forest.branches[position]
        steps = np.linalg.norm(np.diff(self.points[position], axis=0), axis=1)
        return bool(branch.children) and steps.sum() < 2 * branch.radius.mean()

    def _places(self, positions, axis):
        """Centres along an axis of branches with all downstream of them."""
        return self.moments[positions] @ axis / self.volumes[positions].clip(1e-12)

    def enough(self, ends, axis, count):
        """As many ends: the last along the axis is a common trunk, as of two hepatic veins."""
        while 1 < len(ends) < count:
            last = ends[int(self._places(ends, axis).argmin())]
            further = self.course([last])[1]
            if len(further) < 2:
                return []
            ends = [n for n in ends if n != last] + further
        return ends

    def apart(self, ends, axis, names):
        """The ends in groups, at the widest gaps between their centres along the axis."""
        if len(ends) < len(names):
            return {}
        places = self._places(ends, axis)
        order = np.argsort(-places)
        cuts = np.sort(np.argsort(np.diff(places[order]))[: len(names) - 1]) + 1
        groups = [[ends[n] for n in group] for group in np.split(order, cuts)]
        return dict(zip(names, groups))

    def sideways(self, way, ends, axis, names):
        """Of the branches that leave the way to each side, the largest; and all others."""
        leaving = [n for position in way for n in self.forest.branches[position].children]
        leaving = [n for n in leaving if n not in (*way, *ends)]
        found = {}
        for name, sign in zip(names, (1, -1)):
            aside = [n for n in leaving if sign * self._direction(n) @ axis >= ASIDE]
            if aside:
                found[name] = [max(aside, key=lambda n: self.volumes[n])]
        chosen = [n for group in found.values() for n in group]
        return found | {_("other branch"): [n for n in leaving if n not in chosen]}

    def _direction(self, position):
        """Direction of a branch's first part and of what follows it, as a unit vector."""
        points = self.points[position]
        children = self.forest.branches[position].children
        while np.linalg.norm(points[-1] - points[0]) < FIRST_PART and children:
            largest = max(children, key=lambda n: self.volumes[n])
            points = np.concatenate([points, self.points[largest]])
            children = self.forest.branches[largest].children
        away = np.linalg.norm(points - points[0], axis=1)
        reached = points[np.argmax(away >= FIRST_PART)] if away.max() >= FIRST_PART else points[-1]
        step = reached - points[0]
        return step / max(np.linalg.norm(step), 1e-9)
