"""What the panel shows of intensities and memory, against numbers worked out by hand."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity, connectedness
from FuzzyConnectedGPULib.affinity import affinity_curve, intensity_histogram, seed_statistics
from FuzzyConnectedGPULib.scene import memory_need
from FuzzyVesselCoreLib.errors import InputError


def test_statistics_of_a_ramp():
    volume = np.arange(5 * 6 * 7, dtype=np.int16).reshape(5, 6, 7)
    found = seed_statistics(volume, [[2, 2, 2], [0, 0, 0]], radius=1)
    assert found.intensity.tolist() == [2 * 42 + 2 * 7 + 2, 0]
    assert found.mean.tolist() == [100, (42 + 7 + 1) / 2]
    corner = [42 * k + 7 * j + i for k in (0, 1) for j in (0, 1) for i in (0, 1)]
    assert found.deviation[1] == pytest.approx(np.std(corner))


def test_statistics_need_seeds_inside_and_a_radius():
    volume = np.zeros((4, 4, 4), np.int16)
    with pytest.raises(InputError, match="lie outside"):
        seed_statistics(volume, [[4, 0, 0]])
    with pytest.raises(InputError, match="radius is 0"):
        seed_statistics(volume, [[1, 1, 1]], radius=0)


def test_histogram_counts_every_voxel_within_the_range():
    edges, share = intensity_histogram(np.array([0, 0, 1, 3]), bins=4, intensity_range=(0, 4))
    assert edges.tolist() == [0, 1, 2, 3, 4]
    assert share.tolist() == [0.5, 0.25, 0, 0.25]


def test_histogram_leaves_outliers_and_missing_values_out():
    volume = np.random.default_rng(1).normal(50, 5, (40, 40, 40)).astype(np.float32)
    volume[0, 0, :3] = 1e6, np.nan, -1e6
    edges, share = intensity_histogram(volume)
    assert 25 < edges[0] < edges[-1] < 75
    assert share.sum() == pytest.approx(0.998, abs=0.001)


def test_histogram_of_one_value_and_of_none():
    edges, share = intensity_histogram(np.full((3, 3, 3), 7))
    assert edges[0] < 7 < edges[-1]
    assert share.sum() == 1
    with pytest.raises(InputError, match="no finite intensity"):
        intensity_histogram(np.array([np.nan]))


@pytest.mark.parametrize(
    ("side", "expected"), [("both", (0.6065, 1, 0.6065)), ("bright", (0.6065, 1, 1))]
)
def test_affinity_curve_is_the_affinity_of_equal_neighbours(side, expected):
    affinity = GaussianAffinity(100, 10, 5, side=side)
    sigma = 10 * np.sqrt(2)  # the geometric form is the root of the product
    curve = affinity_curve(affinity, [100 - sigma, 100, 100 + sigma])
    assert curve == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("noise", [0, 20])
def test_memory_need_is_above_what_the_solver_held(noise):
    random = np.random.default_rng(0)
    volume = (100 + noise * random.normal(size=(40, 40, 40))).astype(np.int16)
    volume[0] = 200
    scene = connectedness(volume, [[20, 20, 20]], GaussianAffinity(100, 20, 20), device="cpu")
    need = memory_need(volume.shape, volume.dtype)
    assert scene.peak_bytes < need.host
    assert need.device == volume.size * 15


def test_memory_need_of_an_unknown_type_is_refused():
    with pytest.raises(InputError, match="unknown"):
        memory_need((2, 2, 2), "colour")
