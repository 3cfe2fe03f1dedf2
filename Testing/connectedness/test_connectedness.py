"""Fuzzy connectedness on the CPU: the definition, its invariants, and every solver alike."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib import GaussianAffinity, connectedness, error_voxels, estimate_affinity
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers import blocks, dial
from FuzzyVesselCoreLib.errors import Cancelled, DeviceError, InputError
from FuzzyVesselCoreLib.progress import Progress
from support.definition import graph_of
from support.problems import problems

CPU_SOLVERS = ("exact", "blocks", "dial", "kfoe")


@settings(max_examples=100)
@given(problems(largest_side=5))
def test_every_solver_follows_the_definition(problem):
    volume, seeds, affinity, cut, mask = problem
    inside = [seed for seed in seeds if mask is None or mask[tuple(seed)]]
    points = np.ravel_multi_index(np.transpose(inside), volume.shape)
    levels = graph_of(volume, affinity, cut, mask).connectedness(points).reshape(volume.shape)
    wanted = (np.minimum(levels, 65535) / 65535).astype(np.float32)
    for solver in CPU_SOLVERS:
        scene = connectedness(
            volume, seeds, affinity, solver=solver, device="cpu", cut=cut, mask=mask
        )
        np.testing.assert_array_equal(scene.values, wanted, err_msg=solver)


def test_other_memory_layouts_and_byte_orders():
    volume = np.random.default_rng(9).integers(0, 99, (6, 7, 8)).astype(np.int16)
    affinity = GaussianAffinity(50, 20, 20)
    wanted = connectedness(volume, [[1, 2, 3]], affinity, device="cpu")
    for other in (
        np.asfortranarray(volume),
        volume.astype(">i2"),
        np.repeat(volume, 2, 2)[..., ::2],
    ):
        assert error_voxels(connectedness(other, [[1, 2, 3]], affinity, device="cpu"), wanted) == 0


def test_the_input_arrays_are_left_as_they_were():
    volume = np.random.default_rng(10).integers(0, 99, (6, 7, 8)).astype(np.int16)
    mask = (volume < 90).astype(np.uint8)
    copies = volume.copy(), mask.copy()
    connectedness(volume, np.argwhere(mask)[:3], device="cpu", mask=mask)
    np.testing.assert_array_equal(volume, copies[0])
    np.testing.assert_array_equal(mask, copies[1])


@pytest.mark.parametrize("solver", CPU_SOLVERS)
def test_progress_rises_to_one_and_cancels(solver):
    volume = np.random.default_rng(12).normal(100, 10, (40, 64, 64)).astype(np.float32)
    affinity = GaussianAffinity(100, 30, 30)
    fractions = []
    run = partial(connectedness, volume, [[9, 9, 9]], affinity, solver=solver, device="cpu")
    run(progress=lambda f: fractions.append(f) or True)
    assert fractions[0] == 0
    assert fractions[-1] == 1
    assert len(fractions) > 2
    assert fractions == sorted(fractions)
    calls = []
    with pytest.raises(Cancelled):
        run(progress=lambda f: calls.append(f) or len(calls) < 2)
    assert len(calls) == 2


def test_the_scene_tells_how_it_was_made():
    volume = np.random.default_rng(13).normal(100, 10, (8, 8, 8)).astype(np.float32)
    scene = connectedness(volume, [[4, 4, 4]], solver="dial")
    assert (scene.solver, scene.device, scene.rounds) == ("dial", "cpu", 0)
    assert list(scene.seconds) == ["prepare", "propagate", "values"]
    assert scene.peak_bytes > volume.size * 2


VOLUME = np.random.default_rng(14).normal(100, 10, (4, 5, 6)).astype(np.float32)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (dict(seeds=[]), "no seed"),
        (dict(seeds=[[4, 0, 0]]), "outside the volume"),
        (dict(seeds=[[0, -1, 0]]), "0,-1,0"),
        (dict(seeds=[[0.5, 1, 1]]), "integers"),
        (dict(seeds=[[0, 1]]), "integers"),
        (dict(seeds=[[0, 1], [0, 1, 2]]), "integers"),
        (dict(affinity=5), "GaussianAffinity"),
        (dict(cut="0.5"), "cut is '0.5'"),
        (dict(volume=VOLUME[..., None]), "4 dimensions"),
        (dict(volume=VOLUME[:, :0]), "shape"),
        (dict(volume=VOLUME.astype(np.int64)), "int64"),
        (dict(volume=VOLUME > 100), "bool"),
        (dict(volume=VOLUME.astype(np.float16)), "float16"),
        (dict(volume=VOLUME.astype(float) * 1e300), "too large"),
        (dict(mask=np.zeros(VOLUME.shape)), "mask is empty"),
        (dict(mask=np.ones((4, 5, 5))), "mask has shape"),
        (dict(mask=np.indices(VOLUME.shape)[0] > 1), "outside the mask"),
        (dict(cut=1.5), "cut is 1.5"),
        (dict(cut=np.nan), "cut is nan"),
        (dict(solver="magic"), "blocks, dial, kfoe"),
        (dict(solver="dial", device="cuda"), "CPU only"),
        (dict(solver="cuda-kfoe", device="cpu"), "CUDA only"),
        (dict(device="abacus"), "abacus"),
    ],
)
def test_bad_input_names_the_culprit(arguments, culprit):
    call = {"volume": VOLUME, "seeds": [[1, 1, 1]], "device": "cpu", **arguments}
    with pytest.raises(InputError, match=culprit):
        connectedness(**call)


@pytest.mark.parametrize("name", ["volume", "mask"])
def test_a_masked_array_that_hides_values_is_refused(name):
    hidden = np.zeros(VOLUME.shape, bool)
    call = {"volume": VOLUME, "mask": np.ones(VOLUME.shape), "device": "cpu"}
    call[name] = np.ma.masked_array(call[name], mask=hidden)
    before = connectedness(seeds=[[1, 1, 1]], **call).values  # nothing is hidden
    np.testing.assert_array_equal(before, connectedness(VOLUME, [[1, 1, 1]], device="cpu").values)
    hidden[2, 2, 2] = True
    call[name] = np.ma.masked_array(call[name], mask=hidden)
    with pytest.raises(InputError, match=f"The {name} is a masked array with 1 hidden value"):
        connectedness(seeds=[[1, 1, 1]], **call)


def test_without_numba_the_error_says_how_to_install_it(monkeypatch):
    import sys

    from FuzzyConnectedGPULib import solvers

    for name in [n for n in sys.modules if n.startswith(f"{solvers.__name__}.")]:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(solvers, name.rpartition(".")[2], raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(DeviceError, match="pip install numba"):
        connectedness(VOLUME, [[1, 1, 1]], device="cpu")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_counted_and_placed(wrong):
    volume = VOLUME.copy()
    volume[2, 3, 4] = volume[3, 0, 0] = wrong
    with pytest.raises(InputError, match=r"2 voxels .* I,J,K = 4,3,2"):
        connectedness(volume, [[1, 1, 1]], device="cpu")


# ---- Affinity: the papers' formula, its levels, and its estimate from the seeds


STEP = 1 / 65535


def formula(first, second, affinity):
    """Equation 1 of the papers and ITK 3's form, in float64 and with exp."""
    mean = (first + second) / 2 - affinity.mean
    if affinity.side == "bright":
        mean = np.minimum(mean, 0)
    if affinity.side == "dark":
        mean = np.maximum(mean, 0)
    g1 = np.exp(-(mean**2) / (2 * affinity.sigma**2))
    if affinity.form == "geometric":
        g2 = np.exp(-(((first - second) / 2) ** 2) / (2 * affinity.gradient_sigma**2))
        return np.sqrt(g1 * g2)
    g2 = np.exp(-((first - second) ** 2) / (2 * affinity.gradient_sigma**2))
    return affinity.weight * g1 + (1 - affinity.weight) * g2


@pytest.mark.parametrize("form", ["geometric", "weighted"])
@pytest.mark.parametrize("side", ["both", "bright", "dark"])
def test_levels_are_the_formula_rounded_once(form, side):
    affinity = GaussianAffinity(180.5, 21.3, 9.7, form=form, weight=0.3, side=side)
    random = np.random.default_rng(1)
    first, second = random.uniform(0, 400, (2, 100_000)).astype(np.float32)
    levels = affinity.levels(first, second)
    wanted = formula(first.astype(float), second.astype(float), affinity)
    assert levels.min() < 10
    assert levels.max() > 65000
    # half a step of rounding, and what float32 arithmetic adds
    assert np.abs(levels * STEP - wanted).max() < 0.55 * STEP


def test_estimate_is_robust_against_a_few_wall_voxels():
    random = np.random.default_rng(4)
    volume = random.normal(200, 12, (9, 30, 30)).astype(np.float32)
    volume[:, :, 15:] -= 500
    affinity = estimate_affinity(volume, [[4, 10, 5], [4, 20, 12]])
    assert affinity.mean == pytest.approx(200, abs=4)
    assert affinity.sigma == pytest.approx(12, rel=0.25)
    # half the difference of two independent values has 1 / sqrt(2) of their sigma
    assert affinity.gradient_sigma == pytest.approx(12 / np.sqrt(2), rel=0.25)


def test_constant_volume_is_refused_by_name():
    with pytest.raises(InputError, match="constant"):
        estimate_affinity(np.full((3, 3, 3), 7, np.int16), [[1, 1, 1]])


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (dict(sigma=0), "sigma"),
        (dict(gradient_sigma=-1), "gradient_sigma"),
        (dict(mean=np.nan), "mean"),
        (dict(weight=1.5), "weight"),
        (dict(form="cubic"), "cubic"),
        (dict(side="left"), "left"),
    ],
)
def test_wrong_parameters_are_named(arguments, culprit):
    with pytest.raises(InputError, match=culprit):
        GaussianAffinity(**{"mean": 1, "sigma": 1, "gradient_sigma": 1, **arguments})


# ---- The solver of blocks: the same scene as the bucket queue, at every border of a block


AFFINITY = GaussianAffinity(100, 30, 15)


def assert_same(problem):
    found, wanted = (solver.solve(problem, Progress())[0] for solver in (blocks, dial))
    np.testing.assert_array_equal(found, wanted)
    return found


def noise(shape, kind=np.int16, seed=0):
    return np.random.default_rng(seed).normal(100, 25, shape).clip(0, 255).astype(kind)


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
    found = assert_same(state_problem(volume, [[5, 5, 8]], AFFINITY, mask=mask))
    assert not found[mask == 0].any()


@pytest.mark.parametrize("cut", [0.0, 0.0001, 0.99])
def test_exact_equals_the_queue_whichever_solver_it_takes(cut):
    problem = state_problem(noise((64, 96, 96)), [[30, 40, 50]], AFFINITY, cut)
    found = blocks.solve_exact(problem, Progress()).levels
    np.testing.assert_array_equal(found, dial.solve(problem, Progress())[0])
