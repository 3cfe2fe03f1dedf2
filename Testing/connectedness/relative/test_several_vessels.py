"""Several vessels in one run: what one vessel gets, what several share, and what is refused."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import (
    GaussianAffinity,
    HandOver,
    relabel,
    segment,
    segment_several,
)
from FuzzyConnectedGPULib.contrast.clicks import ridge_near
from FuzzyConnectedGPULib.relative.groups import DISPUTED
from FuzzyConnectedGPULib.relative.vessels import (
    divide_by_contrast,
    steps_of_noise,
    with_middles,
)
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.progress import Progress
from support.crossing_vessels import crossing
from support.relative_cases import graph_of_voxels
from support.relative_definition import POINT, owners_of

POINTS = {"portal": [(6, 6, 2)], "hepatic": [(6, 15, 2)]}


@pytest.mark.parametrize("keywords", [{}, {"cut": 0.1}, {"threshold": 0.3, "fill_gaps": 2}])
def test_one_vessel_gets_what_segment_gives_bit_for_bit(keywords):
    phantom = liver_phantom((40, 40, 40))
    options = dict(keywords, spacing=(2, 1, 1), device="cpu", background_seeds=[(1, 1, 1)])
    wanted = segment(phantom.volume, phantom.seeds, **options)
    found = segment_several(phantom.volume, {"all": phantom.seeds}, **options)
    assert np.array_equal(found.labels, wanted.labels)
    assert np.array_equal(found.scene.values, wanted.scene.values)
    assert (found.threshold, found.names) == (wanted.threshold, ("all",))
    assert not found.disputed.any()


@pytest.mark.parametrize("affinity", [None, GaussianAffinity(200, 40, 40)])
def test_vessels_share_what_segment_finds(affinity):
    volume = crossing()
    points = np.concatenate(list(POINTS.values()))
    both = segment(volume, points, device="cpu", affinity=affinity, threshold=0.5)
    found = segment_several(volume, POINTS, device="cpu", affinity=affinity, threshold=0.5)
    assert np.array_equal((found.labels > 0) | found.disputed, both.labels > 0)
    assert not (found.labels[found.disputed]).any()
    assert found.labels[6, 6, 2:8].tolist() == [1] * 6
    assert found.labels[6, 15, 2:8].tolist() == [2] * 6


def test_hand_overs_and_their_notes():
    volume = crossing()
    plain = segment_several(volume, POINTS, device="cpu")
    owner = int(plain.labels[6, 6, 30])
    assert owner  # a tail behind the crossing: one of the two has it
    other = 3 - owner
    moved = segment_several(
        volume, POINTS, device="cpu",
        hand_overs=[HandOver((6, 6, 28), other), HandOver((0, 0, 0), 1, "far")],
    )  # fmt: skip
    assert (moved.labels[6, 6, 30:38] == other).all()
    assert "far" in moved.notes[0]
    assert np.array_equal(moved.labels > 0, plain.labels > 0)
    with pytest.raises(InputError, match="names vessel 3"):
        segment_several(volume, POINTS, device="cpu", hand_overs=[HandOver((6, 6, 30), 3)])


@pytest.mark.parametrize("vessels", [POINTS, {"portal": POINTS["portal"]}])
def test_a_scene_at_another_threshold_has_the_labels_of_a_run_at_it(vessels):
    options = dict(device="cpu", fill_gaps=1, hand_overs=[HandOver((6, 15, 8), 1)])
    first, other = (segment(crossing(), vessels, threshold=t, **options) for t in (0.5, 0.8))
    again = relabel(
        first.scene, 0.8, owners=first.owners, vessels=vessels, fill_gaps=1,
        hand_overs=options["hand_overs"],
    )  # fmt: skip
    assert (first.labels != other.labels).any()
    np.testing.assert_array_equal(again.labels, other.labels)
    np.testing.assert_array_equal(again.disputed, other.disputed)
    assert again.notes == other.notes


def test_background_points_are_one_more_group():
    """A third tube that touches the second one by a fainter link: one point takes it away."""
    volume = crossing()
    volume[5:8, 19:22] = 200
    volume[5:8, 18, 20:23] = 160
    points = {"portal": [(6, 6, 2), (6, 6, 37)], "hepatic": [(6, 15, 2), (6, 15, 37)]}
    leaking = segment_several(volume, points, device="cpu")
    assert (leaking.labels[6, 20, 3:37] > 0).sum() > 20
    kept = segment_several(volume, points, background_seeds=[(6, 20, 30)], device="cpu")
    assert np.array_equal(kept.owners == 254, (kept.owners == 254) & (kept.labels == 0))
    assert not kept.labels[6, 20, 3:37].any()
    assert [int(kept.labels[p]) for each in points.values() for p in each] == [1, 1, 2, 2]


def test_two_vessels_cannot_have_a_point_on_one_voxel():
    with pytest.raises(InputError, match="'portal' and 'hepatic' have a point on the same voxel"):
        segment_several(crossing(), {"portal": [(6, 6, 2)], "hepatic": [(6, 6, 2)]}, device="cpu")
    with pytest.raises(InputError, match="0 vessels"):
        segment_several(crossing(), {}, device="cpu")
    mask = np.ones((13, 22, 40), np.uint8)
    mask[:, 12:] = 0
    with pytest.raises(InputError, match="'hepatic' lies outside the mask"):
        segment_several(crossing(), POINTS, mask=mask, device="cpu")


# --- the division, from the definition


class Contrast:
    """Evidence, as far as the division asks for it."""

    def __init__(self, contrast):
        self.contrast, self.noise, self.inside = contrast.astype(np.float32), 1.0, None
        self.box = tuple(slice(0, n) for n in contrast.shape)
        self.origin, self.unit = np.zeros(3, int), np.ones(3)

    def middle_near(self, voxel):
        return ridge_near(self.contrast, voxel, 2.5, self.unit)


def definition(levels, groups):
    """Owners by the rounds of iterative relative connectedness; for the levels of voxels."""
    points = [np.ravel_multi_index(np.transpose(group), levels.shape) for group in groups]
    values, has, _ = graph_of_voxels(levels).iterative(points)
    return owners_of(values, has, DISPUTED).reshape(levels.shape)


def test_the_division_is_iterative_relative_connectedness_within_the_scene():
    rng = np.random.default_rng(1)
    disputed = 0
    for _ in range(80):
        shape = tuple(rng.integers(2, 5, 3))
        contrast = rng.integers(1, 5, shape)
        scene = (rng.random(shape) < 0.8).astype(np.float32)
        places = rng.permutation(scene.size)[:4]
        scene.ravel()[places] = 1
        voxels = np.stack(np.unravel_index(places, shape), axis=1)
        groups = {"a": voxels[:2], "b": voxels[2:3], "c": voxels[3:]}
        evidence = Contrast(contrast)
        starts = with_middles(evidence, groups)
        for each in starts.values():  # as the scene has the points and what is about them
            scene[tuple(each.T)] = 1
        levels = np.where(scene > 0, steps_of_noise(evidence.contrast, evidence.noise), 0)
        wanted = definition(levels.astype(int), list(starts.values()))
        found = divide_by_contrast(evidence, scene, groups, Progress())
        known = wanted > 0
        assert np.array_equal(found[known], wanted[known])
        assert not found[scene == 0].any()
        disputed += np.count_nonzero(found == DISPUTED)
    assert disputed
    assert levels.max() < POINT


def test_paths_start_from_the_middle_of_the_vessel_near_a_click():
    contrast = np.ones((5, 9, 9))
    contrast[1:4, 3:6, :] = 9
    evidence = Contrast(contrast)
    near = with_middles(evidence, {"a": [(2, 2, 4)], "b": [(0, 0, 0)]})
    assert near["a"][0].tolist() == [2, 2, 4]
    assert contrast[tuple(near["a"][1])] == 9
    claimed = with_middles(evidence, {"a": [(2, 2, 4)], "b": [tuple(near["a"][1])]})
    assert len(claimed["a"]) == 1
    beside = with_middles(evidence, {"a": [(2, 4, 0)]}, np.array([[2, 2, 4]]))
    assert list(beside) == ["a", "Not vessel"]
    assert beside["Not vessel"].tolist() == [[2, 2, 4]]
