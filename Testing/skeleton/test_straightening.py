"""A straightened vessel, checked on tubes whose straight form is known."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.branch_tools.straightening import straightened_frames

STEP, RADIUS, WIDTH = 0.5, 3.0, 16.0


def helix(count=400):
    turn = np.linspace(0, 3 * np.pi, count)
    return np.stack([20 + 15 * np.cos(turn), 20 + 15 * np.sin(turn), 5 + 4 * turn], axis=1)


def oblique():
    """World to voxels I, J, K of an oblique, anisotropic image with reversed K."""
    angle = np.radians(20)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0]])
    ijk_to_world = np.eye(4)
    ijk_to_world[:3, :3] = np.array([*turn, [0, 0, 1.0]]) * [0.7, 0.8, -0.9]
    ijk_to_world[:3, 3] = [-12, -20, 52]
    return np.linalg.inv(ijk_to_world)


def tube(points, world_to_ijk, shape):
    """Distance (mm) of each voxel to the nearest of the points."""
    from scipy.spatial import cKDTree

    kji = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    back = np.linalg.inv(world_to_ijk)
    world = kji[:, ::-1] @ back[:3, :3].T + back[:3, 3]
    return cKDTree(points).query(world)[0].reshape(shape).astype(np.float32)


def frames_of(points, radius=RADIUS):
    return straightened_frames(points, np.full(len(points), radius), WIDTH, STEP)


def test_a_coiled_tube_becomes_a_straight_one():
    world_to_ijk, shape = oblique(), (60, 75, 90)
    frames = frames_of(helix())
    found = frames.resample(tube(helix(), world_to_ijk, shape), world_to_ijk, outside=99)
    offsets = (np.arange(frames.shape[1]) - frames.half) * STEP
    straight = np.hypot(offsets[:, None], offsets[None, :])
    near = (straight >= 2) & (straight <= RADIUS)  # the wall; distances bend too much at the axis
    inner = found[12:-12]  # at the ends the nearest point of the line lies in another slice
    assert np.abs(inner[:, near] - straight[near]).max() < 0.45  # mm; half a voxel


def test_frames_are_right_handed_and_do_not_spiral():
    frames = frames_of(helix())
    assert np.allclose(np.linalg.det(frames.axes), 1)
    i = frames.axes[:, 0]
    change = np.diff(i, axis=0)
    spin = (change * frames.axes[:-1, 1]).sum(axis=1)  # about the centreline
    assert np.abs(spin).max() < 1e-3


def test_the_way_back_leads_to_the_voxel_that_is_shown():
    world_to_ijk, shape = oblique(), (60, 75, 90)
    image = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    frames = frames_of(helix())
    found = frames.resample(image, world_to_ijk, order=0)
    place = np.array([[40, 9, 20]])
    ijk = frames.to_world(place)[0] @ world_to_ijk[:3, :3].T + world_to_ijk[:3, 3]
    assert found[tuple(place[0])] == image[tuple(np.round(ijk[::-1]).astype(int))]


@pytest.mark.parametrize(
    ("points", "width", "words"),
    [([[0, 0, 0], [0, 0, 0.1]], WIDTH, "too short"), ([[0, 0, 0], [0, 0, 9]], 0, "above 0")],
)
def test_what_cannot_be_straightened_is_refused(points, width, words):
    with pytest.raises(InputError, match=words):
        straightened_frames(np.array(points, float), np.ones(2), width, STEP)
