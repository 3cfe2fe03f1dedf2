"""Distances along an object are the shortest; tips are those of a plain sinking of all voxels."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import ndimage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from FuzzyVesselCoreLib.voxels.distance import geodesic, geodesic_sweeps
from FuzzyVesselCoreLib.voxels.distance.euclidean import distance_to_outside
from FuzzyVesselCoreLib.voxels.distance.geodesic import (
    add_sources,
    geodesic_distance,
    neighbour_steps,
    unit_of,
)
from PotentialSkeletonLib.endpoints import endpoints as tips
from PotentialSkeletonLib.endpoints.end_caps import middle_of_cap
from PotentialSkeletonLib.endpoints.local_maxima import SLENDERNESS
from PotentialSkeletonLib.tracing.descent_paths import ways_in
from support.solids import line, plate, random_solids, rough, tapered_y, tube
from trust.random_solids import random_solid


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


def test_distances_along_go_round_corners():
    mask = np.zeros((3, 7, 7), np.uint8)
    mask[1, 1, 1:6] = mask[1, 1:6, 5] = 1
    source = np.ravel_multi_index((1, 1, 1), mask.shape)
    distances = geodesic_distance(mask, np.array([source]), (1, 1, 1))
    assert distances[1, 5, 5] * unit_of((1, 1, 1)) == pytest.approx(3 + np.sqrt(2) + 3, abs=0.1)
    assert distances[1, 5, 1] == -1


@pytest.mark.parametrize("sweeps", [0, 1, 100])
@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_distances_along_are_the_shortest(sweeps, mask, seed):
    """As far as from the nearest source, by another program; and so after more sources.

    By the queue alone, by the queue after sweeps that did not suffice, and by sweeps alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geodesic_sweeps, "MAX_SWEEPS", sweeps)
        patch.setattr(geodesic, "SWEEP_MIN_VOXELS", 0 if sweeps else np.inf)
        patch.setattr(geodesic, "SWEEP_MIN_SHARE", 0)
        check_distances(padded(mask), seed)


def check_distances(mask, seed):
    spacing = (2.3, 0.4, 1.0)
    object_ = np.flatnonzero(mask)
    sources = np.random.default_rng(seed).permutation(object_)[:4]
    offsets, weights = neighbour_steps(mask.shape, spacing)
    others = object_[:, None] + offsets
    inside = mask.reshape(-1)[others] > 0
    number = np.full(mask.size, -1)
    number[object_] = np.arange(len(object_))
    edges = number[others[inside]], np.nonzero(inside)[0]
    graph = csr_array((np.broadcast_to(weights, others.shape)[inside], edges), [len(object_)] * 2)
    expected = dijkstra(graph, indices=number[sources], min_only=True)
    expected[np.isinf(expected)] = -1
    distances = geodesic_distance(mask, sources, spacing)
    assert (distances.reshape(-1)[object_] == expected).all()
    assert (distances[mask == 0] == -1).all()
    one_by_one = geodesic_distance(mask, sources[:1], spacing)
    for n in range(2, len(sources) + 1):
        add_sources(one_by_one, sources[:n], spacing)
    reached = one_by_one >= 0  # pieces without the first source are not
    assert (one_by_one[reached] == distances[reached]).all()


@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_ways_in_go_from_neighbour_to_neighbour_until_there_is_a_force_or_the_core(mask, seed):
    mask, spacing = padded(mask), (1.0, 1.0, 1.5)
    rng = np.random.default_rng(seed)
    voxels = np.flatnonzero(mask)
    distances = geodesic_distance(mask, rng.permutation(voxels)[:2], spacing)
    has_force = rng.random(mask.shape) < 0.05
    forces = has_force[..., None] * np.float32([0, -1, 0])
    voxels = voxels[distances.reshape(-1)[voxels] >= 0]
    for field, ends in ((forces, has_force | (distances == 0)), (None, distances == 0)):
        for voxel, way in zip(voxels, ways_in(distances, field, voxels), strict=True):
            assert np.ravel_multi_index(way[0], mask.shape) == voxel
            assert ends[tuple(way.T)].tolist() == [False] * (len(way) - 1) + [True]
            for here, following in pairwise(way):
                block = distances[tuple(slice(n - 1, n + 2) for n in here)]
                nearest = np.argwhere(block == block[block >= 0].min())[0]
                assert (following == here + nearest - 1).all()


def tips_by_sinking(distances, depth, spacing, smallest):
    """Tops (flat indices) that are tips, and their widths: all voxels in one falling order."""
    flat, deep = distances.reshape(-1), depth.reshape(-1)
    offsets, _ = neighbour_steps(distances.shape, spacing)
    piece_of, pieces = {}, []  # a piece: [voxels, kept top, width, whether it holds a tip]
    voxels = np.flatnonzero(flat >= 0)
    found = {}
    for voxel in voxels[np.lexsort((voxels, flat[voxels]))][::-1].tolist():
        beside = {piece_of[voxel + n] for n in offsets.tolist() if voxel + n in piece_of}
        if not beside:
            pieces.append([[], voxel, np.float32(0), False])
            beside = {len(pieces) - 1}
        best = max(beside, key=lambda n: (pieces[n][3], flat[pieces[n][1]], -pieces[n][1]))
        kept = pieces[best]
        for n in beside - {best}:
            kept[0] += pieces[n][0]
            kept[2] = max(kept[2], pieces[n][2])
            piece_of.update(dict.fromkeys(pieces[n][0], best))
        length = (int(flat[kept[1]]) - int(flat[voxel])) * unit_of(spacing)
        is_tip = not kept[3] and length > SLENDERNESS * float(kept[2]) + smallest
        kept[2] = max(kept[2], deep[voxel])
        if is_tip:
            kept[3], found[kept[1]] = True, kept[2]
        kept[0].append(voxel)
        piece_of[voxel] = best
    return found


def middle_by_labels(distances, top, reach, spacing):
    """The place of a limb's end, by labels of the whole volume."""
    spacing = np.asarray(spacing, float)
    place = np.array(np.unravel_index(top, distances.shape))
    reach = max(reach, 0.5 * min(spacing))
    away = np.ceil(3 * reach / spacing).astype(int) + 1
    low = np.maximum(place - away, 0)
    box = distances[tuple(slice(a, b) for a, b in zip(low, place + away + 1))]
    pieces = []
    for lowest in distances.flat[top] - np.array([reach, 2 * reach]) / unit_of(spacing):
        labels, _ = ndimage.label(box >= lowest, np.ones((3, 3, 3)))
        pieces.append(np.argwhere(labels == labels[tuple(place - low)]) * spacing)
    cap, slab = pieces
    axis = cap.mean(axis=0) - slab.mean(axis=0)
    if not axis.any():
        return top
    axis /= np.linalg.norm(axis)
    along = (cap - cap.mean(axis=0)) @ axis
    across = np.linalg.norm(cap - cap.mean(axis=0) - along[:, None] * axis, axis=1)
    best = np.argmax(np.round(along - 2 * across, 6))
    voxel = np.rint(cap[best] / spacing).astype(int) + low
    return int(np.ravel_multi_index(voxel, distances.shape))


def check_tips(mask, seed, spacing, smallest):
    """How many tips there are."""
    rng = np.random.default_rng(seed)
    sources = rng.permutation(np.flatnonzero(mask))[: rng.integers(1, 5)]
    distances = geodesic_distance(mask, sources, spacing)
    depth = distance_to_outside(mask, spacing) * np.float32(rng.choice([0.3, 1, 1]))
    wanted = tips_by_sinking(distances, depth, spacing, smallest)
    tops = tips.may_be_tips(distances, depth, spacing, smallest)
    assert set(wanted) <= set(tops.tolist())
    ends = [middle_by_labels(distances, t, tips.CAP * w, spacing) for t, w in wanted.items()]
    assert tips.geodesic_tips(distances, depth, spacing, smallest).tolist() == sorted(set(ends))
    return len(wanted)


@given(mask=random_solids(largest=12), seed=strategies.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_tips_are_those_of_all_voxels_sinking(mask, seed):
    check_tips(padded(mask), seed, [(1.0, 1.0, 1.5), (1, 1, 1)][seed % 2], seed % 3)


def test_tips_of_solids_are_those_of_all_voxels_sinking():
    found = 0
    for seed in range(25):
        mask = padded(random_solid(np.random.default_rng(seed), 18))
        found += check_tips(mask, seed, [(1, 1, 1), (2.3, 0.4, 1.0)][seed % 2], (seed % 3) * 0.4)
    assert found > 50


def test_plateaus_have_the_tips_of_all_voxels_sinking():
    """Boxes and plates, whose distances have many equal tops, and a rough one with very many."""
    blocks = [np.ones((3, 3, 40)), plate(), rough(plate(), 0.3), np.ones((12, 12, 12))]
    for seed, block in enumerate(blocks):
        check_tips(padded(block), seed, (1, 1, 1), 0.0)


def test_a_fork_has_tips_at_its_ends_and_a_ball_has_none():
    mask, axes = tapered_y()
    mask, fork = padded(mask), np.rint(axes[0][0]).astype(int) + 1
    source = np.ravel_multi_index(fork, mask.shape)
    depth, spacing = distance_to_outside(mask, (1, 1, 1)), (1, 1, 1)
    distances = geodesic_distance(mask, np.array([source]), spacing)
    found = np.unravel_index(tips.geodesic_tips(distances, depth, spacing, 2.0), mask.shape)
    ends = sorted(np.rint(axis[-1] + 1).tolist() for axis in axes)
    assert np.abs(np.sort(np.stack(found, axis=1), axis=0) - np.sort(ends, axis=0)).max() <= 7
    ball = padded(tube(line((10, 10, 10), (10, 10, 10), 1), 8, (21, 21, 21)))
    middle = np.array([np.ravel_multi_index((11, 11, 11), ball.shape)])
    distances, depth = geodesic_distance(ball, middle, spacing), distance_to_outside(ball, spacing)
    assert tips.may_be_tips(distances, depth, spacing, 2.0).size == 0
    assert tips.geodesic_tips(distances, depth, spacing, 2.0).size == 0


def test_more_tops_than_there_is_room_for_at_first(monkeypatch):
    mask = np.zeros((5, 40, 40), np.uint8)
    mask[2, 20, 1:39] = mask[2, 1:39, 1:39:3] = 1
    distances = geodesic_distance(mask, np.array([2 * 1600 + 20 * 40 + 20]), (1, 1, 1))
    depth = distance_to_outside(mask, (1, 1, 1))
    wanted = tips.may_be_tips(distances, depth, (1, 1, 1), 1.0)
    monkeypatch.setattr(tips, "TOPS_A_PLANE", 2)
    monkeypatch.setattr(tips, "VOXELS_A_SLICE", 1)
    assert tips.may_be_tips(distances, depth, (1, 1, 1), 1.0).tolist() == wanted.tolist()
    assert len(wanted) > 20


@given(random_solids(largest=10), strategies.floats(0.3, 6))
@settings(max_examples=30, deadline=None)
def test_the_middle_of_a_cap_is_that_of_labels(mask, reach):
    mask, spacing = padded(mask), (0.7, 1.3, 0.9)
    inside = np.flatnonzero(mask)
    distances = geodesic_distance(mask, inside[:1], spacing)
    top = int(np.argmax(distances))
    wanted = middle_by_labels(distances, top, reach, spacing)
    assert middle_of_cap(distances, top, reach, spacing) == wanted
