"""The folder of the subject hierarchy that curves lie in."""

from collections.abc import Sequence
from typing import Any

from FuzzyVesselCoreLib.mrml.changes import folder_item_of, subject_hierarchy

OWN_FOLDER = "FuzzyVesselGPU.Curves"  # attribute of an item


def group(nodes: Sequence[Any], name: str, source_node: Any) -> int:
    """Put nodes into one folder of the subject hierarchy.

    Parameters
    ----------
    nodes : list of vtkMRMLNode
        Where the first is in a folder already, the others join it.
    name : str
        Of a new folder.
    source_node : vtkMRMLNode
        A new folder lies beside it.

    Returns
    -------
    int
        The folder's item, or 0 where there is no subject hierarchy or nothing to group.
    """
    hierarchy = subject_hierarchy()
    if hierarchy is None or not nodes:
        return 0
    folder = _folder_of(nodes[0], hierarchy)
    if not folder:
        place = folder_item_of(source_node) or hierarchy.GetSceneItemID()
        folder = hierarchy.CreateFolderItem(place, name)
        hierarchy.SetItemAttribute(folder, OWN_FOLDER, "yes")
        hierarchy.SetItemExpanded(folder, False)
    for node in nodes:
        item = hierarchy.GetItemByDataNode(node)
        if item:
            hierarchy.SetItemParent(item, folder)
        else:
            hierarchy.CreateItem(folder, node)
    return folder


def remove_empty_folder(folder: int) -> None:
    """Remove a folder of curves that holds nothing any more; one that `group` made."""
    hierarchy = subject_hierarchy()
    own = folder and hierarchy is not None and hierarchy.HasItemAttribute(folder, OWN_FOLDER)
    if own and not hierarchy.GetNumberOfItemChildren(folder):
        hierarchy.RemoveItem(folder)


def folder_of(node: Any) -> int:
    """The item of the folder that a node lies in, or 0."""
    hierarchy = subject_hierarchy()
    return _folder_of(node, hierarchy) if hierarchy is not None else 0


def _folder_of(node: Any, hierarchy: Any) -> int:
    item = hierarchy.GetItemByDataNode(node)
    parent = hierarchy.GetItemParent(item) if item else 0
    return parent if parent and hierarchy.IsItemLevel(parent, "Folder") else 0
