"""Widest paths and components against definitions that share no code with them."""

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib.contrast.widest_paths import STEPS, TOP
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
    competing = rng.integers(0, contrast.size, count)
    found = path_levels(contrast, inside, starts, unit, floor, competing)
    places = [tuple(np.unravel_index(r, contrast.shape)) for r in competing]
    ours = by_definition(contrast, inside, starts, unit, floor)
    theirs = by_definition(contrast, inside, set(places) - set(starts), unit, floor)
    np.testing.assert_array_equal(found[ours > theirs], ours[ours > theirs])
    assert not found[theirs > ours].any()
    assert ((found == ours) | (found == 0)).all()  # where both are as strong, one has it
    turned = path_levels(contrast, inside, starts[::-1], unit, floor, competing[::-1])
    np.testing.assert_array_equal(turned, found)
