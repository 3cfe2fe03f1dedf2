"""Bounding boxes of masks."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box, box_size, full_box, padded_box

masks = arrays(bool, st.tuples(*[st.integers(1, 6)] * 3), elements=st.integers(0, 1).map(bool))


@settings(max_examples=60)
@given(masks)
def test_the_box_is_the_range_of_the_voxels(mask):
    voxels = np.argwhere(mask)
    box = bounding_box(mask)
    if not len(voxels):
        assert box is None
        return
    assert [side.start for side in box] == voxels.min(axis=0).tolist()
    assert [side.stop - 1 for side in box] == voxels.max(axis=0).tolist()


def test_a_margin_ends_at_the_volume():
    box = (slice(2, 3), slice(0, 4), slice(5, 9))
    assert padded_box(box, (1, 2, 3), (4, 4, 10)) == (slice(1, 4), slice(0, 4), slice(2, 10))


def test_the_full_box_has_all_voxels():
    volume = np.zeros((3, 4, 5))
    assert volume[full_box(volume.shape)].shape == volume.shape
    assert box_size(full_box(volume.shape)) == volume.size
