"""Affinity: the papers' formula, its levels, and its estimate from the seeds."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity, estimate_affinity
from FuzzyConnectedGPULib.affinity import bell
from FuzzyVesselCoreLib.errors import InputError

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


def test_bell_is_the_gaussian_within_float32():
    x = np.linspace(0, 4.5, 1_000_001, dtype=np.float32)
    np.testing.assert_allclose(bell(x), np.exp(-(x.astype(float) ** 2)), rtol=2e-6)
    assert bell(np.float32(100)) == np.float32(2.0**-30)
    assert bell(np.float32(0)) == 1


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
