"""Zeros of known fields, and the balance of indices on solids."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from PotentialSkeletonLib import critical_points, force_field
from PotentialSkeletonLib.critical_points.critical_points import KINDS, index_sum
from PotentialSkeletonLib.critical_points.seeds import curvature_seeds, divergence_seeds
from support.solid_shapes import wavy_tube
from support.solids import ring, two_balls


def sampled(function, shape=(9, 10, 11)):
    """A field of inner voxels everywhere with `function(positions)` as its vectors."""
    positions = np.stack(np.indices(shape), axis=-1).astype(float)
    return SimpleNamespace(
        vectors=function(positions),
        classes=np.full(shape, 3, np.uint8),
        object=np.ones(shape, bool),
    )


@pytest.mark.parametrize(
    ("slopes", "kind"),
    [
        ((-1, -2, -3), "attractor"),
        ((2, -1, -3), "saddle-1"),
        ((1, 2, -3), "saddle-2"),
        ((1, 2, 3), "repeller"),
    ],
)
def test_a_linear_field_has_one_zero_of_the_expected_kind(slopes, kind):
    centre = np.array([3.3, 4.45, 6.72])
    (point,) = critical_points(sampled(lambda x: (x - centre) * slopes))
    np.testing.assert_allclose(point.position, centre, atol=1e-9)
    assert point.kind == kind
    np.testing.assert_allclose(point.eigenvalues, sorted(slopes), atol=1e-9)
    for value, vector in zip(point.eigenvalues, point.eigenvectors.T):
        np.testing.assert_allclose(np.diag(slopes) @ vector, value * vector, atol=1e-9)


def test_all_zeros_of_a_periodic_field_are_found():
    """sin of each coordinate: a zero wherever all three are multiples of half the period."""
    period = 8.0
    field = sampled(lambda x: np.sin(2 * np.pi * (x - 0.3) / period), (18, 18, 18))
    points = critical_points(field)
    expected = [0.3 + n * period / 2 for n in range(5)]
    assert len(points) == 5**3
    for point in points:
        assert np.abs(point.position[:, None] - expected).min(axis=1).max() < 0.06
    assert [tuple(p.position.round(3)) for p in points] == sorted(
        tuple(p.position.round(3)) for p in points
    )


@pytest.mark.parametrize(("mask", "expected"), [(two_balls(12), 1), (ring()[0], 0)])
def test_the_indices_sum_to_the_euler_characteristic(mask, expected):
    points = critical_points(force_field(mask))
    assert len(points) >= 2
    assert index_sum(points) == expected


def positions_of(field, kind):
    points = [point.position for point in critical_points(field) if point.kind == kind]
    return np.array(points).reshape(-1, 3)


@pytest.mark.parametrize("charge_distance", [0, 2])
@pytest.mark.parametrize("strength", [3, 6])
@pytest.mark.parametrize(
    "mask", [two_balls(12), wavy_tube((44, 24, 26)), ring()[0]], ids=["balls", "tube", "ring"]
)
def test_field_methods_agree_on_the_critical_points(mask, strength, charge_distance):
    fields = [
        force_field(mask, strength, method=method, charge_distance=charge_distance, device="cpu")
        for method in ("direct-serial", "fft")
    ]
    assert len(critical_points(fields[0])) > 0
    for kind in KINDS:
        serial, fft = (positions_of(field, kind) for field in fields)
        assert len(serial) == len(fft)
        if len(serial):
            for some, others in ((serial, fft), (fft, serial)):
                assert cKDTree(some).query(others)[0].max() <= 1e-3


def test_seeds_lie_where_the_unit_force_converges_the_lowest_first():
    sinks = np.array([[10, 10, 8], [10, 10, 24]])

    def function(x):  # towards the nearer one of two points
        away = sinks[:, None, None, None] - x
        nearer = np.linalg.norm(away, axis=-1).argmin(axis=0)
        return np.take_along_axis(away, nearer[None, ..., None], axis=0)[0]

    field = sampled(function, (21, 21, 33))
    found = divergence_seeds(field.vectors.astype(np.float32), field.classes, 20.0)
    assert {tuple(voxel) for voxel in found[:2].tolist()} == set(map(tuple, sinks.tolist()))
    assert len(divergence_seeds(field.vectors, field.classes, 0.0)) == 0
    assert len(divergence_seeds(field.vectors, field.classes * 0, 20.0)) == 0


def test_seeds_of_high_curvature_are_the_corners_of_a_box():
    mask = np.zeros((20, 22, 24), bool)
    mask[4:16, 4:18, 4:20] = True
    found = curvature_seeds(mask)
    assert {tuple(voxel) for voxel in found.tolist()} == {
        (k, j, i) for k in (4, 15) for j in (4, 17) for i in (4, 19)
    }
