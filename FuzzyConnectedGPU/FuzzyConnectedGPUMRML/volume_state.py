"""What belongs to a volume: its points, threshold and automatic update.

The parameters hold those of the volume that is chosen. Those of another one are kept as references
and attributes of its node, and so saved with the scene.
"""

from collections.abc import Sequence
from typing import Any

from . import vessels

PREFIX = "FuzzyVesselGPU.State."
NODES = ("seeds", "backgroundSeeds")
VALUES = ("threshold", "thresholdSource", "autoUpdate", "fillGaps")


def store(volume_node: Any, values: dict[str, Any], lists: Sequence[Any]) -> None:
    """Write points and values (by the names of `NODES` and `VALUES`) on their volume.

    `lists` are those of all vessels.
    """
    import slicer

    with slicer.util.NodeModify(volume_node):
        for name in NODES:
            node = values[name]
            volume_node.SetNodeReferenceID(PREFIX + name, node.GetID() if node else None)
        vessels.refer(volume_node, PREFIX + "vessels", lists if len(lists) > 1 else ())
        for name in VALUES:
            value = getattr(values[name], "name", values[name])
            volume_node.SetAttribute(PREFIX + name, str(value))


def restore(parameters: Any, volume_node: Any, names: tuple[str, ...]) -> None:
    """Take a volume's points and values (those of `names`) over; without any, none and defaults."""
    import slicer

    with slicer.util.NodeModify(parameters.parameterNode):
        if "seeds" in names:
            vessels.keep(parameters, vessels.referred(volume_node, PREFIX + "vessels"))
        for name in NODES:
            if name in names:
                setattr(parameters, name, volume_node.GetNodeReference(PREFIX + name))
        for name in VALUES:
            text = volume_node.GetAttribute(PREFIX + name)
            if name in names:
                setattr(parameters, name, _value(parameters, name, text))


def _value(parameters: Any, name: str, text: str | None) -> Any:
    kind = type(getattr(parameters, name))
    if name == "thresholdSource":
        return kind[text] if text else kind.AUTOMATIC
    if kind is bool:
        return text == "True"
    return kind(text) if text else {"threshold": 0.5, "fillGaps": 0}[name]
