"""The folder of the subject hierarchy that curves lie in: nested as the branches of their trees."""

from collections.abc import Sequence
from typing import Any

from FuzzyVesselCoreLib.mrml.changes import folder_item_of, subject_hierarchy
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.tree import rooted_forest

# Attributes of items.
OWN_FOLDER = "FuzzyVesselGPU.Curves"
OWN_TREE = "FuzzyVesselGPU.Tree"


def group(curves: Sequence[Any], skeleton: CurveSkeleton, name: str, source_node: Any) -> int:
    """Put the curves of a skeleton's branches into one folder of the subject hierarchy.

    A curve lies below that of its parent branch, seen from the tree's root; of several trees each
    has a folder of its own. Branches that close a loop have no parent: they lie beside the root's.

    Parameters
    ----------
    curves : list of vtkMRMLMarkupsCurveNode
        One a branch. Where the first is in a folder already, the others join it.
    skeleton : CurveSkeleton
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
    if hierarchy is None or not curves:
        return 0
    folder = _folder_of(curves[0], hierarchy)
    if not folder:
        place = folder_item_of(source_node) or hierarchy.GetSceneItemID()
        folder = _new_folder(hierarchy, place, name, OWN_FOLDER)
    items = [_item_in(folder, curve, hierarchy) for curve in curves]
    _remove_empty_trees(folder, hierarchy)
    _nest(items, skeleton, folder, hierarchy)
    return folder


def remove_empty_folder(folder: int) -> None:
    """Remove a folder of curves that holds nothing any more; one that `group` made."""
    hierarchy = subject_hierarchy()
    own = folder and hierarchy is not None and hierarchy.HasItemAttribute(folder, OWN_FOLDER)
    if not own:
        return
    _remove_empty_trees(folder, hierarchy)
    if not hierarchy.GetNumberOfItemChildren(folder):
        hierarchy.RemoveItem(folder)


def folder_of(node: Any) -> int:
    """The item of the folder that a node lies in, or 0; never that of a single tree."""
    hierarchy = subject_hierarchy()
    return _folder_of(node, hierarchy) if hierarchy is not None else 0


def _folder_of(node: Any, hierarchy: Any) -> int:
    parent = hierarchy.GetItemByDataNode(node)
    while parent := hierarchy.GetItemParent(parent) if parent else 0:
        if hierarchy.IsItemLevel(parent, "Folder"):
            if not hierarchy.HasItemAttribute(parent, OWN_TREE):
                return parent
        elif hierarchy.GetItemDataNode(parent) is None:
            return 0  # a study, a patient or the scene
    return 0


def _new_folder(hierarchy: Any, place: int, name: str, attribute: str) -> int:
    folder = hierarchy.CreateFolderItem(place, name)
    hierarchy.SetItemAttribute(folder, attribute, "yes")
    hierarchy.SetItemExpanded(folder, False)
    return folder


def _item_in(folder: int, node: Any, hierarchy: Any) -> int:
    """The item of a node, directly in a folder: an earlier tree's parents are given up."""
    item = hierarchy.GetItemByDataNode(node)
    if not item:
        return hierarchy.CreateItem(folder, node)
    hierarchy.SetItemParent(item, folder)
    return item


def _nest(items: list[int], skeleton: CurveSkeleton, folder: int, hierarchy: Any) -> None:
    """Put each branch's item below its parent's."""
    forest = rooted_forest(skeleton)
    components = sorted({branch.component for branch in skeleton.branches})
    trees = dict.fromkeys(components, folder)
    if len(components) > 1:
        for number, component in enumerate(components, 1):
            trees[component] = _new_folder(hierarchy, folder, f"Tree {number}", OWN_TREE)
        for item, branch in zip(items, skeleton.branches):
            hierarchy.SetItemParent(item, trees[branch.component])
    for branch in forest.branches:
        if branch.parent >= 0:
            parent = forest.branches[branch.parent].number
            hierarchy.SetItemParent(items[branch.number], items[parent])


def _remove_empty_trees(folder: int, hierarchy: Any) -> None:
    for child in _children(folder, hierarchy):
        own = hierarchy.HasItemAttribute(child, OWN_TREE)
        if own and not hierarchy.GetNumberOfItemChildren(child):
            hierarchy.RemoveItem(child)


def _children(item: int, hierarchy: Any) -> list[int]:
    import vtk

    children = vtk.vtkIdList()
    hierarchy.GetItemChildren(item, children)
    return [children.GetId(number) for number in range(children.GetNumberOfIds())]
