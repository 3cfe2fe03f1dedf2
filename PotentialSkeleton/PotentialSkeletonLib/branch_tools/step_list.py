"""A list of steps - pruning and corrections - that is stored as text and replayed on a skeleton."""

import json
from collections.abc import Iterable, Sequence

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from .edits import Edit, edited
from .pruning import PruneStep, pruned

Step = PruneStep | Edit


def replayed(
    skeleton: CurveSkeleton, steps: Iterable[Step]
) -> tuple[CurveSkeleton, list[list[int]]]:
    """Apply steps one after the other.

    Parameters
    ----------
    skeleton : CurveSkeleton
    steps : iterable of PruneStep or Edit

    Returns
    -------
    skeleton : CurveSkeleton
    origins : list of list of int
        The branches of the first skeleton that each branch is made of.

    Raises
    ------
    InputError
        As `pruned` and `edited`.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [9, 0, 0]], [[9, 0, 0], [15, 8, 0]], [[9, 0, 0], [9, -3, 0]]],
    ...     [[2, 2], [1.5, 1], [1.5, 1]],
    ... )
    >>> replayed(fork, [PruneStep("length", 5), Edit("cut", (5, 0, 0))])[1]
    [[0, 1], [0, 1]]
    """
    origins = [[number] for number in range(len(skeleton.branches))]
    for step in steps:
        if isinstance(step, PruneStep):
            skeleton, parts = pruned(skeleton, [step])
        else:
            skeleton, parts = edited(skeleton, step)
        origins = [list(dict.fromkeys(old for n in own for old in origins[n])) for own in parts]
    return skeleton, origins


def steps_text(steps: Sequence[Step]) -> str:
    """Steps as JSON.

    Examples
    --------
    >>> steps_text([PruneStep("length", 5)])
    '[{"kind": "length", "value": 5.0}]'
    """
    return json.dumps([step.to_dict() for step in steps])


def steps_of_text(text: str) -> list[Step]:
    """Steps from `steps_text`.

    Raises
    ------
    InputError
        If the text is no list of steps, or a step is not valid.

    Examples
    --------
    >>> steps_of_text('[{"kind": "radius", "value": 0.8}]')
    [PruneStep(kind='radius', value=0.8)]
    """
    try:
        stored = json.loads(text)
    except ValueError as error:
        raise InputError(_("This is no list of steps: {error}.").format(error=error)) from error
    if not isinstance(stored, list) or not all(isinstance(each, dict) for each in stored):
        raise InputError(_("This is no list of steps: it must be a list of kinds and values."))
    return [_step(each) for each in stored]


def _step(stored):
    if set(stored) == {"kind", "point"}:
        return Edit(stored["kind"], stored["point"])
    return PruneStep.from_dict(stored)
