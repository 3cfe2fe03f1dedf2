"""The contrast model on MRML nodes: what a run takes from nodes, and what a scene carries along."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.contrast import ContrastThreshold
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


def text_of(volume, seeds, **options):
    from FuzzyConnectedGPUMRML.run_inputs import RunOptions, inputs_text

    return inputs_text(volume, [seeds], RunOptions(**options))


def test_the_scene_carries_its_threshold_along(logic, volume, seeds):
    from FuzzyConnectedGPUMRML.run_inputs import CONTRAST, contrast_threshold

    result = logic.segment(volume, seeds)
    assert result.threshold == 0.5
    assert result.affinity is None
    saved = contrast_threshold(result.sceneNode)
    assert isinstance(saved, ContrastThreshold)
    assert (saved.contrast, saved.noise) == (result.threshold.contrast, result.threshold.noise)
    assert "times the noise" in saved.reason
    assert logic.automaticThreshold(result.sceneNode) == 0.5
    again = logic.thresholdScene(result.sceneNode, None)
    assert again.threshold == 0.5
    assert again.volumeMl == result.volumeMl
    by_hand = logic.segment(volume, seeds, threshold=0.7, sceneVolumeNode=result.sceneNode)
    assert by_hand.threshold == 0.7
    assert contrast_threshold(by_hand.sceneNode) == 0.5
    affinity = logic.segment(volume, seeds, model="affinity", sceneVolumeNode=result.sceneNode)
    assert affinity.sceneNode is result.sceneNode
    assert result.sceneNode.GetAttribute(CONTRAST) is None
    assert contrast_threshold(result.sceneNode) is None


def test_one_of_the_affinity_s_options_chooses_it(logic, volume, seeds):
    assert logic.segment(volume, seeds).affinity is None
    for options in (dict(radius=3), dict(side="bright"), dict(solver="exact"), dict(cut=0.1)):
        assert logic.segment(volume, seeds, **options).affinity is not None


def test_the_inputs_text_knows_what_the_scene_depends_on(volume):
    def points(*voxels):
        return add_seeds(volume, voxels)

    plain = text_of(volume, points(FIRST, OTHER, LEAK))
    assert text_of(volume, points(FIRST, LEAK, OTHER)) == plain
    assert text_of(volume, points(FIRST, OTHER, LEAK), model="contrast") == plain
    others = [
        text_of(volume, points(OTHER, FIRST, LEAK)),
        text_of(volume, points(FIRST, OTHER)),
        text_of(volume, points(FIRST, OTHER, LEAK), model="affinity"),
        text_of(volume, points(FIRST, OTHER, LEAK), backgroundSeedsNode=points((1, 1, 1))),
        text_of(volume, points(FIRST, OTHER, LEAK), backgroundSeedsNode=points((1, 1, 2))),
        text_of(
            volume, points(FIRST, OTHER, LEAK), backgroundSeedsNode=points((1, 1, 1), (2, 2, 2))
        ),
    ]
    assert len({plain, *others}) == len(others) + 1
    one = text_of(volume, points(FIRST), backgroundSeedsNode=points((1, 1, 1), (2, 2, 2)))
    turned = text_of(volume, points(FIRST), backgroundSeedsNode=points((2, 2, 2), (1, 1, 1)))
    assert one == turned
    affinity = dict(model="affinity")
    first, second = points(FIRST, OTHER), points(OTHER, FIRST)
    assert text_of(volume, first, **affinity) == text_of(volume, second, **affinity)
    background = dict(affinity, backgroundSeedsNode=points((1, 1, 1)))
    assert text_of(volume, first, **background) == text_of(volume, first, **affinity)


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
