"""The skeleton's logic with a labelmap in the scene."""

import pytest

from support.skeleton_cases import add_labelmap


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()


@pytest.fixture
def labelmap(slicer_scene):
    return add_labelmap()


@pytest.fixture
def hierarchy(slicer_scene):
    import slicer

    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer_scene)
