"""What a result of several vessels was made of, as a text."""

import hashlib
from collections.abc import Sequence
from typing import Any

from FuzzyVesselCoreLib.mrml.points import placed_points

from .. import run_inputs
from .hand_overs import is_hand_over


def vessels_text(volume_node: Any, lists: Sequence[Any], **options: Any) -> str:
    """A text that differs wherever the vessels may differ; the same after loading.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    lists : sequence of vtkMRMLMarkupsFiducialNode
        Names do not count, their order does.
    **options
        As of `run_inputs.inputs_text`.

    Returns
    -------
    str
        Empty where a vessel has no point.
    """
    texts = [run_inputs.inputs_text(volume_node, each, **options) for each in lists]
    if not all(texts):
        return ""
    for node in lists:
        points = placed_points(node, is_hand_over)
        numbers = [node.GetNthControlPointDescription(index) for index in points.indices]
        texts.append(repr((numbers, run_inputs.centres(volume_node, points))))
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
