"""Nodes that results are written into: which may be, and how they are added and filled.

Results go into nodes that a module made, or that somebody handed over: by hand, after a question,
or in a script. `claim` marks such a node as an output of its volume. It carries its kind as an
attribute and refers to itself: a copy of it, made to keep a result, refers to the first one and is
no output. MRML updates references where IDs change, as when a saved scene is added to another one.
Other references name the nodes whose results it holds. Segments are marked by tags (`segments`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import InputError, InputRemoved
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
# Red over orange to yellow, in every Slicer and in slicer-core: readable over a grey image.
OVERLAY_COLORS = "vtkMRMLColorTableNodeIron"
OVERLAY_VISIBLE_FROM = 0.05  # lower connectedness is not drawn, so that the image stays visible


# ---- whose output a node is


def claim(node: Any, kind: str, source_node: Any = None) -> None:
    """Let results of a kind, those of a source if there is one, be written into a node from now on.

    The node was made by a module, chosen by hand, or given by a script. The source is the volume
    that is segmented.
    """
    import slicer

    with slicer.util.NodeModify(node):
        if not is_output(node, kind):
            node.SetAttribute(KIND, kind)
            node.SetNodeReferenceID(SELF, node.GetID())
            node.RemoveNodeReferenceIDs(SOURCE)
        if source_node is not None and not belongs_to(node, kind, source_node):
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


def refer(node: Any, role: str, wanted: Sequence[Any]) -> None:
    """Let a node refer to these nodes in a role, and to no others."""
    ids, count = [each.GetID() for each in wanted], node.GetNumberOfNodeReferences(role)
    if [node.GetNthNodeReferenceID(role, n) for n in range(count)] != ids:
        node.RemoveNodeReferenceIDs(role)
        for each in ids:
            node.AddNodeReferenceID(role, each)


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


# ---- nodes added, filled and removed


def in_scene(node: Any) -> bool:
    """Whether there is a node, and it is in the scene."""
    import slicer

    return node is not None and bool(slicer.mrmlScene.IsNodePresent(node))


def check_in_scene(nodes: list[Any]) -> None:
    """Raise `InputRemoved` where a node that a run needs is no longer in the scene."""
    for node in nodes:
        if not in_scene(node):
            raise InputRemoved(node_name(node))


@contextmanager
def new_nodes() -> Iterator[Callable[[str, str], Any]]:
    """Give a function ``add(class_name, name) -> node``, which makes the name unique.

    If the block fails, the nodes that it added are removed again, and nothing else is undone:
    compute everything before. The list that the user's next click adds a point to stays the same.
    """
    import slicer

    scene, added = slicer.mrmlScene, []
    selection = scene.GetFirstNodeByClass("vtkMRMLSelectionNode")
    if selection is not None:
        place = selection.GetActivePlaceNodeID(), selection.GetActivePlaceNodeClassName()

    def add(class_name: str, name: str) -> Any:
        added.append(scene.AddNewNodeByClass(class_name, scene.GenerateUniqueName(name)))
        return added[-1]

    try:
        yield add
    except BaseException:
        for node in reversed(added):
            remove_node(node)
        raise
    finally:
        if selection is not None:
            selection.SetReferenceActivePlaceNodeID(place[0])
            selection.SetReferenceActivePlaceNodeClassName(place[1])


def remove_node(node: Any) -> None:
    """Remove a node, if it is still there, with its display, storage and hierarchy item."""
    import slicer

    if not slicer.mrmlScene.IsNodePresent(node):
        return
    hierarchy = subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    if item:
        hierarchy.RemoveItem(item, False, False)
    parts = []
    if node.IsA("vtkMRMLDisplayableNode"):
        parts = [node.GetNthDisplayNode(n) for n in range(node.GetNumberOfDisplayNodes())]
    if node.IsA("vtkMRMLStorableNode"):
        parts.append(node.GetStorageNode())
    for each in (*parts, node):
        if each is not None:
            slicer.mrmlScene.RemoveNode(each)


def subject_hierarchy() -> Any:
    """The scene's subject hierarchy, or None: without Slicer's application there may be none."""
    import slicer

    return slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSubjectHierarchyNode")


def folder_item_of(node: Any) -> int:
    """The item that a node lies under (its study, patient or folder); 0 where it has no place."""
    hierarchy = subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    return hierarchy.GetItemParent(item) if item else 0


def put_beside(nodes: Sequence[Any], source_node: Any) -> None:
    """Put nodes under the item of the subject hierarchy that another node lies under."""
    folder, hierarchy = folder_item_of(source_node), subject_hierarchy()
    for node in nodes if folder else ():
        item = hierarchy.GetItemByDataNode(node)
        if item:
            hierarchy.SetItemParent(item, folder)
        else:
            hierarchy.CreateItem(folder, node)


def fill_volume(node: Any, image: Any, volume_node: Any) -> None:
    """Give a volume node an image on another volume's grid, under its parent transform.

    A labelmap knows that volume, and is shown as labels.
    """
    import slicer

    labels = node.IsA("vtkMRMLLabelMapVolumeNode")
    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        node.CopyOrientation(volume_node)
        node.SetAndObserveImageData(image)
        if labels:
            node.SetNodeReferenceID("AssociatedNodeID", volume_node.GetID())
    if labels and node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()


def show_as_overlay(node: Any) -> None:
    """Give a node of connectedness a display, if it has none; before it is filled.

    With an image Slicer would first count a histogram for the window and level that are set here.
    """
    if node.GetDisplayNode() is not None:
        return
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetAndObserveColorNodeID(OVERLAY_COLORS)
    display.AutoWindowLevelOff()
    display.SetWindowLevelMinMax(0.0, 1.0)
    display.InterpolateOff()
    display.AutoThresholdOff()
    display.SetThreshold(OVERLAY_VISIBLE_FROM, 1.0)
    display.ApplyThresholdOn()


def centre_cameras(center: np.ndarray, size: np.ndarray) -> None:
    """Show a box (mm; R, A, S) in the middle of all 3D views, seen from where they look now."""
    import slicer

    radius = float(np.linalg.norm(size)) / 2
    for camera in slicer.util.getNodesByClass("vtkMRMLCameraNode") if radius > 0 else ():
        away = np.subtract(camera.GetPosition(), camera.GetFocalPoint())
        distance = radius / np.sin(np.radians(camera.GetViewAngle() / 2))
        camera.SetFocalPoint(*center)
        camera.SetPosition(*(center + distance * away / np.linalg.norm(away)))
        camera.ResetClippingRange()
