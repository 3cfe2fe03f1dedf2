"""Changes of the MRML scene that happen completely or not at all."""

from contextlib import contextmanager


@contextmanager
def all_or_nothing():
    """Give a function ``add(class_name, name) -> node`` that adds a node, with a unique name.

    If the block fails, all that it added is removed again: nodes with their display and storage
    nodes, and their items of the subject hierarchy. In either case the markups that the user's
    next click adds a point to are those they were: new ones do not take their place.
    """
    import slicer

    added = []
    place_again = _placing()

    def add(class_name, name):
        name = slicer.mrmlScene.GenerateUniqueName(name)
        added.append(slicer.mrmlScene.AddNewNodeByClass(class_name, name))
        return added[-1]

    try:
        yield add
    except BaseException:
        for node in reversed(added):
            remove_node(node)
        raise
    finally:
        place_again()


def _placing():
    """A function that makes those markups active again that are so now."""
    import slicer

    selection = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSelectionNode")
    if selection is None:
        return lambda: None
    node_id, class_name = selection.GetActivePlaceNodeID(), selection.GetActivePlaceNodeClassName()

    def place_again():
        if selection.GetActivePlaceNodeID() != node_id:
            selection.SetReferenceActivePlaceNodeID(node_id)
        if selection.GetActivePlaceNodeClassName() != class_name:
            selection.SetReferenceActivePlaceNodeClassName(class_name)

    return place_again


def remove_node(node):
    """Remove a node with its display and storage nodes and its item of the subject hierarchy."""
    import slicer

    hierarchy = subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    if item:
        hierarchy.RemoveItem(item, False, False)
    if node.IsA("vtkMRMLDisplayableNode"):
        for index in reversed(range(node.GetNumberOfDisplayNodes())):
            slicer.mrmlScene.RemoveNode(node.GetNthDisplayNode(index))
    if node.IsA("vtkMRMLStorableNode") and node.GetStorageNode() is not None:
        slicer.mrmlScene.RemoveNode(node.GetStorageNode())
    slicer.mrmlScene.RemoveNode(node)


def subject_hierarchy():
    """The scene's subject hierarchy, or None: without Slicer's application there may be none."""
    import slicer

    return slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSubjectHierarchyNode")
