"""Endpoints are those of a plain sinking of all voxels."""

import numpy as np
from hypothesis import given, settings, strategies
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import (
    distance_to_outside,
    geodesic_distance,
    neighbour_steps,
    unit_of,
)
from PotentialSkeletonLib import endpoints
from PotentialSkeletonLib.endpoints import (
    CAP_REACH,
    SLENDERNESS,
    endpoints_beyond,
    protrusion_endpoints,
)
from support.solids import line, random_solid, random_solids, tapered_y, tube


def padded(block):
    return np.pad(block, 1).astype(np.uint8)


def endpoints_by_sinking(distances, depth, spacing, min_length):
    """Maxima (flat) that are endpoints, and their widths: all voxels in one falling order."""
    flat, deep = distances.reshape(-1), depth.reshape(-1)
    offsets, _ = neighbour_steps(distances.shape, spacing)
    # A component: [voxels, kept maximum, width, whether it holds an endpoint].
    component_of, components = {}, []
    voxels = np.flatnonzero(flat >= 0)
    found = {}
    for voxel in voxels[np.lexsort((voxels, flat[voxels]))][::-1].tolist():
        adjacent = {component_of[voxel + n] for n in offsets.tolist() if voxel + n in component_of}
        if not adjacent:
            components.append([[], voxel, np.float32(0), False])
            adjacent = {len(components) - 1}
        best = max(
            adjacent, key=lambda n: (components[n][3], flat[components[n][1]], -components[n][1])
        )
        kept = components[best]
        for n in adjacent - {best}:
            kept[0] += components[n][0]
            kept[2] = max(kept[2], components[n][2])
            component_of.update(dict.fromkeys(components[n][0], best))
        length = (int(flat[kept[1]]) - int(flat[voxel])) * unit_of(spacing)
        is_endpoint = not kept[3] and length > SLENDERNESS * float(kept[2]) + min_length
        kept[2] = max(kept[2], deep[voxel])
        if is_endpoint:
            kept[3], found[kept[1]] = True, kept[2]
        kept[0].append(voxel)
        component_of[voxel] = best
    return found


def centre_by_labels(distances, maximum, reach, spacing):
    """The voxel of a protrusion's end, by labels of the whole volume."""
    spacing = np.asarray(spacing, float)
    start = np.array(np.unravel_index(maximum, distances.shape))
    reach = max(reach, 0.5 * min(spacing))
    away = np.ceil(3 * reach / spacing).astype(int) + 1
    low = np.maximum(start - away, 0)
    box = distances[tuple(slice(a, b) for a, b in zip(low, start + away + 1))]
    components = []
    for lowest in distances.flat[maximum] - np.array([reach, 2 * reach]) / unit_of(spacing):
        labels, _ = ndimage.label(box >= lowest, np.ones((3, 3, 3)))
        components.append(np.argwhere(labels == labels[tuple(start - low)]) * spacing)
    cap, slab = components
    axis = cap.mean(axis=0) - slab.mean(axis=0)
    if np.linalg.norm(axis) < 1e-9:  # a box that is filled alike on both sides, but for rounding
        return maximum
    axis /= np.linalg.norm(axis)
    along = (cap - cap.mean(axis=0)) @ axis
    across = np.linalg.norm(cap - cap.mean(axis=0) - along[:, None] * axis, axis=1)
    best = np.argmax(np.round(along - 2 * across, 6))
    voxel = np.rint(cap[best] / spacing).astype(int) + low
    return int(np.ravel_multi_index(voxel, distances.shape))


def check_endpoints(mask, seed, spacing, min_length):
    """How many endpoints there are."""
    rng = np.random.default_rng(seed)
    sources = rng.permutation(np.flatnonzero(mask))[: rng.integers(1, 5)]
    distances = geodesic_distance(mask, sources, spacing)
    depth = distance_to_outside(mask, spacing) * np.float32(rng.choice([0.3, 1, 1]))
    wanted = endpoints_by_sinking(distances, depth, spacing, min_length)
    ends = [centre_by_labels(distances, m, CAP_REACH * w, spacing) for m, w in wanted.items()]
    found = protrusion_endpoints(distances, depth, spacing, min_length, Progress())
    assert found.tolist() == sorted(set(ends))
    return len(wanted)


@given(mask=random_solids(largest=12), seed=strategies.integers(0, 10**6))
@settings(max_examples=40)
def test_endpoints_are_those_of_all_voxels_sinking(mask, seed):
    check_endpoints(padded(mask), seed, [(1.0, 1.0, 1.5), (1, 1, 1)][seed % 2], seed % 3)


def test_a_fork_has_endpoints_at_its_ends_and_a_ball_has_none():
    mask, axes = tapered_y()
    mask, fork = padded(mask), np.rint(axes[0][0]).astype(int) + 1
    source = np.ravel_multi_index(fork, mask.shape)
    depth, spacing = distance_to_outside(mask, (1, 1, 1)), (1, 1, 1)
    distances = geodesic_distance(mask, np.array([source]), spacing)
    flat = protrusion_endpoints(distances, depth, spacing, 2.0, Progress())
    found = np.unravel_index(flat, mask.shape)
    ends = sorted(np.rint(axis[-1] + 1).tolist() for axis in axes)
    assert np.abs(np.sort(np.stack(found, axis=1), axis=0) - np.sort(ends, axis=0)).max() <= 7
    ball = padded(tube(line((10, 10, 10), (10, 10, 10), 1), 8, (21, 21, 21)))
    middle = np.array([np.ravel_multi_index((11, 11, 11), ball.shape)])
    distances, depth = geodesic_distance(ball, middle, spacing), distance_to_outside(ball, spacing)
    assert protrusion_endpoints(distances, depth, spacing, 2.0, Progress()).size == 0


def test_protrusions_go_on_beyond_an_end_of_a_skeleton_unless_it_stays():
    mask = padded(np.ones((5, 5, 40)))
    row = np.ravel_multi_index((3, 3, 0), mask.shape)
    skeleton, spacing = np.arange(row + 10, row + 25), (1, 1, 1)
    distances, depth = (
        geodesic_distance(mask, skeleton, spacing),
        distance_to_outside(mask, spacing),
    )
    task = distances, depth, spacing, skeleton
    found = endpoints_beyond(*task, np.array([], int), Progress())
    assert found.tolist() == [row + 1, row + 40]
    assert endpoints_beyond(*task, skeleton[:1], Progress()).tolist() == [row + 40]


def test_distances_on_a_card_are_those_of_the_cpu(cpu_cuda, monkeypatch):
    monkeypatch.setattr(endpoints, "choose_device", lambda name: cpu_cuda)
    monkeypatch.setattr(endpoints, "LARGE", 1)
    for seed in range(4):
        mask = padded(random_solid(np.random.default_rng(seed), 18))
        sources, spacing = np.flatnonzero(mask)[[0, 7]], (2.3, 0.4, 1.0)
        launches = cpu_cuda.launches
        found = endpoints.geodesic_distance_on("cuda", mask, sources, spacing, Progress())
        assert cpu_cuda.launches > launches
        known = geodesic_distance(mask, sources, spacing)
        np.testing.assert_array_equal(found, known)
        more = np.flatnonzero(known > 0)[[-1, -9]]
        task = "cuda", mask, more, spacing, Progress(), known.copy()
        geodesic_distance(mask, more, spacing, known=known)
        np.testing.assert_array_equal(endpoints.geodesic_distance_on(*task), known)
