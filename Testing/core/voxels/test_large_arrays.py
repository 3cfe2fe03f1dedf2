"""Passes over large arrays by several threads give what numpy gives."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.voxels import large_arrays
from FuzzyVesselCoreLib.voxels.large_arrays import (
    at_least,
    same_values,
    value_range,
    zeros,
    zeros_soon,
)

SHAPES = [(), (0,), (7,), (3, 4, 5), (40, 50, 60)]


@pytest.fixture(autouse=True, params=[1 << 20, 100])
def _chunks(request, monkeypatch):
    monkeypatch.setattr(large_arrays, "CHUNK", request.param)


def values_of(shape, seed=0):
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_zeros(shape, kind):
    for filled in (zeros(shape, kind), zeros_soon(shape, kind).result()):
        assert filled.shape == shape
        assert filled.dtype == kind
        assert not filled.any()
        assert filled.flags.writeable


@pytest.mark.parametrize("shape", SHAPES)
def test_comparisons(shape):
    values = values_of(shape)
    lowest = np.float32(values.flat[0]) if values.size else np.float32(0)
    labels = at_least(values, lowest)
    assert labels.dtype == np.uint8
    assert labels.shape == shape
    np.testing.assert_array_equal(labels, (values >= lowest).astype(np.uint8))


def test_arrays_that_are_not_contiguous():
    values = values_of((20, 30, 40))[:, ::2, ::-1]
    np.testing.assert_array_equal(at_least(values, 0.3), values >= 0.3)
    assert same_values(values, values.copy())
    assert not same_values(values, values[::-1])


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_same_values(shape):
    values = values_of(shape)
    assert same_values(values, values)
    assert same_values(values, values.view())
    assert same_values(values, values.copy())
    assert not same_values(values, values.astype(np.float64))
    assert not same_values(values, values[None])
    for place in {0, values.size // 2, values.size - 1} if values.size else ():
        other = values.copy()
        other.flat[place] += 1
        assert not same_values(values, other)


@pytest.mark.parametrize("shape", [(1,), (3, 4, 5), (3, 700, 701)])
def test_the_range_is_that_of_all_values(shape):
    values = np.random.default_rng(6).normal(0, 3, shape).astype(np.float32)
    assert value_range(values) == (values.min(), values.max())
    assert value_range(values.T) == (values.min(), values.max())
    values.reshape(-1)[values.size // 2] = np.nan
    assert np.isnan(value_range(values)).all()
