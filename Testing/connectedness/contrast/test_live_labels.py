"""Labels of clicks that move: each position gives what a run of its own gives, bit for bit."""

import numpy as np
import pytest
from scipy import ndimage

pytest.importorskip("numba")
from FuzzyConnectedGPULib import segment
from FuzzyConnectedGPULib.contrast.evidence.vessel_evidence import vessel_evidence
from FuzzyConnectedGPULib.contrast.live.kept_components import KeptComponents
from FuzzyConnectedGPULib.contrast.live.live_labels import LiveLabels
from FuzzyConnectedGPULib.contrast.live.live_paths import LivePaths
from FuzzyConnectedGPULib.contrast.live.max_tree import max_tree
from FuzzyConnectedGPULib.contrast.paths.reached import STEPS
from FuzzyConnectedGPULib.contrast.paths.widest_paths import widest_paths
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

FLOORS = STEPS // 2, STEPS, 1
SHAPE = (24, 40, 40)


def in_order(reached):
    order = np.argsort(reached.voxels)
    return [array[order] for array in (reached.voxels, reached.levels, reached.contrast)]


def noise(rng, sigma):
    values = ndimage.gaussian_filter(rng.normal(0, 1, rng.integers(1, 13, 3)), sigma)
    return (values / max(values.std(), 1e-6)).astype(np.float32)


@pytest.mark.parametrize("seed", range(60))
def test_kept_paths_are_the_paths_of_all_starts(seed):
    rng = np.random.default_rng(seed)
    contrast = noise(rng, rng.choice([0, 0.7]))
    if seed % 3 == 0:
        contrast = np.round(contrast)  # plateaus, so ties
    smooth = rng.normal(0, 1, contrast.shape).astype(np.float32)
    inside = (rng.random(contrast.shape) < 0.8).astype(np.uint8) if seed % 2 else None
    paths = LivePaths(contrast, smooth, inside)
    for run in range(8):
        starts = [tuple(rng.integers(0, contrast.shape)) for _ in range(rng.integers(0, 4))]
        unit, floor = float(rng.uniform(0.2, 1)), int(rng.choice(FLOORS))
        brighter = None if run % 3 == 0 else float(rng.uniform(-1, 2))
        rivals = None if brighter is None else (smooth, brighter)
        ours, _ = paths.widest_paths(starts, unit, floor, brighter)
        theirs = widest_paths(contrast, inside, starts, unit, floor, rivals)
        for one, other in zip(in_order(ours), in_order(theirs), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(40))
def test_paths_of_starts_that_stay_are_kept(seed):
    """One start is another one from run to run, or there is one more or less."""
    rng = np.random.default_rng(seed)
    contrast = noise(rng, rng.choice([0, 0.7]))
    if seed % 2:
        contrast = np.round(contrast)
    smooth = rng.normal(0, 1, contrast.shape).astype(np.float32)
    paths = LivePaths(contrast, smooth, None)
    brighter, unit, floor = float(rng.uniform(0, 3)), float(rng.uniform(0.2, 1)), 1
    smooth[rng.random(contrast.shape) < 0.5] = -1  # starts are no rivals
    free = np.argwhere(smooth <= brighter)
    if seed % 3 == 0:
        floor = STEPS // 2
    stay = list(map(tuple, rng.choice(free, 2)))
    same, before = 0, None
    for run in range(10):
        starts = [*stay, *map(tuple, rng.choice(free, run % 3))]
        if run == 6:
            stay = stay[1:]
        ours, kept = paths.widest_paths(starts, unit, floor, brighter)
        theirs = widest_paths(contrast, None, starts, unit, floor, (smooth, brighter))
        for one, other in zip(in_order(ours), in_order(theirs), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(ours.voxels[: kept.paths.voxels.size], kept.paths.voxels)
        same, before = same + (kept.paths is before), kept.paths
    assert same >= 6


@pytest.mark.parametrize("seed", range(10))
def test_the_tree_knows_the_weakest_voxel_of_the_widest_path(seed):
    """Against the definition: connected at each contrast, and not above it."""
    rng = np.random.default_rng(seed)
    contrast = np.round(rng.normal(0, 2, (4, 5, 6))).astype(np.float32)
    tree = max_tree(contrast, None, -1.0)
    starts = rng.random(tree.voxels.size) < 0.05
    wanted = np.full(contrast.size, -np.inf)
    for level in np.unique(contrast[contrast >= -1]):
        parts, _ = ndimage.label(contrast >= level, np.ones((3, 3, 3)))
        with_start = np.unique(parts.ravel()[tree.voxels[starts]])
        wanted[np.isin(parts.ravel(), with_start[with_start > 0])] = level
    np.testing.assert_array_equal(tree.widest_from(starts), wanted[tree.voxels])


@pytest.fixture(scope="module")
def scan():
    """A phantom that holds several tissues, so that brighter objects compete for its voxels."""
    return liver_phantom(SHAPE)


def dragged(scan, rng, count):
    """Positions of a point round a vessel: in it, in tissue, and outside of the liver."""
    for _ in range(count):
        at = scan.seeds[1] + rng.normal(0, rng.choice([1, 3, 9]), 3)
        yield tuple(int(c) for c in np.clip(at, 0, np.array(SHAPE) - 1))


def whole(found, shape):
    labels = np.zeros(shape, np.uint8)
    labels[found.box] = found.labels
    return labels


def check(live, evidence, volume, positive, negative, mask=None, threshold=None, **options):
    """A step of a drag against a run of its own on the same evidence."""
    from FuzzyConnectedGPULib import binarize
    from FuzzyConnectedGPULib.contrast import contrast_connectedness

    cut = 0.5 if threshold is None else threshold
    step = live.labels(positive, negative or None, cut, **options)
    scene, _ = contrast_connectedness(
        volume, positive, background_seeds=negative or None, mask=mask, device="cpu",
        find_evidence=lambda *_: evidence,
    )  # fmt: skip
    np.testing.assert_array_equal(whole(step, volume.shape), binarize(scene, cut))
    return int(step.labels.sum())


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("which", ["further point", "first point", "not vessel"])
def test_each_step_of_a_drag_gives_the_labels_of_a_run_of_its_own(scan, which, masked):
    rng = np.random.default_rng(5)
    inside = (scan.liver > 0) | (scan.mask > 0)
    mask = ndimage.binary_dilation(inside).astype(np.uint8) if masked else None
    first, other = (tuple(map(int, seed)) for seed in scan.seeds[:2])
    evidence = vessel_evidence(scan.volume, scan.spacing, first, mask)
    assert not evidence._tissue.alone or masked
    live = LiveLabels(evidence, scan.volume.shape, mask)
    sizes = []
    for number, at in enumerate(dragged(scan, rng, 90)):
        if masked and not mask[at] and which != "not vessel":
            continue
        points = {
            "further point": ([first, at], [(3, 20, 20)]),
            "first point": ([at, other], []),
            "not vessel": ([first, other], [at]),
        }[which]
        if len({*points[0], *points[1]}) < sum(map(len, points)):
            continue  # one voxel cannot be both
        threshold = (None, 0.3, 0.7)[number % 3]
        sizes.append(check(live, evidence, scan.volume, *points, mask, threshold))
    assert len(sizes) > 20
    assert len(set(sizes)) > 5  # what is dragged matters


def test_a_whole_run_gives_the_same_while_another_point_than_the_first_moves(scan):
    rng = np.random.default_rng(8)
    first = tuple(map(int, scan.seeds[0]))
    evidence = vessel_evidence(scan.volume, scan.spacing, first)
    live = LiveLabels(evidence, scan.volume.shape)
    for at in dragged(scan, rng, 6):
        run = segment(scan.volume, [first, at], spacing=scan.spacing, device="cpu")
        found = live.labels([first, at])
        np.testing.assert_array_equal(whole(found, SHAPE), run.labels)
        assert found.exact
    assert not live.labels([at, first]).exact  # other tissue may be around another first point


def test_on_the_device(scan, cpu_cuda):
    rng = np.random.default_rng(6)
    part = np.s_[4:20, 8:32, 6:34]
    volume = np.ascontiguousarray(scan.volume[part])
    first = tuple(int(c) - s.start for c, s in zip(scan.seeds[0], part))
    if not all(0 <= c < n for c, n in zip(first, volume.shape)):
        first = tuple(n // 2 for n in volume.shape)
    with cpu_cuda as gpu:
        evidence = vessel_evidence(volume, scan.spacing, first, gpu=gpu)
        assert evidence.device_bytes
        live = LiveLabels(evidence, volume.shape)
        for _ in range(12):
            at = tuple(int(rng.integers(0, n)) for n in volume.shape)
            check(live, evidence.to_host(), volume, [first, at], [], gpu=gpu)


def test_a_step_that_is_overtaken_or_refused_leaves_nothing_behind(scan):
    first, other = (tuple(map(int, seed)) for seed in scan.seeds[:2])
    evidence = vessel_evidence(scan.volume, scan.spacing, first)
    live, shares = LiveLabels(evidence, scan.volume.shape), []

    def overtaken(share):
        shares.append(share)
        return len(shares) < 3

    with pytest.raises(Cancelled):
        live.labels([first], [other], progress=overtaken)
    with pytest.raises(InputError, match="same voxel"):
        live.labels([first], [first])
    with pytest.raises(InputError, match="threshold"):
        live.labels([first], threshold=0.0)
    check(live, evidence, scan.volume, [first], [])


def test_a_component_that_is_known_to_be_too_large_is_not_searched():
    components, searched = KeptComponents(), []

    def search(voxels):
        searched.append(voxels)
        return np.arange(voxels), np.ones(voxels, np.float32)

    def found(of, start, threshold, limit, voxels):
        given = of, start, threshold, threshold, limit  # the click's value is the threshold
        return components.component(*given, lambda _: search(voxels))

    assert found("contrast", 3, 5.0, 10, 11) is None
    assert found("contrast", 4, 5.0, 10, 11) is None  # among the voxels that were found
    assert found("contrast", 4, 4.0, 9, 11) is None
    assert len(searched) == 1
    assert found("contrast", 4, 5.5, 10, 2)[0].size == 2  # a higher threshold may hold fewer
    assert found("contrast", 40, 5.0, 10, 3)[0].size == 3
    assert found("difference", 4, 5.0, 10, 4)[0].size == 4
    assert found("contrast", 5, 5.0, 20, 15)[0].size == 15  # a higher limit
    assert len(searched) == 5
    assert found("contrast", 5, 5.0, 20, 15)[0].size == 15
    assert found("contrast", 5, 5.0, 14, 15) is None
    assert len(searched) == 5
