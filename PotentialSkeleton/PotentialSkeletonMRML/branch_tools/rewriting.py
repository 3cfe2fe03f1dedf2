"""Other lines for all outputs of a run: model, tubes, table and curves, all or none."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton

from ..colouring import color_by, kind_of
from ..kept_result import CENTRELINES, CURVES, INPUT, own_nodes
from ..nodes.tables import fill_table, table_of
from ..output_requests import Requests
from ..outputs import write_outputs
from ..stored_skeleton import stored_table
from .names import show_names

FOLLOWING = ("tubesNode", "tableNode", "curveNodes")  # outputs that are made of the lines


@dataclass(frozen=True)
class Frame:
    """The frame below a model's parent transform; positions are S, A, R in mm.

    It stands for the object, as `SolidInput` does when a skeleton is found.
    """

    node: Any
    name: str
    transform_id: str | None
    spacing: tuple = (1.0, 1.0, 1.0)

    @property
    def ijk_to_ras(self) -> np.ndarray:
        return np.eye(4)

    def points(self, positions: np.ndarray) -> np.ndarray:
        """R, A, S of positions (n, 3)."""
        return np.asarray(positions)[:, ::-1]


def rewrite(model: Any, skeleton: CurveSkeleton) -> None:
    """Put a skeleton into a model of centrelines, and into what was made with it.

    Parameters
    ----------
    model : vtkMRMLModelNode
    skeleton : CurveSkeleton
        S, A, R in mm below the model's parent transform, as `stored_skeleton` gives it.

    Raises
    ------
    InputError
        If no branch is left, or the vessels are not in the scene any more.
    """
    vessels = model.GetNodeReference(INPUT)
    if vessels is None:
        raise InputError(
            _(
                "The vessels of {model} are not in the scene any more: find the centrelines again."
            ).format(model=node_name(model))
        )
    if not skeleton.branches:
        raise InputError(_("That would remove every branch: nothing was changed."))
    kind, nodes = kind_of(model), own_nodes(model)
    given = {output: nodes[output] for output in FOLLOWING if output in nodes}
    frame = Frame(vessels, model.GetName().removesuffix(CENTRELINES), model.GetTransformNodeID())
    wanted = {**dict.fromkeys((*FOLLOWING, "labelmapNode"), False), **given, "modelNode": model}
    result = write_outputs(frame, skeleton, None, Requests(**wanted))
    if "curveNodes" in given:
        model.RemoveNodeReferenceIDs(CURVES)
        for curve in result.curveNodes:
            model.AddNodeReferenceID(CURVES, curve.GetID())
    show_names(model, skeleton)
    follow(model)
    models = [each for each in (model, result.tubesNode) if each is not None]
    color_by(kind, models, result.curveNodes)


def follow(model: Any) -> None:
    """Let a run's table and the names of its curves follow from the arrays of the lines."""
    from .names import names_of

    nodes, names = own_nodes(model), names_of(model)
    if "tableNode" in nodes:
        fill_table(nodes["tableNode"], table_of(stored_table(model)))
    own = model.GetName().removesuffix(CENTRELINES)
    for number, curve in enumerate(nodes.get("curveNodes", ())):
        curve.SetName(names.get(number) or f"{own} branch {number}")
