"""Features that the affinity compares, against direct definitions in NumPy and SciPy."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyConnectedGPULib import CachedConnectedness, SegmentOptions, estimate_affinity, segment
from FuzzyConnectedGPULib.features.feature_volume import feature_volume
from FuzzyConnectedGPULib.features.object_scale import (
    HOMOGENEOUS,
    MAX_SCALE,
    homogeneity_width,
    object_scale,
    scale_filtered,
)
from FuzzyConnectedGPULib.features.vesselness import SCALES, hessian, vesselness
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers.cpu import dial
from FuzzyConnectedGPULib.solvers.cuda import active_tiles
from FuzzyConnectedGPULib.solvers.cuda.contraction import contraction
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bounding_box import full_box

ISOTROPIC, ANISOTROPIC = np.ones(3), np.array([2.5, 1.0, 1.3])


def noisy_tube(shape=(12, 20, 22), noise=8, seed=0):
    """A bright tube along K with a branch, in noise."""
    volume = np.random.default_rng(seed).normal(100, noise, shape)
    j, i = np.ogrid[: shape[1], : shape[2]]
    volume[:, (j - 9) ** 2 + (i - 10) ** 2 <= 9] += 80
    volume[shape[0] // 2, 9, 10:] += 60
    return volume.astype(np.int16)


def scale_by_definition(volume, voxel, unit):
    """Scale and weighted mean of one voxel, straight from the definition."""
    values = volume.astype(np.float64)
    width = homogeneity_width(volume.astype(np.float32))
    axes = np.ogrid[tuple(slice(0, n) for n in volume.shape)]
    distance = np.sqrt(sum(((x - c) * u) ** 2 for x, c, u in zip(axes, voxel, unit)))
    alike = np.exp(-((values - values[voxel]) ** 2) / (2 * width**2))
    scale = 1
    for radius in range(1, MAX_SCALE + 1):
        shell = (distance <= radius + 1e-9) & (distance > radius - 1 + 1e-9)
        if shell.any() and alike[shell].mean() < HOMOGENEOUS:
            break
        scale = radius
    ball = distance <= scale + 1e-9
    weights = np.exp(-(distance[ball] ** 2) / (2 * scale**2))
    return scale, np.average(values[ball], weights=weights)


@pytest.mark.parametrize("unit", [ISOTROPIC, ANISOTROPIC], ids=["isotropic", "anisotropic"])
def test_object_scale_and_mean_follow_the_definition(unit):
    volume = noisy_tube()
    box = full_box(volume.shape)
    scales, means = object_scale(volume, box, unit), scale_filtered(volume, box, unit)
    assert len(np.unique(scales)) > 2
    for voxel in np.ndindex(volume.shape):
        if sum(voxel) % 7 == 0:
            scale, mean = scale_by_definition(volume, voxel, unit)
            assert scales[voxel] == scale
            assert means[voxel] == pytest.approx(mean, rel=1e-5)


def test_scale_is_the_radius_of_a_homogeneous_ball():
    volume = np.zeros((15, 15, 15), np.int16)
    volume[5:10, 5:10, 5:10] = 1000
    scales = object_scale(volume, full_box(volume.shape), ISOTROPIC)
    assert scales[7, 7, 7] == 3  # of the third shell 84 voxels of 90 lie in the cube
    assert scales[0, 0, 0] == MAX_SCALE


def frangi_by_definition(volume, unit):
    """The measure by SciPy's Gaussian derivatives and NumPy's eigenvalues."""
    found = np.zeros(volume.shape)
    for scale in SCALES:
        sigmas = np.maximum(scale / unit, 0.8)
        matrix = np.empty((*volume.shape, 3, 3))
        for a in range(3):
            for b in range(3):
                orders = np.bincount([a, b], minlength=3)
                part = ndimage.gaussian_filter(
                    volume.astype(np.float64), sigmas, orders, mode="nearest", truncate=5
                )
                matrix[..., a, b] = part * sigmas[a] * sigmas[b]
        values = np.linalg.eigvalsh(matrix)
        values = np.take_along_axis(values, np.abs(values).argsort(-1), -1)
        first, second, third = np.moveaxis(values, -1, 0)
        norm = np.sqrt((values**2).sum(-1))
        half = np.percentile(norm, 99) / 2
        tube = (second < 0) & (third < 0)
        second, third = np.where(tube, second, -1), np.where(tube, third, -1)
        value = 1 - np.exp(-((second / third) ** 2) / 0.5)
        value *= np.exp(-(first**2 / (second * third)) / 0.5) * (
            1 - np.exp(-(norm**2) / 2 / half**2)
        )
        found = np.maximum(found, np.where(tube, value, 0))
    return found


@pytest.mark.parametrize("unit", [ISOTROPIC, ANISOTROPIC], ids=["isotropic", "anisotropic"])
def test_vesselness_follows_frangis_definition(unit):
    volume = noisy_tube((16, 20, 22))
    expected = frangi_by_definition(volume, unit)
    found = vesselness(volume, full_box(volume.shape), unit)
    assert expected.max() > 0.5
    # Gaussian derivatives are cut off elsewhere: a few thousandths, more where eigenvalues tie.
    assert np.quantile(np.abs(found - expected), 0.99) < 0.02
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999


def test_vesselness_of_one_scale_ranks_as_scikit_images():
    filters = pytest.importorskip("skimage.filters")
    volume = noisy_tube((24, 24, 24), noise=0)
    ours = vesselness(volume, full_box(volume.shape), ISOTROPIC)
    theirs = filters.frangi(volume.astype(np.float64), sigmas=SCALES, black_ridges=False)
    axis = ours[8:16, 9, 10]
    assert axis.min() > 20 * np.median(ours)
    assert theirs[12, 9, 10] > 20 * np.median(theirs)
    both = np.corrcoef(ours[12].ravel() > 0.3, theirs[12].ravel() > 0.3 * theirs[12].max())
    assert both[0, 1] > 0.5


def test_dark_tubes_are_those_of_the_negative_volume():
    volume = noisy_tube()
    box = full_box(volume.shape)
    dark = vesselness(-volume.astype(np.float32), box, ISOTROPIC, dark=True)
    np.testing.assert_array_equal(dark, vesselness(volume.astype(np.float32), box, ISOTROPIC))


def test_hessian_of_a_parabola():
    k, j, i = np.meshgrid(*map(np.arange, (21, 21, 21)), indexing="ij")
    volume = (1.5 * k * k - 2 * j * i + 0.5 * i * i).astype(np.float32)
    elements = hessian(volume, full_box(volume.shape), np.ones(3))
    centre = [float(element[10, 10, 10]) for element in elements]
    assert centre == pytest.approx([3, 0, 1, 0, 0, -2], abs=0.02)


@pytest.mark.parametrize("feature", ["scale", "vesselness"])
def test_a_mask_changes_no_feature_inside_a_wide_box(feature):
    volume = noisy_tube()
    mask = np.ones(volume.shape, np.uint8)
    whole = feature_volume(volume, feature)
    np.testing.assert_array_equal(feature_volume(volume, feature, mask=mask), whole)
    mask[:] = 0
    mask[5:7, 8:11, 9:12] = 1
    assert feature_volume(volume, feature, mask=mask).shape == volume.shape


@pytest.mark.parametrize("feature", ["scale", "vesselness"])
def test_a_single_slice_has_features(feature):
    volume = noisy_tube((1, 20, 22))
    found = feature_volume(volume[0], feature)
    assert found.shape == (1, 20, 22)
    assert np.isfinite(found).all()
    assert found[0, 9, 10] > np.median(found)


@pytest.mark.parametrize("feature", ["scale", "vesselness"])
def test_connectedness_of_a_feature_is_exact_on_every_solver(feature):
    """The same bits as the reference solver on the feature volume."""
    volume, seeds = noisy_tube(noise=4), [[6, 9, 10]]
    found = segment(volume, seeds, feature=feature, device="cpu", solver="blocks")
    values = feature_volume(volume, feature)
    options = dict(affinity=found.affinity, device="cpu", solver="dial")
    reference = segment(values, seeds, **options)
    np.testing.assert_array_equal(found.scene.values, reference.scene.values)
    assert found.labels[6, 9, 10]


@pytest.mark.parametrize("feature", ["scale", "vesselness"])
@pytest.mark.parametrize("solver", [active_tiles, contraction])
def test_cuda_has_the_bits_of_the_cpu(cooperative_cuda, solver, feature):
    values = feature_volume(noisy_tube(noise=4), feature)
    problem = state_problem(values, [[6, 9, 10]], estimate_affinity(values, [[6, 9, 10]]))
    found = solver.solve(problem, Progress(), cooperative_cuda).levels
    np.testing.assert_array_equal(found, dial.solve(problem, Progress()).levels)
    assert np.count_nonzero(found) > 10


def test_more_vesselness_than_at_the_seeds_costs_nothing():
    found = segment(noisy_tube(), [[6, 9, 10]], feature="vesselness", side="both", device="cpu")
    assert found.affinity.side == "bright"


def test_the_feature_is_cached_until_volume_or_mask_change():
    volume, kept = noisy_tube(), CachedConnectedness()
    first = kept.feature_volume(volume, "scale", mask=None)
    assert kept.feature_volume(volume.copy(), "scale", mask=None) is first
    again = segment(volume, [[6, 9, 10]], feature="scale", device="cpu", cached=kept)
    alone = segment(volume, [[6, 9, 10]], feature="scale", device="cpu")
    np.testing.assert_array_equal(again.scene.values, alone.scene.values)
    assert kept.feature_volume(volume + 1, "scale", mask=None) is not first


def test_unknown_features_are_named():
    with pytest.raises(InputError, match="Unknown feature 'colour'"):
        SegmentOptions(feature="colour")
    assert SegmentOptions(feature="scale").object_model == "affinity"


def test_features_can_be_cancelled():
    for feature in ("scale", "vesselness"):
        with pytest.raises(Cancelled):
            feature_volume(noisy_tube(), feature, progress=lambda share: False)
