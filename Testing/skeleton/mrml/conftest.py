"""The skeleton's logic in a scene."""

import pytest


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()
