"""Curves in the subject hierarchy: nested as the branches of their tree."""

import numpy as np
import pytest

from support import solids
from support.mrml_cases import add_volume

LABELMAP = "vtkMRMLLabelMapVolumeNode"


def two_level_tree(shape=(60, 40, 40)):
    """A thick stem that forks, one of whose branches forks again."""
    mask = np.zeros(shape, bool)
    for start, end, radius in (
        ((3, 20, 20), (20, 20, 20), 5),
        ((20, 20, 20), (38, 12, 20), 4),
        ((20, 20, 20), (50, 32, 20), 3),
        ((38, 12, 20), (56, 5, 12), 2.5),
        ((38, 12, 20), (56, 8, 30), 2.5),
    ):
        mask |= solids.tube(solids.line(start, end), radius, shape)
    return mask


@pytest.fixture
def hierarchy(slicer_scene):
    import slicer

    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer_scene)


@pytest.fixture
def extract(hierarchy):
    from PotentialSkeleton import PotentialSkeletonLogic

    def run(mask, node=None, **options):
        import slicer

        if node is None:
            node = add_volume(np.asarray(mask, np.uint8), np.eye(4), kind=LABELMAP)
            node.SetName("vessels, left")
        else:
            slicer.util.updateVolumeFromArray(node, np.asarray(mask, np.uint8))
        return node, PotentialSkeletonLogic().extract(node, **options)

    return run


def parents(hierarchy, curves):
    """Name of the item above each curve."""
    items = [hierarchy.GetItemByDataNode(curve) for curve in curves]
    return [hierarchy.GetItemName(hierarchy.GetItemParent(item)) for item in items]


def test_a_branch_lies_below_its_parent(extract, hierarchy):
    _, result = extract(two_level_tree())
    above = parents(hierarchy, result.curveNodes)
    generations = result.skeleton.to_table()["generation"]
    assert sorted(generations) == [0, 1, 1, 2, 2]
    names = {curve.GetName(): g for curve, g in zip(result.curveNodes, generations)}
    for generation, name in zip(generations, above):
        if generation:
            assert names[name] == generation - 1
        else:
            assert name == "vessels, left centrelines"
    assert hierarchy.GetNumberOfItemChildren(result.folderItemID) == 1
