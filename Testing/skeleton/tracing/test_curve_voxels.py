"""The voxels that curves pass."""

import numpy as np
import pytest

from PotentialSkeletonLib.tracing.curve_voxels import CurveVoxels, voxels_of

SHAPE = (12, 12, 12)


def passed(*curves, depth=None):
    depth = np.ones(SHAPE, np.float32) if depth is None else depth
    voxels = CurveVoxels(depth)
    for curve in curves:
        voxels.add(np.array(curve, float))
    return voxels


def mask_of(voxels, shape=SHAPE):
    """Where the curves pass; the voxels ascend."""
    flat = voxels.voxels()
    assert (np.diff(flat) > 0).all()
    mask = np.zeros(shape, bool)
    mask.reshape(-1)[flat] = True
    return mask


@pytest.mark.parametrize("noise", [-1e-5, 1e-5])
@pytest.mark.parametrize(
    "curve",
    [
        [(3, 4.5, 2), (3, 4.5, 8)],  # along a face
        [(2.5, 2.5, 2), (2.5, 2.5, 8)],  # along an edge
        [(2, 2, 5), (6, 6, 5)],  # through edges
        [(2, 2, 2), (6, 6, 6)],  # through corners
        [(2, 7, 4.5), (6, 3, 4.5)],
    ],
)
def test_on_faces_edges_and_corners_rounding_decides_nothing(curve, noise):
    def fine(a, b):
        return np.array(a) + np.linspace(0, 1, 30)[:, None] * (np.array(b) - a)

    exact = passed(fine(*curve))
    moved = passed(fine(*curve) + noise * np.array([1, -1, 0.5]))
    assert (mask_of(exact) == mask_of(moved)).all()
    own = np.argwhere(mask_of(exact))
    np.testing.assert_allclose(exact.positions(own), moved.positions(own), atol=1e-3)
    assert (voxels_of(np.array(curve) + noise) == voxels_of(curve)).all()


def test_a_curve_that_leaves_the_object_stays_connected_along_its_deepest_voxels():
    depth = np.zeros(SHAPE, np.float32)
    depth[5, 4:7, 1:11] = 1
    depth[5, 5, 1:11] = 2
    line = np.stack([np.full(33, 6.3), np.full(33, 5.0), np.linspace(2, 10, 33)], axis=1)
    line[0, 0] = 5
    found = np.argwhere(mask_of(passed(line, depth=depth)))
    assert found.tolist() == [[5, 5, i] for i in range(2, 11)]
    assert not mask_of(passed(line[1:] + np.array([3, 0, 0]), depth=depth)).any()
