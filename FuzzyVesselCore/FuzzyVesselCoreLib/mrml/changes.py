"""Changes of the MRML scene that happen completely or not at all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class Change:
    """Adds nodes, and knows how everything is put back; see `all_or_nothing`."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def __call__(self, class_name: str, name: str) -> Any:
        """Add a node of a class, with a unique name."""
        import slicer

        name = slicer.mrmlScene.GenerateUniqueName(name)
        node = slicer.mrmlScene.AddNewNodeByClass(class_name, name)
        self._undo.append(lambda: remove_node(node))
        return node

    def on_failure(self, undo: Callable[[], None]) -> None:
        """Call a function if the change fails; the last one first."""
        self._undo.append(undo)

    def keep(self, node: Any) -> None:
        """Remember the content of a node that is about to be filled."""
        if node.IsA("vtkMRMLVolumeNode"):
            self._undo.append(_volume_as_it_is(node))
        elif node.IsA("vtkMRMLModelNode"):
            self._undo.append(_model_as_it_is(node))
        elif node.HasCopyContent():
            self._undo.append(_content_as_it_is(node))

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()


@contextmanager
def all_or_nothing() -> Iterator[Change]:
    """Give a `Change`, for short a function ``add(class_name, name) -> node`` that adds a node.

    If the block fails, all that it added is removed again: nodes with their display and storage
    nodes, and their items of the subject hierarchy; what it filled and kept is put back. In either
    case the markups that the user's next click adds a point to are those they were: new ones do
    not take their place.
    """
    change = Change()
    place_again = _placing()
    try:
        yield change
    except BaseException:
        change.undo()
        raise
    finally:
        place_again()


def _volume_as_it_is(node: Any) -> Callable[[], None]:
    """A function that gives a volume its image, its place and its transform of now again."""
    import slicer
    import vtk

    image, transform_id, matrix = node.GetImageData(), node.GetTransformNodeID(), vtk.vtkMatrix4x4()
    node.GetIJKToRASMatrix(matrix)

    def put_back() -> None:
        with slicer.util.NodeModify(node):
            node.SetAndObserveTransformNodeID(transform_id)
            node.SetIJKToRASMatrix(matrix)
            node.SetAndObserveImageData(image)

    return put_back


def _model_as_it_is(node: Any) -> Callable[[], None]:
    """A function that gives a model its mesh and its transform of now again."""
    import slicer

    mesh, transform_id = node.GetMesh(), node.GetTransformNodeID()

    def put_back() -> None:
        with slicer.util.NodeModify(node):
            node.SetAndObserveTransformNodeID(transform_id)
            node.SetAndObserveMesh(mesh)

    return put_back


def _content_as_it_is(node: Any) -> Callable[[], None]:
    """A function that gives another node its content of now again, and its transform."""
    import slicer

    backup = slicer.mrmlScene.CreateNodeByClass(node.GetClassName())
    backup.UnRegister(None)
    backup.CopyContent(node, True)
    movable = node.IsA("vtkMRMLTransformableNode")
    transform_id = node.GetTransformNodeID() if movable else None

    def put_back() -> None:
        with slicer.util.NodeModify(node):
            node.CopyContent(backup, True)
            if movable:
                node.SetAndObserveTransformNodeID(transform_id)

    return put_back


def _placing() -> Callable[[], None]:
    """A function that makes those markups active again that are so now."""
    import slicer

    selection = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSelectionNode")
    if selection is None:
        return lambda: None
    node_id, class_name = selection.GetActivePlaceNodeID(), selection.GetActivePlaceNodeClassName()

    def place_again() -> None:
        if selection.GetActivePlaceNodeID() != node_id:
            selection.SetReferenceActivePlaceNodeID(node_id)
        if selection.GetActivePlaceNodeClassName() != class_name:
            selection.SetReferenceActivePlaceNodeClassName(class_name)

    return place_again


def remove_node(node: Any) -> None:
    """Remove a node with its display and storage nodes and its item of the subject hierarchy.

    Nothing happens where it has gone already, as when the scene was closed.
    """
    import slicer

    if not slicer.mrmlScene.IsNodePresent(node):
        return
    hierarchy = subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    if item:
        hierarchy.RemoveItem(item, False, False)
    if node.IsA("vtkMRMLDisplayableNode"):
        for index in reversed(range(node.GetNumberOfDisplayNodes())):
            if node.GetNthDisplayNode(index) is not None:
                slicer.mrmlScene.RemoveNode(node.GetNthDisplayNode(index))
    if node.IsA("vtkMRMLStorableNode") and node.GetStorageNode() is not None:
        slicer.mrmlScene.RemoveNode(node.GetStorageNode())
    slicer.mrmlScene.RemoveNode(node)


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
