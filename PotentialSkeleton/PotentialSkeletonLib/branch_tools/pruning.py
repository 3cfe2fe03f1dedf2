"""Pruning as a list of steps that can be stored, shown and replayed on another case."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import END, CurveSkeleton
from .joining import with_branches

LENGTH, RADIUS, GENERATION, SPUR_RATIO = "length", "radius", "generation", "spur ratio"


@dataclass(frozen=True)
class PruneStep:
    """What is cut off.

    Attributes
    ----------
    kind : str
        "length": end branches shorter than so many mm. "radius": end branches whose mean radius is
        smaller, mm. "spur ratio": end branches whose length over the radius at their junction is
        smaller. "generation": all branches of a higher generation.
    value : float
        From 0 up.

    Examples
    --------
    >>> PruneStep("length", 5).to_dict()
    {'kind': 'length', 'value': 5.0}
    >>> PruneStep.from_dict({"kind": "spur ratio", "value": 1.5}).kind
    'spur ratio'
    """

    kind: str
    value: float

    def __post_init__(self):
        if self.kind not in (LENGTH, RADIUS, GENERATION, SPUR_RATIO):
            raise InputError(
                _(
                    "The pruning step {kind!r} is unknown: use {length}, {radius}, {generation} "
                    "or {spur}."
                ).format(
                    kind=self.kind,
                    length=LENGTH,
                    radius=RADIUS,
                    generation=GENERATION,
                    spur=SPUR_RATIO,
                )
            )
        if not 0 <= float(self.value) < float("inf"):
            raise InputError(
                _("Pruning by {kind} needs a number from 0 up, not {value}.").format(
                    kind=self.kind, value=self.value
                )
            )
        object.__setattr__(self, "value", float(self.value))

    def to_dict(self) -> dict:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict) -> "PruneStep":
        """From `to_dict`; `InputError` where it is none."""
        if not isinstance(stored, dict) or set(stored) != {"kind", "value"}:
            raise InputError(
                _("{step!r} is no pruning step: it needs a kind and a value.").format(step=stored)
            )
        return cls(**stored)


def pruned(
    skeleton: CurveSkeleton, steps: Iterable[PruneStep], roots: Iterable[int] | None = None
) -> tuple[CurveSkeleton, list[list[int]]]:
    """Apply steps one after the other.

    End branches are cut one at a time, the worst first, and what is left at their junction is
    joined before the next is judged. A branch at a root and the last branch of a component stay.

    Parameters
    ----------
    skeleton : CurveSkeleton
    steps : iterable of PruneStep
    roots : iterable of int, optional
        Nodes of the skeleton, as for `CurveSkeleton.roots`.

    Returns
    -------
    skeleton : CurveSkeleton
        Smaller, or the same where nothing is cut.
    origins : list of list of int
        The branches of the first skeleton that each branch is made of.

    Raises
    ------
    InputError
        If a root does not fit.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [15, 8, 0]], [[9, 0, 0], [9, -3, 0]]],
    ...     [[2, 2], [1.5, 1], [1.5, 1]],
    ... )
    >>> pruned(fork, [PruneStep("length", 5)])[1]
    [[0, 1]]
    """
    chosen = skeleton.roots(list(roots) if roots is not None else None)
    places = [skeleton.nodes[root].position for root in chosen]
    origins = [[number] for number in range(len(skeleton.branches))]
    for step in steps:
        known = _Measures()
        while True:
            keep = _kept(skeleton, step, _nodes_at(skeleton, places), known)
            if len(keep) == len(skeleton.branches):
                break
            skeleton, parts = with_branches(skeleton, keep)
            origins = [[old for part in own for old in origins[part]] for own in parts]
    return skeleton, origins


def _nodes_at(skeleton, places):
    number: dict[bytes, int] = {}
    for n, node in enumerate(skeleton.nodes):
        number.setdefault(np.asarray(node.position, float).tobytes(), n)
    found = (number.get(np.asarray(place, float).tobytes()) for place in places)
    return [n for n in found if n is not None]


def _kept(skeleton, step, roots, known):
    """Numbers of branches that stay: all but the worst, or all of the generations."""
    everything = range(len(skeleton.branches))
    if step.kind == GENERATION:
        generations = skeleton.generations(roots)
        return [n for n in everything if generations[n] <= step.value]
    worst = min(
        ((known.of(skeleton, n, step.kind), n) for n in everything if _can_go(skeleton, n, roots)),
        default=(np.inf, -1),
    )
    return [n for n in everything if n != worst[1] or worst[0] >= step.value]


def _can_go(skeleton, number, roots):
    branch = skeleton.branches[number]
    kinds = [skeleton.nodes[node].kind for node in (branch.start, branch.end)]
    at_root = branch.start in roots or branch.end in roots
    return kinds.count(END) == 1 and not at_root


def _radius_at_junction(skeleton, number):
    branch = skeleton.branches[number]
    at_start = skeleton.nodes[branch.start].kind == END
    return skeleton.nodes[branch.end if at_start else branch.start].radius


class _Measures:
    """What is judged of branches; those that stay as they are, are measured once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[np.ndarray, float]] = {}

    def of(self, skeleton: CurveSkeleton, number: int, kind: str) -> float:
        branch = skeleton.branches[number]
        key = id(branch.points)  # joining makes other arrays; those that stay keep theirs
        if key not in self._known:
            value = skeleton.mean_radius(branch) if kind == RADIUS else skeleton.length(branch)
            self._known[key] = branch.points, value
        value = self._known[key][1]
        if kind == SPUR_RATIO:
            value /= max(_radius_at_junction(skeleton, number), 1e-9)
        return value
