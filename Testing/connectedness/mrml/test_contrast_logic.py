"""The contrast model on MRML nodes: what a run takes from nodes, and what a scene carries along."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume

SHAPE = (16, 20, 22)
FIRST, OTHER, LEAK = (8, 10, 4), (8, 10, 18), (8, 10, 11)
THICK = np.diag([-0.7, -0.7, 3.5, 1.0])


@pytest.fixture
def logic(slicer_scene):
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    return FuzzyConnectedGPULogic()


@pytest.fixture
def vessel():
    """A noisy tube along I."""
    k, j, _i = np.indices(SHAPE)
    tube = (k - 8) ** 2 + (j - 10) ** 2 <= 5
    return (100 + 60 * tube + np.random.default_rng(4).normal(0, 9, SHAPE)).astype(np.int16)


@pytest.fixture
def volume(slicer_scene, vessel):
    return add_volume(vessel, THICK)


@pytest.fixture
def seeds(volume):
    return add_seeds(volume, [FIRST, OTHER])


def voxels(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


def test_parameters_of_an_earlier_version_keep_the_affinity(slicer_scene):
    import slicer

    from FuzzyConnectedGPU import FuzzyConnectedGPULogic
    from FuzzyConnectedGPUMRML.parameters import Model

    parameters = FuzzyConnectedGPULogic().getParameterNode()
    assert parameters.model is Model.CONTRAST
    node = parameters.parameterNode
    del parameters  # Slicer's wrapper writes defaults as long as it is there
    node.UnsetParameter("model")
    node.SetParameter("cut", "0.0")
    assert FuzzyConnectedGPULogic().getParameterNode().model is Model.AFFINITY
    assert node.GetParameter("model") == "AFFINITY"
    again = FuzzyConnectedGPULogic().getParameterNode()
    again.model = Model.CONTRAST
    assert FuzzyConnectedGPULogic().getParameterNode().model is Model.CONTRAST
    slicer.mrmlScene.Clear(False)
    assert FuzzyConnectedGPULogic().getParameterNode().model is Model.CONTRAST


def test_a_seed_that_is_a_background_seed_too_is_refused(logic, volume, seeds):
    import slicer

    from FuzzyVesselCoreLib.errors import InputError

    background = add_seeds(volume, [OTHER], "background")
    before = slicer.mrmlScene.GetNumberOfNodes()
    with pytest.raises(
        InputError, match=r"The seed \S+ and the background seed \S+ are in the same voxel"
    ):
        logic.segment(volume, seeds, backgroundSeedsNode=background)
    assert slicer.mrmlScene.GetNumberOfNodes() == before
