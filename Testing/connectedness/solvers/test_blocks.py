"""The solver of blocks: the same scene as the bucket queue, at every border of a block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers import blocks, dial
from FuzzyVesselCoreLib.progress import Progress
from support.problems import problems

AFFINITY = GaussianAffinity(100, 30, 15)


def levels(solver, problem):
    return solver.solve(problem, Progress())[0]


def assert_same(problem):
    np.testing.assert_array_equal(levels(blocks, problem), levels(dial, problem))


def noise(shape, kind=np.int16, seed=0):
    return np.random.default_rng(seed).normal(100, 25, shape).clip(0, 255).astype(kind)


@settings(max_examples=50)
@given(problems(largest_side=8))
def test_small_volumes_of_every_kind(problem):
    volume, seeds, affinity, cut, mask = problem
    assert_same(state_problem(volume, seeds, affinity, cut, mask))


@settings(max_examples=25)
@given(
    st.tuples(*(st.sampled_from([n - 1, n, n + 1, 2 * n + 1]) for n in (16, 32, 32))),
    st.sampled_from(["noise", "few values", "floats"]),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_volumes_of_several_blocks(shape, texture, cut, has_mask, number):
    random = np.random.default_rng(number)
    volume = noise(shape, np.float32 if texture == "floats" else np.int16, number)
    if texture == "few values":
        volume = random.choice(np.array([98, 100, 103, 180], np.uint8), shape)
    seeds = np.stack([random.integers(0, n, 5) for n in shape], axis=1)
    mask = None
    if has_mask:
        mask = random.random(shape) < 0.75
        mask[tuple(seeds.T)] = True
    assert_same(state_problem(volume, seeds, AFFINITY, cut, mask))


def test_a_mask_that_leaves_whole_blocks_out():
    volume, mask = noise((40, 70, 100), seed=8), np.zeros((40, 70, 100), np.uint8)
    mask[3:9, 3:60, 5:12] = 1
    problem = state_problem(volume, [[5, 5, 8]], AFFINITY, mask=mask)
    found = levels(blocks, problem)
    assert not found[mask == 0].any()
    np.testing.assert_array_equal(found, levels(dial, problem))


# --- progress, memory, threads


@pytest.mark.parametrize("cut", [0.0, 0.0001, 0.99])
def test_exact_equals_the_queue_whichever_solver_it_takes(cut):
    problem = state_problem(noise((64, 96, 96)), [[30, 40, 50]], AFFINITY, cut)
    found = blocks.solve_exact(problem, Progress()).levels
    np.testing.assert_array_equal(found, levels(dial, problem))
