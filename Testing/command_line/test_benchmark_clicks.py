"""The click tables: a simulated person, measures of agreement, cases of a folder, other methods."""

import gzip
import json
from importlib.util import find_spec
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial.distance import cdist

from fuzzy_vessel.__main__ import main
from fuzzy_vessel.benchmark import plots, results
from fuzzy_vessel.benchmark.clicks import cases, measures, methods, radius, sessions
from fuzzy_vessel.benchmark.clicks.peers import grow_cut, random_walker, thresholds
from fuzzy_vessel.benchmark.clicks.peers.markers import BACKGROUND, FREE, VESSEL, markers
from fuzzy_vessel.benchmark.clicks.person import click_until_right, deepest_voxel, next_click
from fuzzy_vessel.benchmark.clicks.tables import table_parts
from fuzzy_vessel.benchmark.setting import QUICK, Setting
from fuzzy_vessel.benchmark.tables import TABLES
from FuzzyVesselCoreLib.errors import Cancelled, InputError

EVEN = (1.0, 1.0, 1.0)
NAMES = ("clicks", "clicks-random", "clicks-radius")


def boxes(shape, *corners):
    """True in boxes, each given by its first voxel and the voxel behind its last."""
    mask = np.zeros(shape, bool)
    for first, last in corners:
        mask[tuple(slice(a, b) for a, b in zip(first, last))] = True
    return mask


def case_of(truth, volume=None, mask=None):
    volume = 100 * truth.astype(np.int16) if volume is None else volume
    return cases.ClickCase("made", volume, truth, mask, EVEN)


def quick(**options):
    return Setting(sizes=QUICK, quick=True, tell=lambda name: None, **options)


# --- the person


def test_the_deepest_voxel_of_the_largest_component_is_clicked():
    error = boxes((9, 9, 20), ((2, 2, 1), (7, 7, 6)), ((3, 3, 9), (6, 6, 19)))
    assert deepest_voxel(error, EVEN) == ((4, 4, 3), 125)
    assert deepest_voxel(np.zeros((3, 3, 3), bool), EVEN) == (None, 0)


def test_voxels_that_touch_at_a_corner_are_one_component():
    error = boxes((4, 4, 9), ((0, 0, 0), (2, 2, 2)), ((2, 2, 2), (4, 4, 4)), ((0, 0, 5), (2, 2, 8)))
    assert deepest_voxel(error, EVEN)[1] == 16


def test_depth_is_measured_in_mm_and_ends_at_the_border():
    slab = np.ones((5, 5, 9), bool)
    assert deepest_voxel(slab, EVEN)[0] == (2, 2, 2)
    assert deepest_voxel(slab, (9.0, 1.0, 1.0))[0][1] == 2
    assert deepest_voxel(slab, (1.0, 9.0, 1.0))[0][0] == 2


def test_the_larger_error_is_clicked_and_vessels_come_first():
    truth = boxes((7, 7, 20), ((2, 2, 1), (5, 5, 9)))
    result = boxes((7, 7, 20), ((2, 2, 4), (5, 5, 13)))
    assert next_click(result, truth, EVEN) == ((3, 3, 10), False)  # 36 false, 27 missed voxels
    assert next_click(result, truth, EVEN, first=True) == ((3, 3, 2), True)
    assert next_click(truth, truth, EVEN) is None


def test_a_right_result_ends_the_session():
    truth = boxes((6, 6, 6), ((1, 1, 1), (4, 4, 4)))
    session = click_until_right(lambda *_: truth, case_of(truth), 8)
    assert len(session.clicks) == 1
    assert session.clicks[0].voxel == (2, 2, 2)
    assert session.dice_after(1) == session.dice_after(8) == 1.0
    assert (session.disobeyed, session.worst_change) == (0, 0.0)


def test_clicks_that_are_not_obeyed_are_counted_after_each_click():
    truth = boxes((6, 6, 6), ((1, 1, 1), (4, 4, 4)))
    asked = []

    def stubborn(volume, vessel, background, mask, spacing):
        asked.append((list(vessel), list(background)))
        return np.zeros(truth.shape, bool)

    session = click_until_right(stubborn, case_of(truth), 3)
    assert asked == [([(2, 2, 2)], [])] * 3  # the same click, given once
    assert [click.disobeyed for click in session.clicks] == [1, 2, 3]
    assert session.disobeyed == 6
    everything = click_until_right(lambda *_: np.ones(truth.shape, bool), case_of(truth), 2)
    assert [click.is_vessel for click in everything.clicks] == [True, False]
    assert everything.disobeyed == 1


def test_falls_of_dice_are_kept():
    truth = boxes((6, 6, 9), ((1, 1, 1), (4, 4, 8)))
    parts = iter([truth & (np.arange(9) < n) for n in (6, 3, 7)])
    session = click_until_right(lambda *_: next(parts), case_of(truth), 3)
    dice = [2 * n / (n + 7) for n in (5, 2, 6)]
    assert [click.dice for click in session.clicks] == pytest.approx(dice)
    assert session.worst_change == pytest.approx(dice[1] - dice[0])


def test_a_method_that_fails_keeps_its_earlier_result():
    truth = boxes((6, 6, 9), ((1, 1, 1), (4, 4, 8)))
    first = truth & (np.arange(9) < 5)

    def fails_with_background(volume, vessel, background, mask, spacing):
        if len(vessel) > 1:
            raise ValueError("one click only")
        return first

    session = click_until_right(fails_with_background, case_of(truth), 2)
    assert [click.failure for click in session.clicks] == ["", "ValueError: one click only"]
    assert (session.result == first).all()


def test_a_cancelled_run_is_cancelled():
    truth = boxes((4, 4, 4), ((1, 1, 1), (3, 3, 3)))

    def cancelled(*_):
        raise Cancelled

    with pytest.raises(Cancelled):
        click_until_right(cancelled, case_of(truth), 2)


# --- measures


def test_measures_of_a_shifted_box_by_hand():
    truth = boxes((8, 8, 12), ((2, 2, 2), (5, 5, 8)))  # 3 x 3 x 6
    result = boxes((8, 8, 12), ((2, 2, 4), (5, 5, 12)))  # 3 x 3 x 8, 4 of them common
    scores = measures.Measures(truth).of(result)
    assert scores["dice"] == pytest.approx(2 * 36 / (54 + 72))
    assert scores["recall"] == pytest.approx(36 / 54)
    assert scores["precision"] == pytest.approx(36 / 72)
    same = measures.Measures(truth).of(truth)
    assert all(same[key] in (1.0, None) for key in measures.KEYS)
    nothing = measures.Measures(truth).of(np.zeros_like(truth))
    assert all(nothing[key] in (0.0, None) for key in measures.KEYS)


def test_surface_dice_equals_brute_force():
    rng = np.random.default_rng(0)
    masks = [ndimage.gaussian_filter(rng.normal(size=(14, 15, 16)), 1.5) > 0.02 for _ in range(2)]
    borders = []
    for mask in masks:
        inner = np.pad(mask, 1, mode="edge")
        faces = [np.roll(inner, step, axis) for axis in range(3) for step in (-1, 1)]
        inner = np.logical_and.reduce(faces)[1:-1, 1:-1, 1:-1]
        borders.append(np.argwhere(mask & ~inner))
    apart = cdist(*borders, "chebyshev") <= 1
    near = apart.any(0).sum() + apart.any(1).sum()
    expected = near / sum(map(len, borders))
    assert 0.2 < expected < 0.99
    assert measures.Measures(masks[0]).of(masks[1])["surface"] == pytest.approx(expected)


def test_cldice_counts_lengths_and_not_voxels():
    pytest.importorskip("skimage")
    wide = boxes((11, 11, 40), ((2, 2, 1), (9, 9, 20)))
    thin = boxes((11, 11, 40), ((5, 5, 20), (6, 6, 39)))
    line = measures.skeleton(thin)
    assert (line == thin).all()
    scores = measures.Measures(wide | thin).of(wide)
    whole, part = measures.skeleton(wide | thin), measures.skeleton(wide)
    sensitivity = (whole & wide).sum() / whole.sum()
    precision = (part & (wide | thin)).sum() / part.sum()
    expected = 2 * precision * sensitivity / (precision + sensitivity)
    assert scores["cldice"] == pytest.approx(expected)
    assert scores["cldice"] < scores["dice"] - 0.1


def test_cldice_is_left_out_without_its_package(monkeypatch):
    monkeypatch.setattr(measures, "find_spec", lambda name: None)
    truth = boxes((4, 4, 4), ((1, 1, 1), (3, 3, 3)))
    assert measures.Measures(truth).of(truth)["cldice"] is None


def test_bins_of_bars_are_half_their_widths():
    truth = boxes(
        (40, 40, 20),
        ((2, 2, 0), (3, 3, 20)),  # 1 voxel wide
        ((6, 6, 0), (9, 9, 20)),  # 3
        ((12, 12, 0), (17, 17, 20)),  # 5
        ((25, 25, 0), (36, 36, 20)),  # 11
    )
    bins = radius.radius_bins(truth, EVEN)
    assert [int(bins[n, n, 10]) for n in (2, 7, 14, 30)] == [1, 2, 3, 4]
    assert (bins > 0).tolist() == truth.tolist()
    assert bins[30, 30, 0] == 4  # nothing is known beyond the border
    assert (radius.radius_bins(truth, (2.0, 2.0, 2.0)) == bins).all()
    assert radius.recall_by_radius(bins > 1, bins) == [0.0, 1.0, 1.0, 1.0]
    assert radius.recall_by_radius(truth, bins) == [1.0] * 4
    assert sum(radius.sizes_by_radius(bins)) == truth.sum()


def test_bins_equal_balls_that_are_tried_one_by_one():
    truth = ndimage.gaussian_filter(np.random.default_rng(1).normal(size=(16, 17, 18)), 2) > 0.01
    truth[0] = truth[-1] = truth[:, 0] = truth[:, -1] = truth[..., 0] = truth[..., -1] = False
    expected = truth.astype(int)
    voxels = np.argwhere(truth)
    outside = np.argwhere(~truth)
    for edge in radius.EDGES:
        centres = voxels[(cdist(voxels, outside) > edge).all(1)]
        if len(centres):
            covered = (cdist(voxels, centres) <= edge).any(1)
            expected[tuple(voxels[covered].T)] += 1
    assert expected.max() >= 3
    np.testing.assert_array_equal(radius.radius_bins(truth, EVEN), expected)


def test_an_empty_bin_has_no_recall():
    truth = boxes((5, 5, 9), ((2, 2, 1), (3, 3, 8)))
    bins = radius.radius_bins(truth, EVEN)
    assert radius.recall_by_radius(truth, bins) == [1.0, None, None, None]


# --- methods

# How good ours is, is for other tests to say; here it must obey.
GOOD = {"halfway": 0.8, "otsu": 0.8, "random-walker": 0.5, "growcut": 0.8}


@pytest.fixture
def two_bars():
    """Two bright bars in noise, one of them clicked; a case and a click in each bar."""
    truth = boxes((12, 24, 24), ((3, 4, 2), (8, 9, 22)))
    other = boxes((12, 24, 24), ((3, 15, 2), (8, 20, 22)))
    noise = np.random.default_rng(0).normal(0, 4, truth.shape)
    volume = (100 + 80 * (truth | other) + noise).astype(np.int16)
    return case_of(truth, volume), (5, 6, 12), (5, 17, 12)


@pytest.mark.parametrize("name", methods.METHODS)
@pytest.mark.parametrize("masked", [False, True])
def test_methods_find_the_clicked_bar(name, masked, two_bars):
    method = methods.METHODS[name]
    if not method.is_installed:
        pytest.skip(f"{method.package} is not installed")
    case, vessel, background = two_bars
    mask = boxes(case.truth.shape, ((1, 1, 1), (11, 23, 20))) if masked else None
    run = method.make("cpu")
    found = run(case.volume, [vessel], [background], mask, EVEN)
    assert found.dtype == bool
    assert found.shape == case.truth.shape
    assert found[vessel]
    assert not found[background]
    if masked:
        assert not found[~mask].any()
    expected = case.truth if mask is None else case.truth & mask
    assert measures.dice(found, expected) > GOOD.get(name, 0)


def test_halfway_lies_between_the_clicks_and_the_median():
    volume = np.full((5, 5, 9), 100, np.int16)
    volume[2, 2, 1:8] = 200
    volume[2, 2, 4] = 180
    inside = np.zeros(volume.shape, bool)
    inside[1:4, 1:4] = True
    found = thresholds.clicked_components(volume >= 150, [(2, 2, 1)], inside)
    assert found.sum() == 7
    assert not thresholds.clicked_components(volume >= 150, [(0, 0, 0)], inside).any()
    smooth = thresholds.smoothed(volume)
    threshold = (200 + 100) / 2
    np.testing.assert_array_equal(
        thresholds.halfway(volume, [(2, 2, 1)], [], inside, EVEN),
        thresholds.clicked_components(smooth >= threshold, [(2, 2, 1)], inside),
    )


def test_markers_are_boxes_and_what_is_dark():
    image = np.full((5, 9, 9), 10.0)
    image[:, 3:] = 50.0
    labels = markers(image, [(2, 6, 4)], [(2, 6, 6)], None)
    assert labels[2, 6, 4] == VESSEL
    assert labels[1, 5, 3] == VESSEL
    assert labels[2, 6, 5] == BACKGROUND  # both boxes; the later paints over
    assert markers(image, [(2, 6, 5)], [(2, 6, 6)], None)[2, 6, 5] == VESSEL
    assert labels[2, 0, 0] == BACKGROUND or np.median(image) < 10
    bright = boxes(image.shape, ((0, 3, 0), (5, 9, 9)))
    image[2, 8, 8] = 60.0
    assert markers(image, [(2, 6, 4)], [], bright)[2, 8, 8] == FREE


def test_large_volumes_are_solved_on_every_second_voxel(two_bars, monkeypatch):
    pytest.importorskip("skimage")
    monkeypatch.setattr(random_walker, "MAX_VOXELS", 1000)
    case, vessel, background = two_bars
    volume, truth = case.volume[:11, :23, :23], case.truth[:11, :23, :23]
    found = random_walker.segment(volume, [vessel], [background], None, EVEN)
    assert found.shape == volume.shape
    assert found[vessel]
    assert not found[background]
    assert measures.dice(found, truth) > 0.4


@pytest.mark.skipif(find_spec("itk") is None, reason="itk-growcut is not installed")
def test_growcut_spreads_from_a_click_at_the_border(two_bars):
    case, _, background = two_bars
    volume, truth = case.volume[3:8], case.truth[3:8]
    found = grow_cut.segment(volume, [(0, 6, 12)], [(2, *background[1:])], None, EVEN)
    assert measures.dice(found, truth) > 0.8


def test_unknown_methods_are_refused():
    with pytest.raises(InputError, match="random-walker"):
        methods.chosen_methods(("magic",))


# --- cases


def write_nrrd(path, array, kind, spacing=(0.5, 0.5, 2.0)):
    """A gzip-compressed NRRD file; spacing I, J, K."""
    axes = ("(%g,0,0)", "(0,%g,0)", "(0,0,%g)")
    header = [
        "NRRD0004",
        f"type: {kind}",
        "dimension: 3",
        f"sizes: {' '.join(map(str, array.shape[::-1]))}",
        "space directions: " + " ".join(a % s for a, s in zip(axes, spacing)),
        "encoding: gzip",
    ]
    data = gzip.compress(np.ascontiguousarray(array).tobytes())
    path.write_bytes("\n".join(header).encode() + b"\n\n" + data)


@pytest.fixture
def made_folder(tmp_path):
    """A folder laid out like the real data: two livers, a liver without mask, and two arrays."""
    shape = (14, 20, 22)
    ct = np.random.default_rng(0).normal(100, 10, shape).astype(np.int16)
    liver = boxes(shape, ((4, 6, 7), (9, 13, 15)))
    portal = boxes(shape, ((6, 0, 9), (8, 20, 11)))
    for name in ("ircadb01_01", "ircadb01_05", "ircadb01_07"):
        write_nrrd(tmp_path / f"{name}_ct.nrrd", ct, "int16")
        write_nrrd(tmp_path / f"{name}_portalvein.nrrd", 255 * portal.astype(np.uint8), "uint8")
        if name != "ircadb01_07":
            write_nrrd(tmp_path / f"{name}_liver.nrrd", 255 * liver.astype(np.uint8), "uint8")
    veins = boxes(shape, ((5, 7, 13), (6, 8, 14)))
    write_nrrd(tmp_path / "ircadb01_01_venoussystem.nrrd", veins.astype(np.uint8), "uint8")
    (tmp_path / "vessels").mkdir()
    truth = boxes((6, 8, 10), ((2, 3, 0), (4, 5, 10)))
    for name in ("tree", "vnn_stack"):
        image = (50 + 150 * truth).astype(np.uint8)
        np.savez(tmp_path / "vessels" / f"{name}.npz", image=image, truth=truth)
    return SimpleNamespace(path=tmp_path, ct=ct, liver=liver, vessels=portal | veins, truth=truth)


def test_cases_are_found_by_name(made_folder):
    found = list(cases.cases(made_folder.path))
    assert [case.name for case in found] == ["ircadb01_01", "ircadb01_05", "tree", "vnn_stack"]
    assert [case.spacing for case in found[2:]] == [EVEN, (5.0, 1.0, 1.0)]
    assert (found[2].truth == made_folder.truth).all()
    assert found[2].mask is None
    named = cases.cases(made_folder.path, ("phantom", "tree"), (16, 24, 24))
    assert [case.name for case in named] == ["phantom", "tree"]


def test_a_liver_is_cropped_to_its_dilated_mask(made_folder):
    case = next(iter(cases.cases(made_folder.path, ("ircadb01_01",))))
    wide = ndimage.binary_dilation(made_folder.liver, iterations=2)
    k = np.argwhere(wide)
    box = tuple(slice(max(a - 2, 0), b + 3) for a, b in zip(k.min(0), k.max(0)))
    np.testing.assert_array_equal(case.volume, made_folder.ct[box])
    np.testing.assert_array_equal(case.mask, wide[box])
    np.testing.assert_array_equal(case.truth, (made_folder.vessels & wide)[box])
    assert case.spacing == (2.0, 0.5, 0.5)


def test_without_scans_there_is_the_phantom(tmp_path):
    for folder in (None, tmp_path):
        (case,) = cases.cases(folder, (), (20, 40, 40))
        assert case.name == "phantom"
        assert not (case.truth & ~case.mask).any()
        assert not cases.has_scans(folder)


def test_cases_that_cannot_be_used_are_told(made_folder):
    with pytest.raises(InputError, match="ircadb01_05"):
        cases.cases(made_folder.path, ("ircadb01_99",))
    (made_folder.path / "vessels" / "tree.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"tree.npz cannot be read"):
        list(cases.cases(made_folder.path, ("tree",)))
    empty = np.zeros((3, 3, 3), np.uint8)
    np.savez(made_folder.path / "vessels" / "empty.npz", image=empty, truth=empty > 0)
    with pytest.raises(InputError, match="no vessel voxels"):
        list(cases.cases(made_folder.path, ("empty",)))


# --- tables


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_tables_have_a_row_for_each_method(name):
    setting = quick(no_gpu="no card here")
    table = TABLES[name](setting)
    present = [m for m, method in methods.METHODS.items() if method.is_installed]
    told = [(row["case"], row["method"]) for row in table.rows]
    assert told[: 2 * len(present)] == [(c, m) for c in ("phantom", "mean") for m in present]
    assert {row["method"] for row in table.rows} == set(methods.METHODS)
    assert not [row for row in table.rows if "failed" in (row.get("check") or "")]
    assert any("no card here" in note for note in table.notes)
    assert any("phantom alone" in note for note in table.notes)
    picture = " ".join(ElementTree.fromstring(plots.draw(table, "a machine")).itertext())
    assert all(method in picture for method in present if method not in table_parts.VARIANTS)
    assert "nan" not in json.dumps(table.rows).lower()


def test_a_session_is_run_once_for_both_tables(monkeypatch):
    setting = quick(methods=("halfway",))
    table = TABLES["clicks"](setting)
    monkeypatch.setattr(sessions, "click_until_right", None)
    TABLES["clicks-radius"](setting)
    row = table.rows[0]
    assert row["1"] == row["clicks"][0]["dice"]
    assert row["2"] == row["clicks"][-1]["dice"]


def test_cases_of_a_folder_are_averaged(made_folder):
    setting = Setting(
        data=made_folder.path,
        methods=("halfway",),
        cases=("tree", "vnn_stack"),
        tell=lambda _: None,
    )
    first, second, mean = TABLES["clicks"](setting).rows
    assert (first["case"], second["case"], mean["case"]) == ("tree", "vnn_stack", "mean")
    assert mean["8"] == pytest.approx((first["8"] + second["8"]) / 2, abs=1e-4)
    assert mean["disobeyed"] == first["disobeyed"] + second["disobeyed"]
    notes = TABLES["clicks-radius"](setting).notes
    assert cases.NO_DATA not in notes


def test_data_that_are_lacking_are_told(tmp_path):
    small = SimpleNamespace(clicks=(20, 40, 40))
    for folder in (None, tmp_path):
        setting = Setting(sizes=small, data=folder, methods=("halfway",), tell=lambda name: None)
        table = TABLES["clicks-random"](setting)
        assert [row["case"] for row in table.rows] == ["phantom", "mean"]
        assert len(table.rows[0]["dice"]) == 10
        assert cases.NO_DATA in table.notes


def test_random_places_lie_in_vessels_and_stay_the_same():
    truth = boxes((6, 8, 10), ((2, 3, 0), (4, 5, 10)))
    places = sessions.random_places(truth, 10)
    assert places == sessions.random_places(truth, 10)
    assert len(set(places)) == 10
    assert all(truth[place] for place in places)
    assert len(sessions.random_places(boxes((3, 3, 3), ((1, 1, 1), (2, 2, 2))), 10)) == 1


def test_what_is_not_installed_is_told(monkeypatch):
    absent = methods.Method(None, "a-package", "a_module_that_nobody_has")
    monkeypatch.setattr(methods, "METHODS", {"halfway": methods.METHODS["halfway"], "x": absent})
    rows = TABLES["clicks"](quick()).rows
    assert rows[-1] == {"case": "-", "method": "x", "check": "a-package is not installed"}


def test_the_command_runs_chosen_methods_on_chosen_cases(made_folder, tmp_path, capsys):
    path = tmp_path / "figures.json"
    run = ["benchmark", "--device", "cpu", "--data", str(made_folder.path), "--table", "clicks"]
    chosen = ["--method", "halfway", "--method", "papers-affinity", "--case", "tree"]
    assert main([*run, *chosen, "--json", str(path)]) == 0
    rows = results.read(path)[1]["clicks"].rows
    assert [row["method"] for row in rows] == ["halfway", "papers-affinity"] * 2
    assert rows[0]["1"] > 0.5
    assert main([*run, "--method", "magic"]) == 2
    assert "growcut" in capsys.readouterr().err
    assert main([*run, "--case", "magic"]) == 2
    assert "vnn_stack" in capsys.readouterr().err
