"""Nodes added to the MRML scene, removed from it, and placed in the subject hierarchy."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_or_nothing() -> Iterator[Callable[[str, str], Any]]:
    """Give a function ``add(class_name, name) -> node`` for nodes with unique names.

    Compute everything before the block; if it fails, the nodes that it added are removed again. The
    list that the user's next click adds a point to stays the same.
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
