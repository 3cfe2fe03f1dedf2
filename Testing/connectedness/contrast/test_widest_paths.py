"""Widest paths against definitions that share no code with them; on CUDA, the same bits."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import ndimage
from skimage.morphology import reconstruction

from FuzzyConnectedGPULib.contrast.widest_paths import (
    PATH_LEVEL,
    TOP,
    widest_paths,
    widest_paths_on_device,
)


def path_levels(contrast, inside, starts, unit, floor, competing=None, gpu=None):
    """`widest_paths` as a volume of levels; competing are flat indices.

    The list is checked: each voxel once, with its own contrast.
    """
    if competing is not None:
        is_rival = np.zeros(contrast.shape, np.float32)
        is_rival.ravel()[competing] = 1
        competing = is_rival, 0.5
    if gpu is None:
        found = widest_paths(contrast, inside, starts, unit, floor, competing)
    else:
        mask = None if inside is None else gpu.put(inside)
        others = None if competing is None else (gpu.put(competing[0]), competing[1])
        there = gpu.put(contrast)
        found = widest_paths_on_device(there, mask, starts, unit, floor, gpu, others)
    assert (found.voxels.dtype, found.levels.dtype) == (np.int64, np.uint16)
    assert np.unique(found.voxels).size == found.voxels.size == found.levels.size
    np.testing.assert_array_equal(found.contrast, contrast.ravel()[found.voxels])
    assert (found.levels > 0).all()
    levels = np.zeros(contrast.shape, np.uint16)
    levels.ravel()[found.voxels] = found.levels
    return levels


def by_definition(contrast, inside, starts, unit, floor):
    """The largest minimum of the levels on the way, by morphological reconstruction."""
    levels = np.clip(np.floor(contrast.astype(float) / unit * PATH_LEVEL), 0, TOP)
    levels[levels < floor] = 0
    if inside is not None:
        levels[inside == 0] = 0
    marker = np.zeros_like(levels)
    for start in starts:
        marker[start] = levels[start]
    return reconstruction(marker, levels, footprint=np.ones((3, 3, 3)))


@st.composite
def problems(draw, sides):
    """contrast, inside or None, starts, unit, floor, and a random generator."""
    shape = draw(st.tuples(sides, sides, sides))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    contrast = ndimage.gaussian_filter(
        rng.normal(0, 1, shape), draw(st.sampled_from([0, 0.7, 1.5]))
    )
    contrast /= contrast.std() or 1
    if draw(st.booleans()):
        contrast = np.round(2 * contrast)  # plateaus
    scale = 10.0 ** draw(st.integers(-9, 9))
    inside = (rng.random(shape) < 0.7).astype(np.uint8) if draw(st.booleans()) else None
    highest = np.unravel_index(contrast.argmax(), shape)
    starts = [tuple(rng.integers(0, shape)) for _ in range(draw(st.integers(0, 4)))]
    starts += [highest] * draw(st.booleans())
    unit = scale * draw(st.sampled_from([1e-7, 0.1, 0.5, 1, 2]))
    floor = draw(st.sampled_from([1, PATH_LEVEL // 2, PATH_LEVEL, 1000]))
    return (contrast * scale).astype(np.float32), inside, starts, unit, floor, rng


@settings(max_examples=150)
@given(problems(st.integers(1, 6)))
def test_levels_are_those_of_the_definition(problem):
    *arguments, _rng = problem
    found = path_levels(*arguments)
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, by_definition(*arguments))


@settings(max_examples=100)
@given(problems(st.integers(1, 6)), st.integers(1, 4))
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


# ---- on CUDA


def check_cuda(gpu, problem, share):
    """The kernels give the CPU's levels, also where a share of the voxels are rivals."""
    *arguments, rng = problem
    competing = np.flatnonzero(rng.random(arguments[0].size) < share) if share else None
    wanted = path_levels(*arguments, competing)
    np.testing.assert_array_equal(path_levels(*arguments, competing, gpu), wanted)


SHARES = st.sampled_from([0, 0.001, 0.1])
AROUND_THE_TILE = st.sampled_from([1, 3, 7, 8, 9, 16, 17, 25])


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(problem=problems(AROUND_THE_TILE), share=SHARES)
def test_kernels_on_the_cpu(cpu_cuda, problem, share):
    check_cuda(cpu_cuda, problem, share)


@pytest.mark.gpu
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(problem=problems(st.integers(1, 130)), share=SHARES)
def test_kernels_on_a_gpu(gpu, problem, share):
    check_cuda(gpu, problem, share)
