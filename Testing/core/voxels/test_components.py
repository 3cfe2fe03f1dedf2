"""Pieces of a mask, numbered slab by slab."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.voxels.components import labels as labelling
from FuzzyVesselCoreLib.voxels.components.labels import count_pieces, label_pieces
from PotentialSkeletonLib.object.solids import fill_cavities


def masks():
    rng = np.random.default_rng(3)
    for _ in range(60):
        yield rng.random(rng.integers(1, 12, 3)) < rng.random()
    yield np.zeros((5, 4, 3), bool)
    yield np.ones((1, 1, 7), bool)


@pytest.mark.parametrize("slab", [1, 20, 1 << 22])
@pytest.mark.parametrize("corners", [True, False])
def test_numbers_are_those_of_scipy_whatever_the_slabs(slab, corners, monkeypatch):
    monkeypatch.setattr(labelling, "SLAB", slab)
    structure = ndimage.generate_binary_structure(3, 3 if corners else 1)
    for mask in masks():
        labels, count = ndimage.label(mask, structure)
        found, pieces = label_pieces(mask, corners)
        np.testing.assert_array_equal(found, labels)
        assert pieces == count == count_pieces(mask, corners)


def test_the_callback_is_asked_at_each_slab(monkeypatch):
    monkeypatch.setattr(labelling, "SLAB", 1)
    mask, calls = np.ones((9, 3, 3), bool), []
    label_pieces(mask, report=lambda: calls.append(1))
    assert len(calls) == 3 * 9

    def cancel():
        raise Cancelled("no more")

    for function in (label_pieces, count_pieces, fill_cavities):
        with pytest.raises(Cancelled):
            function(mask, report=cancel)
