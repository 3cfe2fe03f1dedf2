"""Connected components of a mask, labelled slab by slab."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components import labels as labels_module
from FuzzyVesselCoreLib.voxels.components.labels import (
    count_components,
    fill_cavities,
    label_components,
)


def masks():
    rng = np.random.default_rng(3)
    for _ in range(60):
        yield rng.random(rng.integers(1, 12, 3)) < rng.random()
    yield np.zeros((5, 4, 3), bool)
    yield np.ones((1, 1, 7), bool)


@pytest.mark.parametrize("slab", [1, 20, 1 << 22])
@pytest.mark.parametrize("corners", [True, False])
def test_numbers_are_those_of_scipy_whatever_the_slabs(slab, corners, monkeypatch):
    monkeypatch.setattr(labels_module, "SLAB_VOXELS", slab)
    structure = ndimage.generate_binary_structure(3, 3 if corners else 1)
    for mask in masks():
        labels, count = ndimage.label(mask, structure)
        found, components = label_components(mask, 26 if corners else 6)
        np.testing.assert_array_equal(found, labels)
        assert components == count == count_components(mask, 26 if corners else 6)


def test_the_callback_is_asked_at_each_slab(monkeypatch):
    monkeypatch.setattr(labels_module, "SLAB_VOXELS", 1)
    mask, calls = np.ones((9, 3, 3), bool), []
    label_components(mask, progress=Progress(calls.append))
    assert len(calls) == 3 * 9

    for function in (label_components, count_components, fill_cavities):
        with pytest.raises(Cancelled):
            function(mask, progress=Progress(lambda share: False))
