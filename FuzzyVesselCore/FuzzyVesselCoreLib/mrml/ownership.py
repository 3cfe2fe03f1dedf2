"""What may be written: the one owner of this rule, for the logic and the panels of both modules.

Results go into nodes that a module made, or that somebody handed over: by hand, after a question,
or in a script. Such a node carries its kind as an attribute and refers to itself: a copy of it,
made to keep a result, refers to the first one and is no output. MRML keeps references right where
IDs change, as when a saved scene is added to another one. Other references name the nodes whose
results it holds.
"""

from collections.abc import Iterable
from typing import Any

from ..errors import InputError
from ..translation import tr as _
from .reading import node_name

KIND = "FuzzyVesselGPU.Output"  # attribute
SELF, SOURCE = "FuzzyVesselGPU.OutputItself", "FuzzyVesselGPU.OutputOf"  # references
CONNECTEDNESS, LABELMAP, SEGMENTATION = "connectedness", "labelmap", "segmentation"
SKELETON, DIVISION = "skeleton", "division"
# Kind of output -> class of its node, and what is added to the volume's name.
OUTPUTS = {
    LABELMAP: ("vtkMRMLLabelMapVolumeNode", "vessels"),
    CONNECTEDNESS: ("vtkMRMLScalarVolumeNode", "connectedness"),
    SEGMENTATION: ("vtkMRMLSegmentationNode", "segmentation"),
    DIVISION: ("vtkMRMLLabelMapVolumeNode", "division"),
}


def claim(node: Any, kind: str, source_node: Any) -> None:
    """Let the results of a source be written into a node from now on.

    The node was made by a module, chosen by hand, or given by a script; `kind` is what it holds.
    The source is the volume that is segmented, or the object of a skeleton.
    """
    import slicer

    with slicer.util.NodeModify(node):
        if not is_output(node, kind):
            node.SetAttribute(KIND, kind)
            node.SetNodeReferenceID(SELF, node.GetID())
            node.RemoveNodeReferenceIDs(SOURCE)
        if not belongs_to(node, kind, source_node):
            node.AddNodeReferenceID(SOURCE, source_node.GetID())


def is_output(node: Any, kind: str) -> bool:
    """Whether results of a kind may be written into a node."""
    return (
        node is not None and node.GetAttribute(KIND) == kind and node.GetNodeReference(SELF) is node
    )


def belongs_to(node: Any, kind: str, source_node: Any) -> bool:
    """Whether the results of a source may be written into a node."""
    return is_output(node, kind) and any(each is source_node for each in sources_of(node))


def sources_of(node: Any) -> list[Any]:
    """The nodes, still in the scene, whose results an output holds."""
    return referred(node, SOURCE)


def referred(node: Any, role: str) -> list[Any]:
    """The nodes, still in the scene, that a node refers to in a role, in their order."""
    count = node.GetNumberOfNodeReferences(role)
    found = [node.GetNthNodeReference(role, number) for number in range(count)]
    return [each for each in found if each is not None]


def output_of(source_node: Any, kind: str, class_name: str) -> Any:
    """The newest node that takes a source's results of a kind, or None."""
    import slicer

    nodes = reversed(slicer.util.getNodesByClass(class_name))
    return next((node for node in nodes if belongs_to(node, kind, source_node)), None)


def check_apart(outputs: Iterable[Any], inputs: dict[str, Any]) -> None:
    """Raise `InputError` for an output that is an input (word in messages: node) of the run."""
    for output in outputs:
        for word, node in inputs.items():
            if output is not None and output is node:
                text = _("The output {output} is the {word}; choose another.")
                raise InputError(text.format(output=node_name(output), word=word))
