"""Several vessels while a point moves: each position gives what a whole run gives, bit for bit."""

import numpy as np
import pytest
from scipy import ndimage

pytest.importorskip("numba")
from FuzzyConnectedGPULib import HandOver, segment_several
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyConnectedGPULib.contrast.evidence.evidence import Evidence
from FuzzyConnectedGPULib.contrast.live import kept_reach, max_tree
from FuzzyConnectedGPULib.relative import contrast_owners, disputed, node_owners
from FuzzyConnectedGPULib.relative.kept.changed_levels import change_levels
from FuzzyConnectedGPULib.relative.kept.changed_owners import change_owners
from FuzzyConnectedGPULib.several.live import kept_division, kept_labels, live_vessels, warm_up
from FuzzyConnectedGPULib.several.live.listed_labels import distinct, paint, survey
from FuzzyConnectedGPULib.several.live.live_vessels import LiveVessels
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.phantom.image import HEPATIC, PORTAL
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from support import wide_vessel
from support.crossing_vessels import crossing

SHAPE = (24, 40, 40)
DEVICE = dict(device="cpu")


@pytest.fixture(scope="module")
def scan():
    return liver_phantom(SHAPE)


@pytest.fixture(scope="module")
def points(scan):
    """Two points of each tree, in the middle of thick branches."""
    found = {}
    for name, tree in (("portal", PORTAL), ("hepatic", HEPATIC)):
        branches = [each for each in scan.centrelines if each.tree == tree]
        middle = np.concatenate([each.points for each in branches])
        radius = np.concatenate([each.radius for each in branches])
        thick = middle[np.argsort(-radius)][: max(len(middle) // 4, 2)]
        chosen = np.round(thick[[0, -1]]).astype(int)
        found[name] = [tuple(map(int, each)) for each in chosen]
    return found


def moved(points, rng, number):
    """The points with one of them somewhere else."""
    vessels = {name: list(each) for name, each in points.items()}
    background = [(3, 20, 20)]
    name = ("portal", "hepatic", "background")[number % 3]
    list_ = background if name == "background" else vessels[name]
    place = -1 if number % 2 else 0
    if name == "portal":
        place = -1  # the first point of all decides on the tissue
    step = rng.normal(0, rng.choice([1, 3, 9]), 3)
    list_[place] = tuple(int(c) for c in np.clip(list_[place] + step, 0, np.array(SHAPE) - 1))
    return vessels, background


def whole(found):
    labels = np.zeros(SHAPE, np.uint8)
    labels[found.box] = found.labels
    return labels


CASES = {
    "plain": {},
    "less": dict(threshold=0.7),
    "more": dict(threshold=0.3),
    "gaps": dict(fill_gaps=1),
    "half": dict(border="half"),
    "masked": {},
    "handed over": {},
}


@pytest.mark.parametrize("case", CASES)
def test_each_step_of_a_drag_gives_the_labels_of_a_whole_run(scan, points, case, monkeypatch):
    rng = np.random.default_rng(7)
    options = dict(spacing=scan.spacing, cached=CachedConnectedness(), **DEVICE, **CASES[case])
    inside = ndimage.binary_dilation((scan.liver > 0) | (scan.mask > 0))
    if case == "masked":
        options["mask"] = inside
    hand_overs = [HandOver(points["portal"][1], 2)] if case == "handed over" else []
    first = segment_several(scan.volume, points, **options)
    kept = options["cached"].live_labels(
        scan.volume, scan.spacing, mask=options.get("mask"), border=options.get("border", "drawn")
    )
    live = LiveVessels(kept, scan.spacing)
    live.prepare()
    floors, labels_on = [], kept.labels_on
    monkeypatch.setattr(
        kept, "labels_on", lambda *a, **o: floors.append(o["floor"]) or labels_on(*a, **o)
    )
    seen = set()
    for number in range(18):
        live._division.uncertain = number % 3 == 2  # else most steps would follow all levels
        vessels, background = moved(points, rng, number)
        try:
            run = segment_several(
                scan.volume, vessels, background_seeds=background, hand_overs=hand_overs, **options
            )
        except InputError:
            continue  # outside of the mask, or one voxel twice
        found = live.labels_on(
            "cpu", vessels, background, options.get("threshold", first.threshold),
            hand_overs=hand_overs, fill=options.get("fill_gaps", 0),
        )  # fmt: skip
        np.testing.assert_array_equal(whole(found), run.labels)
        assert found.exact
        seen.add(tuple(np.bincount(run.labels.ravel(), minlength=3)))
    assert len(seen) > 5  # what is dragged matters
    assert (case == "gaps") == (not any(floors))


def test_beside_a_vessel_that_is_its_own_background(monkeypatch):
    """Its voxels without contrast are shared at each step, and what lies around its click stays."""
    volume, spacing = wide_vessel.scan(), wide_vessel.SPACING
    points = {"bright": [wide_vessel.FIRST], "wide": [wide_vessel.IN_WIDE]}
    options = dict(spacing=spacing, cached=CachedConnectedness(), **DEVICE)
    first = segment_several(volume, points, **options)
    live = LiveVessels(options["cached"].live_labels(volume, spacing), spacing)
    searched, near_click = [], Evidence.near_click
    monkeypatch.setattr(Evidence, "near_click", lambda *a: searched.append(a[2]) or near_click(*a))
    rng, shared = np.random.default_rng(3), 0
    for number in range(12):
        place = wide_vessel.IN_WIDE if number % 3 else (12, 40, 70)
        moved = np.clip(place + rng.normal(0, 3, 3), 0, np.array(volume.shape) - 1)
        moved = tuple(int(c) for c in moved)
        vessels = points | {"third": [moved]} if number % 2 else points
        background = [] if number % 2 else [moved]
        searched.clear()
        found = live.labels_on("cpu", vessels, background, first.threshold)
        assert number < 2 or wide_vessel.IN_WIDE not in searched
        run = segment_several(volume, vessels, background_seeds=background, **options)
        labels = np.zeros(volume.shape, np.uint8)
        labels[found.box] = found.labels
        np.testing.assert_array_equal(labels, run.labels)
        shared += live._division._shared.size
    assert shared > 1000
    assert labels[wide_vessel.IN_WIDE] == 2


def test_in_a_volume_without_noise_a_point_stays_with_its_vessel():
    """The contrast is so far above the noise there that all paths have the highest level."""
    volume = np.zeros((12, 14, 16))
    volume[5:8, 6:9], volume[5:8, :, 7:10] = 100, 100
    options = dict(spacing=(1.0, 1.0, 1.0), cached=CachedConnectedness(), **DEVICE)
    vessels = {"one": [(6, 7, 1), (6, 7, 14)], "other": [(6, 1, 8)]}
    run = segment_several(volume, vessels, **options)
    kept = options["cached"].live_labels(volume, options["spacing"])
    found = LiveVessels(kept, options["spacing"]).labels_on("cpu", vessels, None, run.threshold)
    labels = np.zeros(volume.shape, np.uint8)
    labels[found.box] = found.labels
    np.testing.assert_array_equal(labels, run.labels)
    assert labels[6, 7, 1] == labels[6, 7, 14] == 1
    assert labels[6, 1, 8] == 2


def bars(rng, kind):
    """A volume of bars along the axes: without noise, blurred, or in noise."""
    shape = tuple(int(n) for n in rng.integers(8, 22, 3))
    volume = np.zeros(shape)
    for _ in range(rng.integers(2, 6)):
        along, sides = int(rng.integers(3)), [slice(None)] * 3
        for axis in {0, 1, 2} - {along}:
            first = int(rng.integers(0, shape[axis] - 2))
            sides[axis] = slice(first, first + int(rng.integers(2, 5)))
        volume[tuple(sides)] += rng.choice([100, 100, 60, 30, 400])
    if kind == "blurred":
        volume = ndimage.gaussian_filter(volume, 0.7)
    if kind == "noise":
        volume += rng.normal(0, rng.choice([1, 8, 20]), shape)
    return np.round(volume).astype(np.int16)


@pytest.mark.parametrize("kind", ["plain", "blurred", "noise"])
def test_points_that_are_dragged_anywhere_in_random_volumes(kind, monkeypatch):
    """Also beside one another, into other vessels, and where background removes a leak."""
    monkeypatch.setattr(kept_division, "MUCH", 10)  # every step follows the one before
    followed = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        volume = bars(rng, kind)
        places = np.argwhere(volume > np.percentile(volume, 60))
        mask = np.ones(volume.shape, bool)
        mask[:, : seed % 2 * 3] = False
        points = [[tuple(map(int, at))] for at in rng.choice(places, 4)]
        options = dict(spacing=(1.5, 1.0, 1.0), cached=CachedConnectedness(), mask=mask, **DEVICE)
        live = None
        for step in range(7):
            which = int(rng.integers(1, 4)) if step else 0
            moved = [list(each) for each in points]
            moved[which][0] = tuple(map(int, places[rng.integers(len(places))]))
            vessels, background = {str(n): moved[n] for n in range(3)}, moved[3]
            try:
                run = segment_several(volume, vessels, background_seeds=background, **options)
            except InputError:
                continue  # outside of the mask, or one voxel twice
            points = moved
            if live is None:
                kept = options["cached"].live_labels(volume, options["spacing"], mask=mask)
                live = LiveVessels(kept, options["spacing"])
                live._division.uncertain = True
                follow = live._division._follow
                count = []
                live._division._follow = lambda *a, f=follow, c=count: c.append(1) or f(*a)
            found = live.labels_on("cpu", vessels, background, run.threshold)
            labels = np.zeros(volume.shape, np.uint8)
            labels[found.box] = found.labels
            np.testing.assert_array_equal(labels, run.labels)
        followed += live is not None and len(count)
    assert followed > 6


def test_a_vessel_that_only_gets_branches_has_labels(scan, points):
    options = dict(spacing=scan.spacing, cached=CachedConnectedness(), **DEVICE)
    vessels = {"empty": (), "portal": points["portal"]}
    hand_overs = [HandOver((12, 20, 20), 1)]
    run = segment_several(scan.volume, vessels, hand_overs=hand_overs, **options)
    live = LiveVessels(options["cached"].live_labels(scan.volume, scan.spacing), scan.spacing)
    found = live.labels_on("cpu", vessels, hand_overs=hand_overs)
    np.testing.assert_array_equal(whole(found), run.labels)
    assert (run.labels == 2).any()


def test_a_point_of_two_vessels_is_refused_as_in_a_whole_run(scan, points):
    cached = CachedConnectedness()
    segment_several(scan.volume, points, spacing=scan.spacing, cached=cached, **DEVICE)
    live = LiveVessels(cached.live_labels(scan.volume, scan.spacing), scan.spacing)
    both = {"portal": points["portal"], "hepatic": points["portal"][:1]}
    with pytest.raises(InputError):
        live.labels_on("cpu", both)
    with pytest.raises(Cancelled):
        live.labels_on("cpu", points, progress=lambda _share: False)
    found = live.labels_on("cpu", points)
    run = segment_several(scan.volume, points, spacing=scan.spacing, **DEVICE)
    np.testing.assert_array_equal(whole(found), run.labels)


def test_on_the_device(cpu_cuda, monkeypatch):
    import FuzzyConnectedGPULib.contrast.contrast_model as contrast_model
    from FuzzyConnectedGPULib.contrast.live import live_labels
    from FuzzyConnectedGPULib.several import several_vessels

    for module in (contrast_model, several_vessels, live_labels):
        monkeypatch.setattr(module, "choose_device", lambda _word: cpu_cuda)
    volume, rng = crossing(), np.random.default_rng(2)
    vessels = {"one": [(6, 1, 10)], "other": [(6, 10, 1)]}
    device = dict(device="cuda", spacing=(1.0, 1.0, 1.0), cached=CachedConnectedness())
    segment_several(volume, vessels, **device)
    live = LiveVessels(device["cached"].live_labels(volume, device["spacing"]), device["spacing"])
    for _ in range(2):
        moved = {**vessels, "other": [tuple(int(rng.integers(0, n)) for n in volume.shape)]}
        found = live.labels_on("cuda", moved)
        labels = np.zeros(volume.shape, np.uint8)
        labels[found.box] = found.labels
        np.testing.assert_array_equal(labels, segment_several(volume, moved, **device).labels)
        assert device["cached"].on_device
    live.prepare(device="cuda")
    assert live._live.nearest is not live._live
    for _ in range(4):
        moved = {**vessels, "other": [tuple(int(rng.integers(0, n)) for n in volume.shape)]}
        found = live.labels_on("cuda", moved)
        labels = np.zeros(volume.shape, np.uint8)
        labels[found.box] = found.labels
        np.testing.assert_array_equal(labels, segment_several(volume, moved, **device).labels)
        assert device["cached"].on_device


def test_the_trial_leaves_nothing_to_compile(scan, points):
    functions = (change_levels, change_owners, survey, paint, distinct, kept_reach._spread)
    functions += (max_tree._spread, contrast_owners._connect_voxels, disputed._spread)
    functions += (node_owners.spread_values,)
    warm_up.try_out()
    before = [set(function.signatures) for function in functions]
    cached = CachedConnectedness()
    segment_several(scan.volume, points, spacing=scan.spacing, cached=cached, **DEVICE)
    live = LiveVessels(cached.live_labels(scan.volume, scan.spacing), scan.spacing)
    rng = np.random.default_rng(3)
    for number in range(6):
        try:
            live.labels_on("cpu", *moved(points, rng, number))
        except InputError:
            continue  # one voxel twice
    assert [set(function.signatures) for function in functions] == before
    assert all(before)


def test_strong_paths_alone_are_followed_where_they_say_all(scan, points):
    """Else the faint half of a scene is divided at every step for nothing."""
    cached = CachedConnectedness()
    segment_several(scan.volume, points, spacing=scan.spacing, cached=cached, **DEVICE)
    live = LiveVessels(cached.live_labels(scan.volume, scan.spacing), scan.spacing)
    live.labels_on("cpu", points)
    assert not live._division.uncertain
    assert live_vessels.ROUNDING > 0


@pytest.mark.parametrize("uncertain", [False, True], ids=["strong paths", "all paths"])
def test_a_step_looks_at_what_has_changed_alone(scan, points, uncertain, monkeypatch):
    counts = {}
    for function in (survey, paint):

        def counted(voxels, *others, function=function):
            counts[function.__name__] = counts.get(function.__name__, 0) + voxels.size
            return function(voxels, *others)

        monkeypatch.setattr(kept_labels, function.__name__, counted)
    cached = CachedConnectedness()
    segment_several(scan.volume, points, spacing=scan.spacing, cached=cached, **DEVICE)
    live = LiveVessels(cached.live_labels(scan.volume, scan.spacing), scan.spacing)
    live._division.uncertain = uncertain
    found = []
    for step in range(5):
        counts.clear()
        k, j, i = points["hepatic"][1]
        live.labels_on("cpu", {**points, "hepatic": [points["hepatic"][0], (k, j, i + step % 2)]})
        found.append(dict(counts))
    assert live._division.uncertain == uncertain
    kept = live._division._chosen[0].size
    assert all(found[0][name] >= kept for name in counts)
    assert all(found[-1][name] < kept / 2 for name in counts)
