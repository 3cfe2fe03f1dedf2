"""The liver phantom: what it says about itself is true of its voxels."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import cKDTree

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.phantom.vessels import TAPER, Branch, signed_distance

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


def test_a_seed_number_makes_one_phantom():
    first, again, other = (liver_phantom((20, 40, 40), seed) for seed in (5, 5, 6))
    assert (first.volume == again.volume).all()
    assert (first.mask == again.mask).all()
    assert (first.seeds == again.seeds).all()
    assert (first.volume != other.volume).any()
    assert (first.mask != other.mask).any()


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


@pytest.mark.parametrize("spacing", [None, (0.8, 1.5, 3.1)])
def test_the_mask_is_what_the_centrelines_and_radii_say(spacing):
    made = liver_phantom((70, 80, 90), 2, spacing)
    border = made.mask.astype(bool) & ~ndimage.binary_erosion(made.mask, border_value=1)
    inside = depth(np.argwhere(border), made.centrelines, made.spacing)
    outside = depth(np.argwhere(made.mask == 0)[::7], made.centrelines, made.spacing)
    assert inside.min() > -0.1
    assert inside.max() < np.linalg.norm(made.spacing)
    assert outside.max() < 0.1


def test_children_start_where_their_parent_ends(phantom):
    roots = 0
    for n, branch in enumerate(phantom.centrelines):
        if branch.parent < 0:
            roots += 1
            continue
        parent = phantom.centrelines[branch.parent]
        assert branch.parent < n
        assert parent.tree == branch.tree
        np.testing.assert_allclose(branch.points[0], parent.points[-1], atol=1e-3)
    assert roots == 2


def test_bifurcations_obey_murray_and_vessels_taper(phantom):
    branches = phantom.centrelines
    bifurcations = 0
    for n, parent in enumerate(branches):
        assert (np.diff(parent.radius) <= 0).all()
        assert parent.radius[-1] >= TAPER * parent.radius[0] - 1e-3
        children = [b for b in branches if b.parent == n]
        if children:
            bifurcations += 1
            total = sum(b.radius[0] ** 3 for b in children)
            assert len(children) == 2
            assert total == pytest.approx(parent.radius[-1] ** 3, rel=1e-2)
    assert bifurcations > 5


def test_the_noise_has_the_strength_asked_for_and_is_correlated():
    noisy, clean = (liver_phantom((24, 64, 64), 3, noise=n).volume.astype(float) for n in (14, 0))
    noise = (noisy - clean)[(clean > -500) & (clean < 500)]
    assert noise.std() == pytest.approx(14, rel=0.05)
    assert abs(noise.mean()) < 1
    field = noisy - clean
    for axis_ in (0, 1, 2):
        a, b = np.moveaxis(field, axis_, 0)[:-1], np.moveaxis(field, axis_, 0)[1:]
        assert 0.2 < np.corrcoef(a.ravel(), b.ravel())[0, 1] < 0.9


def test_partial_volume_keeps_a_tubes_volume():
    """The borders' shares add up to the cylinder's volume, whatever its direction."""
    spacing, radius = (1.0, 0.7, 1.4), 5.0
    ends = np.array([[8.0, 10, 6], [31, 45, 22]])
    tube = [Branch(ends, np.array([radius, radius]), -1, "tube")]
    distance = signed_distance(tube, (40, 56, 30), spacing, 0, 40)
    share = np.clip(0.5 - distance, 0, 1).sum() * np.prod(spacing)
    length = np.linalg.norm((ends[1] - ends[0]) * spacing)
    volume = np.pi * radius**2 * length + 4 / 3 * np.pi * radius**3
    assert share == pytest.approx(volume, rel=0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (8, 8)},
        {"shape": (8, 7, 8)},
        {"shape": "large"},
        {"shape": (2, 8, 8), "spacing": (900, 1, 1)},
        {"spacing": (1, np.nan, 1)},
        {"seed": 1.5},
        {"noise": -1},
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments):
    with pytest.raises(InputError, match="phantom"):
        liver_phantom(**{"shape": (8, 8, 8), **arguments})
