"""Widest paths and components against definitions that share no code with them."""

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyConnectedGPULib.contrast.contrast_map import contrast_map
from FuzzyConnectedGPULib.contrast.contrast_threshold import membership
from FuzzyConnectedGPULib.contrast.reached import STEPS, TOP, lowest_open
from FuzzyConnectedGPULib.contrast.widest_paths import widest_paths
from FuzzyConnectedGPULib.segmentation import segment
from support.path_levels import path_levels


def levels_of(contrast, unit):
    return np.clip(np.floor(contrast.astype(float) / unit * STEPS), 0, TOP).astype(int)


def by_definition(contrast, inside, starts, unit, floor):
    """Largest minimum of the levels on the way, with a heap."""
    levels, found = levels_of(contrast, unit), np.zeros(contrast.shape, int)
    allowed = levels >= max(floor, 1)
    if inside is not None:
        allowed &= inside > 0
    queue = [(-levels[start], start) for start in starts if allowed[start]]
    heapq.heapify(queue)
    while queue:
        level, voxel = heapq.heappop(queue)
        if found[voxel]:
            continue
        found[voxel] = -level
        for step in np.ndindex(3, 3, 3):
            other = tuple(c + s - 1 for c, s in zip(voxel, step))
            within = all(0 <= c < n for c, n in zip(other, contrast.shape))
            if within and allowed[other] and not found[other]:
                heapq.heappush(queue, (max(level, -levels[other]), other))
    return found


@st.composite
def problems(draw):
    """contrast, inside or None, starts, unit, floor, and a random generator."""
    shape = draw(st.tuples(*[st.integers(1, 6)] * 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    contrast = rng.normal(0, 1, shape)
    if draw(st.booleans()):
        contrast = np.round(2 * contrast)  # plateaus
    scale = 10.0 ** draw(st.integers(-9, 9))
    inside = (rng.random(shape) < 0.7).astype(np.uint8) if draw(st.booleans()) else None
    starts = [tuple(rng.integers(0, shape)) for _ in range(draw(st.integers(0, 4)))]
    unit = scale * draw(st.sampled_from([1e-7, 0.1, 0.5, 1, 2]))
    floor = draw(st.sampled_from([1, STEPS // 2, STEPS, 1000]))
    return (contrast * scale).astype(np.float32), inside, starts, unit, floor, rng


@settings(max_examples=150)
@given(problems())
def test_levels_are_those_of_the_definition(problem):
    *arguments, _rng = problem
    found = path_levels(*arguments)
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, by_definition(*arguments))


@settings(max_examples=100)
@given(problems(), st.integers(1, 4))
def test_rivals_take_what_they_reach_more_strongly(problem, count):
    contrast, inside, starts, unit, floor, rng = problem
    rivals = rng.integers(0, contrast.size, count)
    found = path_levels(contrast, inside, starts, unit, floor, rivals)
    places = [tuple(np.unravel_index(r, contrast.shape)) for r in rivals]
    ours = by_definition(contrast, inside, starts, unit, floor)
    theirs = by_definition(contrast, inside, set(places) - set(starts), unit, floor)
    np.testing.assert_array_equal(found[ours > theirs], ours[ours > theirs])
    assert not found[theirs > ours].any()
    assert ((found == ours) | (found == 0)).all()  # where both are as strong, one has it
    turned = path_levels(contrast, inside, starts[::-1], unit, floor, rivals[::-1])
    np.testing.assert_array_equal(turned, found)


@settings(max_examples=100)
@given(problems())
def test_a_component_is_scipys(problem):
    values, inside, starts, _unit, _floor, rng = problem
    start = starts[0] if starts else (0, 0, 0)
    threshold = float(np.abs(rng.choice(values.ravel()))) or 1.0
    enough = values >= threshold
    if inside is not None:
        enough &= inside > 0
    pieces, _count = ndimage.label(enough, np.ones((3, 3, 3)))
    wanted = np.flatnonzero(pieces == pieces[start]) if pieces[start] else np.empty(0)
    found = widest_paths(values, inside, [start], threshold, STEPS, limit=wanted.size)
    np.testing.assert_array_equal(np.sort(found.voxels), wanted)
    if wanted.size:
        fewer = wanted.size - 1
        assert widest_paths(values, inside, [start], threshold, STEPS, limit=fewer) is None


def test_diagonal_steps_and_the_exact_unit():
    contrast = np.zeros((3, 3, 3), np.float32)
    for n in range(3):
        contrast[n, n, n] = 0.7
    unit = float(np.float32(0.7))
    levels = path_levels(contrast, None, [(0, 0, 0)], unit, 1)
    assert [levels[n, n, n] for n in range(3)] == [STEPS] * 3
    assert np.count_nonzero(levels) == 3


def test_starts_below_the_floor_or_outside_of_the_mask_lead_nowhere():
    contrast = np.ones((2, 2, 2), np.float32)
    assert not path_levels(contrast, None, [(0, 0, 0)], 10.0, STEPS).any()
    inside = np.ones(contrast.shape, np.uint8)
    inside[0, 0, 0] = 0
    assert not path_levels(contrast, inside, [(0, 0, 0)], 1.0, 1).any()
    assert not path_levels(contrast, None, [], 1.0, 1).any()


@pytest.mark.parametrize("cut", [0.5, 0.6, 0.75])
def test_a_cut_of_the_scene_is_a_cut_of_the_contrast(cut):
    """Membership c from t * c / (1 - c) on, along paths that are as strong in their own unit."""
    rng = np.random.default_rng(6)
    k, j, _i = np.indices((20, 20, 24))
    tube = (k - 10) ** 2 + (j - 10) ** 2 <= 4
    volume = (50.0 * tube + rng.normal(0, 6, tube.shape)).astype(np.float32)
    click = (10, 10, 12)
    found = segment(volume, [click])
    evidence = contrast_map(volume, (1, 1, 1), click)
    least = found.contrast.contrast * cut / (1 - cut)
    contrast = evidence.contrast
    assert np.array_equal(
        membership(contrast, found.contrast.contrast) >= np.float32(cut),
        contrast >= np.float32(least),
    )
    taken = found.scene.values >= np.float32(cut)
    taken[click] = contrast[click] >= least
    assert (contrast[taken] >= np.float32(least) * (1 - 1e-6)).all()
    pieces, _count = ndimage.label(contrast >= least, np.ones((3, 3, 3)))
    assert pieces[click] > 0
    assert taken[pieces == pieces[click]].all()


@settings(max_examples=150)
@given(st.floats(1e-6, 1e6), st.integers(1, TOP))
def test_the_least_open_contrast_is_the_first_whose_level_reaches_the_floor(unit, floor):
    lowest = lowest_open(unit, floor)
    below = np.nextafter(lowest, np.float32(-np.inf))
    assert levels_of(np.array([lowest]), unit)[0] >= floor
    assert levels_of(np.array([below]), unit)[0] < floor
