"""The median without masked arrays."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.voxels.medians import median


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (4, 5), (3, 5, 7), (4, 4, 4)])
def test_the_same_bits_as_numpy(kind, shape):
    values = (np.random.default_rng(len(shape)).normal(50, 20, shape) / 3).astype(kind)
    found, expected = median(values), np.median(values)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def test_nan():
    assert np.isnan(median(np.array([1.0, np.nan, 3.0, 4.0])))
    assert np.isnan(median(np.array([], np.float32)))
