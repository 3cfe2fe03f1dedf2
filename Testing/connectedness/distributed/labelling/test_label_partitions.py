"""Labels over blocks are those of the whole, for every partition, worker count and order."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib.affinity import level_values
from FuzzyConnectedGPULib.distributed import LabelOptions, labels, volume_curve
from FuzzyConnectedGPULib.distributed.labelling.components.adjoining import joined_pieces
from FuzzyConnectedGPULib.threshold.choice import choose_threshold
from FuzzyConnectedGPULib.threshold.thresholds import volume_curve as curve_of_the_whole
from FuzzyVesselCoreLib.voxels.labels import label_components
from support.executors import ShuffledExecutor
from support.whole_labels import whole_labels


def by_blocks(scene, threshold, numbered=True, **options):
    found = np.full(scene.shape, 99, np.uint32 if numbered else np.uint8)
    return labels(scene, threshold, found, numbered=numbered, **options), found


def scene_of(shape, number):
    """Levels of smooth noise, so that components of many sizes wind through the blocks."""
    noise = np.random.default_rng(number).normal(size=shape)
    for axis in range(3):
        noise += np.roll(noise, 1, axis)
    scaled = (noise - noise.min()) / np.ptp(noise)
    return np.rint(scaled * 65535).astype(np.uint16)


@settings(max_examples=20)
@given(
    st.tuples(*3 * [st.integers(1, 6)]),
    st.tuples(*3 * [st.integers(2, 4)]),
    st.floats(0.05, 0.95),
    st.sampled_from(["all", "largest", "seeds"]),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_small_objects_of_every_kind(shape, block, density, components, smallest, numbered, number):
    random = np.random.default_rng(number)
    scene = np.where(random.random(shape) < density, random.random(shape), 0).astype(np.float32)
    seeds = random.integers(0, shape, (3, 3))
    rule = {"components": components, "min_voxels": smallest, "seeds": seeds}
    whole = whole_labels(scene, 0.3, **rule)
    run, found = by_blocks(scene, 0.3, numbered, block=block, **rule)
    np.testing.assert_array_equal(found, whole if numbered else whole > 0)
    assert (run.components, run.voxels) == (whole.max(), np.count_nonzero(whole))
    if numbered:
        boxes = [np.argwhere(whole == n + 1) for n in range(whole.max())]
        assert run.table.sizes.tolist() == [len(box) for box in boxes]
        assert run.table.low.tolist() == [box.min(axis=0).tolist() for box in boxes]
        assert run.table.high.tolist() == [(box.max(axis=0) + 1).tolist() for box in boxes]


@pytest.mark.parametrize("block", [9, (30, 28, 5), (8, 11, 40), 64])
def test_levels_in_several_partitions(block):
    scene = scene_of((21, 28, 33), 3)
    whole = whole_labels(level_values(scene), 0.6, min_voxels=5)
    assert 5 < whole.max() < 200
    np.testing.assert_array_equal(by_blocks(scene, 0.6, block=block, min_voxels=5)[1], whole)


@pytest.mark.parametrize("threshold", [1 / 65535, 0.4, np.nextafter(np.float32(0.4), 1), 1.0])
def test_levels_and_their_values_have_the_same_object(threshold):
    levels = np.arange(65536, dtype=np.uint16).reshape(64, 32, 32)
    whole = whole_labels(level_values(levels), threshold)
    for scene in (levels, level_values(levels)):
        np.testing.assert_array_equal(by_blocks(scene, threshold, block=40)[1], whole)


@settings(max_examples=10)
@given(
    st.tuples(*3 * [st.integers(3, 7)]),
    st.tuples(*3 * [st.integers(2, 4)]),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_filled_gaps(shape, block, rounds, has_mask, number):
    random = np.random.default_rng(number)
    scene = (random.random(shape) < 0.55).astype(np.float32)
    barred = random.integers(0, shape, (4, 3))
    mask = random.random(shape) < 0.8 if has_mask else None
    whole = whole_labels(scene, 0.5, rounds=rounds, mask=mask, barred=barred)
    given_ = {"mask": mask, "background_seeds": barred, "fill_gaps": rounds}
    np.testing.assert_array_equal(by_blocks(scene, 0.5, block=block, **given_)[1], whole)


def test_gaps_are_filled_across_faces():
    """The object of a block on its own is another: the margin is needed, one voxel a round."""
    scene = np.ones((8, 8, 8), np.float32)
    scene[3:5, 3:5, 3:5] = 0
    for rounds, left in ((1, 8), (2, 0)):
        whole = whole_labels(scene, 0.5, rounds=rounds)
        np.testing.assert_array_equal(by_blocks(scene, 0.5, block=4, fill_gaps=rounds)[1], whole)
        assert np.count_nonzero(whole == 0) in (left, 0)


def test_a_labelmap_needs_no_threshold():
    found = np.random.default_rng(5).random((8, 9, 10)) < 0.15
    whole, count = label_components(found)
    for labelmap in (found, found.astype(np.uint8) * 7):
        run, numbers = by_blocks(labelmap, None, block=5)
        np.testing.assert_array_equal(numbers, whole)
        assert (run.threshold, run.components) == (None, count)


@pytest.mark.parametrize("number", range(2))
def test_the_order_of_completion_does_not_matter(number):
    scene = scene_of((16, 15, 14), 6)
    whole = whole_labels(level_values(scene), 0.55)
    client = ShuffledExecutor(number)
    np.testing.assert_array_equal(by_blocks(scene, 0.55, block=5, client=client)[1], whole)


def test_several_workers():
    scene = scene_of((14, 15, 16), 7)
    whole = whole_labels(level_values(scene), 0.55, components="largest")
    with ThreadPoolExecutor(4) as pool:
        found = by_blocks(scene, 0.55, block=8, client=pool, components="largest")[1]
    np.testing.assert_array_equal(found, whole)


@settings(max_examples=6)
@given(st.tuples(*3 * [st.integers(1, 7)]), st.integers(3, 5), st.integers(0, 2**32 - 1))
def test_the_volume_curve_and_the_automatic_threshold(shape, block, number):
    random = np.random.default_rng(number)
    levels = np.where(random.random(shape) < 0.7, random.integers(0, 65536, shape), 0)
    levels.flat[0] = 65535
    background = random.integers(0, shape, (2, 3))
    background = background[levels[tuple(background.T)] < 65535] if levels.size > 1 else None
    if background is not None and not len(background):
        background = None
    values = level_values(levels.astype(np.uint16))
    whole, chosen = curve_of_the_whole(values), choose_threshold(values, background, 0.1)
    for scene in (levels.astype(np.uint16), values):
        split = volume_curve(scene, options=LabelOptions(block=block))
        for one, other in zip(split, whole):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        run, _ = by_blocks(scene, None, block=block, background_seeds=background, cut=0.1)
        assert (run.threshold, getattr(run.threshold, "reason", "")) == (
            chosen, getattr(chosen, "reason", "")
        )  # fmt: skip


@settings(max_examples=20)
@given(st.tuples(*3 * [st.integers(1, 5)]), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
def test_pieces_of_one_voxel_are_joined_to_components(shape, density, number):
    found = np.random.default_rng(number).random(shape) < density
    voxels = np.flatnonzero(found)
    whole, count = label_components(found)
    joined, number_of = joined_pieces(voxels, np.arange(voxels.size), voxels.size, shape)
    np.testing.assert_array_equal(joined + 1, whole.reshape(-1)[voxels])
    assert number_of == count
