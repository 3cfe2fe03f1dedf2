"""The liver phantom: what it says about itself is true of its voxels."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

SHAPES = [(8, 8, 8), (1, 64, 64), (3, 8, 50), (40, 96, 64)]


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((120, 128, 136), seed=1)


def depth(voxels, branches, spacing, step=0.1):
    """How deep voxels (n, 3) lie under the surface of the widest tube round them, in mm."""
    deepest = np.full(len(voxels), -np.inf)
    for branch in branches:
        mm = branch.points * spacing
        along = np.append(0, np.linalg.norm(np.diff(mm, axis=0), axis=1).cumsum())
        fine = np.linspace(0, along[-1], max(2, int(along[-1] / step)))
        axis = np.stack([np.interp(fine, along, mm[:, a]) for a in range(3)], 1)
        distance, nearest = cKDTree(axis).query(voxels * np.asarray(spacing))
        radius = np.interp(fine, along, branch.radius)
        deepest = np.maximum(deepest, radius[nearest] - distance)
    return deepest


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_any_shape_keeps_its_promises(shape, seed):
    made = liver_phantom(shape, seed)
    assert made.volume.shape == made.mask.shape == made.liver.shape == shape
    assert (made.volume.dtype, made.mask.dtype, made.liver.dtype) == (np.int16, np.uint8, np.uint8)
    assert made.seeds.shape == (len(made.seed_labels), 3)
    assert made.mask[tuple(made.seeds.T)].all()
    assert not made.mask[tuple(made.background_seeds.T)].any()
    for branch in made.centrelines:
        assert (branch.points >= -0.5).all()
        assert (branch.points <= np.array(shape) - 0.5).all()


@pytest.mark.parametrize("shape", [(70, 80, 90), (20, 90, 120)])
def test_the_mask_is_what_the_centrelines_and_radii_say(shape):
    made = liver_phantom(shape, 2)
    border = made.mask.astype(bool) & ~ndimage.binary_erosion(made.mask, border_value=1)
    inside = depth(np.argwhere(border), made.centrelines, made.spacing)
    outside = depth(np.argwhere(made.mask == 0)[::7], made.centrelines, made.spacing)
    assert inside.min() > -0.1
    assert inside.max() < np.linalg.norm(made.spacing)
    assert outside.max() < 0.1


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (8, 8)},
        {"shape": (8, 7, 8)},
        {"shape": "large"},
        {"seed": 1.5},
        {"noise": -1},
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments):
    with pytest.raises(InputError, match="phantom"):
        liver_phantom(**{"shape": (8, 8, 8), **arguments})
