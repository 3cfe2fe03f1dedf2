"""All field methods give the same graph, also where only rounding errors tell places apart."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial import cKDTree

import support.solids as solids
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import cpu_component_volumes, skeletonize
from PotentialSkeletonLib.critical_points.divergence_seeds import unit_divergence
from PotentialSkeletonLib.critical_points.local_minima import lowest_first, whole_rows
from support.solids import line, tube


def cross(middle):
    """Three tubes along the axes that cross in their middles."""
    ends = middle + 22 * np.stack([-np.eye(3), np.eye(3)], axis=1)
    side = int(2 * middle) + 1
    return np.any([tube(line(*pair), 5, (side, side, side)) for pair in ends], axis=0)


def torus(middle):
    turn = np.linspace(0, 2 * np.pi, 900)
    axis = middle + 20 * np.stack([0 * turn, np.cos(turn), np.sin(turn)], axis=1)
    return tube(axis, 5, (int(2 * middle[0]) + 1, *[int(2 * middle[1]) + 1] * 2))


def frame():
    mask = np.pad(np.ones((9, 41, 41), bool), 2)
    mask[:, 12:33, 12:33] = False
    return mask


def diagonal():
    return tube(line((8, 8, 8), (51, 51, 51)), 5.5, (60, 60, 60))


SHAPES = {
    "trefoil": solids.trefoil()[0],
    "ring": solids.ring()[0],
    "plate": solids.plate(),
    "cube": solids.cube(),
    "balls": solids.two_balls(13),
    "cross": cross(30),
    "cross between voxels": cross(29.5),
    "torus": torus(np.array([9, 30, 30])),
    "torus between voxels": torus(np.array([9.5, 29.5, 29.5])),
    "frame": frame(),
    "diagonal": diagonal(),
}


@pytest.fixture
def other_device(monkeypatch):
    """Each force rounded otherwise: what another device may give."""
    plain = cpu_component_volumes.field_of_components

    def noisy(*arguments, **options):
        field = plain(*arguments, **options)
        noise = np.random.default_rng(0).standard_normal(field.vectors.shape)
        vectors = (field.vectors * (1 + 1e-7 * noise)).astype(np.float32)
        assert (vectors != field.vectors).any()
        return dataclasses.replace(field, vectors=vectors)

    def choose():
        monkeypatch.setattr(cpu_component_volumes, "field_of_components", noisy)

    return choose


def largest_difference(first, second):
    """Largest distance of a point of one skeleton from the other; the graphs must be the same."""
    assert (first.voxels == second.voxels).all()
    assert [node.kind for node in first.nodes] == [node.kind for node in second.nodes]
    for one, other in zip(first.branches, second.branches, strict=True):
        assert (one.start, one.end) == (other.start, other.end)
    clouds = [
        np.concatenate([n.position[None] for n in s.nodes] + [b.points for b in s.branches])
        for s in (first, second)
    ]
    return max(cKDTree(a).query(b)[0].max() for a, b in (clouds, clouds[::-1]))


@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("name", SHAPES)
def test_methods_and_devices_give_the_same_graph(name, level, other_device):
    """Positions within 0.05 voxel."""
    fft = skeletonize(SHAPES[name], level=level, method="fft")
    serial = skeletonize(SHAPES[name], level=level, method="direct-serial")
    other_device()
    noisy = skeletonize(SHAPES[name], level=level, method="fft")
    assert largest_difference(fft, serial) <= 0.05
    assert largest_difference(fft, noisy) <= 0.05


def test_rounding_does_not_decide_which_seed_comes_first():
    values = np.array([0.5, -1.0, -1.0 + 1e-7, 0.5 - 1e-7, -2.0])
    assert lowest_first(values).tolist() == [4, 1, 2, 0, 3]
    assert lowest_first(-values).tolist() == [0, 3, 1, 2, 4]
    assert lowest_first(values[:0]).tolist() == []


def test_the_divergence_of_unit_forces():
    """Towards a line: -1 over the distance from it; infinite beside voxels without force."""
    k, j, i = np.indices((9, 41, 41)) - np.array([4, 20, 20])[:, None, None, None]
    vectors = np.stack([0 * k, -j, -i], axis=-1).astype(np.float32)
    divergence, low, high = unit_divergence(3 * vectors, whole_rows(vectors.shape), Progress())
    away = np.hypot(j, i)[4]
    far = (away > 6) & (away < 19)
    np.testing.assert_allclose(divergence[4][far], -1 / away[far], rtol=0.02)
    finite = divergence[np.isfinite(divergence)]
    assert (low, high) == (finite.min(), finite.max())
    assert np.isinf(divergence[4, 20, 21])
