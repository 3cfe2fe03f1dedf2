"""Results as a whole or not at all: the folder, the files in it, and a disk that fills up.

And the scene of Slicer that they come from.
"""

import contextlib
import dataclasses
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from fuzzy_vessel import pictures, writing
from fuzzy_vessel.pictures import EDGE, GAP, HEAD, PANEL, Subject
from fuzzy_vessel.rendering import CannotRender, render
from fuzzy_vessel.writing import ResultsFolder, write_report
from FuzzyVesselCoreLib.errors import InputError

OURS = json.dumps({"program": "fuzzy-vessel"})


def write_result(path, content, *others):
    with ResultsFolder(path) as place:
        (place / "report.json").write_text(OURS)
        (place / "result.txt").write_text(content)
        for name in others:
            (place / name).write_text(content)


def write_half(path, error):
    with ResultsFolder(path) as place:
        (place / "result.txt").write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_a_failure(tmp_path, error):
    path = tmp_path / "a" / "results"
    with pytest.raises(error):
        write_half(path, error)
    assert list(path.parent.iterdir()) == []


def test_a_report_that_was_edited_is_kept(tmp_path):
    path = tmp_path / "results"
    write_result(path, "first")
    write_result(path, "second")  # as it was written
    report = json.loads((path / "report.json").read_text())
    (path / "report.json").write_text(json.dumps({**report, "note": "mine"}))
    with pytest.raises(InputError, match=r"report\.json was changed after it was written"):
        write_result(path, "third")
    assert "mine" in (path / "report.json").read_text()
    del report["checksums"]["report.json"]  # as earlier versions wrote it
    (path / "report.json").write_text(json.dumps(report))
    write_result(path, "third")
    assert (path / "result.txt").read_text() == "third"


def test_a_result_that_is_edited_during_the_run_is_kept(tmp_path):
    path = tmp_path / "results"
    write_result(path, "first")

    def run():
        with ResultsFolder(path) as place:
            (place / "result.txt").write_text("second")
            (path / "result.txt").write_text("edited by hand")

    for number, content in ((2, "edited by hand"), (3, "FIRST")):
        beside = tmp_path / f"results-{number}"
        (path / "result.txt").write_text(content)
        with pytest.raises(InputError, match=r"results: result.txt was changed after it was writ"):
            write_result(path, "second")
        assert (path / "result.txt").read_text() == content
        (path / "result.txt").write_text("first")
        with pytest.raises(InputError, match=r"results: result.txt was changed") as failed:
            run()
        assert str(failed.value).endswith(f"the results are in {beside}.")
        assert (path / "result.txt").read_text() == "edited by hand"
        assert (beside / "result.txt").read_text() == "second"
        assert beside.stat().st_mode & 0o777 == path.stat().st_mode & 0o777
    assert len(list(tmp_path.iterdir())) == 3


def test_an_empty_folder_is_taken_and_a_foreign_one_refused(tmp_path):
    path = tmp_path / "results"
    path.mkdir()
    write_result(path, "first")
    foreign = tmp_path / "holiday"
    foreign.mkdir()
    (foreign / "photo.jpg").write_text("sunset")
    for report in (None, "{}", "not json", "[]"):
        if report:
            (foreign / "report.json").write_text(report)
        with pytest.raises(InputError, match=r"holiday: the folder holds other files"):
            write_result(foreign, "vessels")
    assert (foreign / "photo.jpg").read_text() == "sunset"


def test_a_place_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="file: this is a file"):
        write_result(file, "vessels")
    with pytest.raises(InputError, match=r"results: the results cannot be written: "):
        write_result(file / "results", "vessels")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="here: the command runs in this folder"):
        write_result(".", "vessels")
    (tmp_path / "here").rmdir()
    write_result(tmp_path / "results", "vessels")  # a folder that is gone is no hindrance


def contents(folder):
    return sorted(path.read_text() for path in folder.rglob("result.txt"))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_an_interrupt_between_the_renames_loses_no_result(tmp_path, monkeypatch, step, after):
    path = tmp_path / "results"
    write_result(path, "first")
    steps, rename = [], type(path).rename

    def interrupted(source, target):
        steps.append(source)
        if len(steps) == step and not after:
            raise KeyboardInterrupt
        rename(source, target)
        assert {"first", "second"} & set(contents(tmp_path))
        if len(steps) == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr(type(path), "rename", interrupted)
        write_result(path, "second")
    assert contents(path) in (["first"], ["second"])
    assert {entry.name for entry in path.iterdir()} == {"report.json", "result.txt"}
    assert list(tmp_path.iterdir()) == [path]
    write_result(path, "third")
    assert contents(tmp_path) == ["third"]


# The nodes' files.


def add_noise():
    import slicer

    noise = np.random.default_rng(3).integers(0, 30000, (20, 40, 40)).astype(np.int16)
    return slicer.util.addVolumeFromArray(noise, np.diag([-1.0, -1, 2, 1]), "scan")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_full_disk_is_noticed_whoever_writes(slicer_scene, tmp_path):
    import resource

    volume = add_noise()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        for write in (
            lambda: writing.write_nodes(tmp_path, {"labelmap.nii.gz": volume}),
            lambda: writing.write_slicer_scene(tmp_path, volume, (0, 0, 0)),
            lambda: write_report(tmp_path, {"long": "x" * 30_000}),
        ):
            with pytest.raises(OSError, match=r"could not be written|File too large"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kept", [0, 100, -30])
def test_a_file_that_lost_its_end_is_not_whole(slicer_scene, tmp_path, kept):
    writing.write_nodes(tmp_path, {"a.nrrd": add_noise()})
    (tmp_path / "a.json").write_text(json.dumps("x" * 500))
    for name in ("a.nrrd", "a.json"):
        path = tmp_path / name
        assert writing.is_whole(path)
        path.write_bytes(path.read_bytes()[:kept])
        assert not writing.is_whole(path)


# ---- Pictures: the patient's sides, true sizes, colours and seeds, counted in pixels


pytest.importorskip("matplotlib", reason="matplotlib is not installed")
RADIUS_MM = 8.0
TEXTS = "scan.nrrd", "its size", "2 ml"
# The grid's axes I, J, K in the patient: as they come from a scanner, permuted, and left-handed.
GRIDS = {
    "axial": ([[-1, 0, 0], [0, -1, 0], [0, 0, 1]], (0.8, 0.8, 2.5)),
    "sagittal": ([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], (1.0, 1.5, 0.7)),
    "left-handed": ([[1, 0, 0], [0, -1, 0], [0, 0, 1]], (1.0, 1.0, 1.0)),
}


def ball(name, centre_mm=(0.0, 0.0, 0.0)):
    """A bright ball in a dark box of 80 mm whose middle is the origin."""
    axes, spacing = (np.array(each) for each in GRIDS[name])
    matrix = np.eye(4)
    matrix[:3, :3] = axes * spacing  # columns I, J, K
    sizes = np.round(80 / spacing).astype(int)
    matrix[:3, 3] = -matrix[:3, :3] @ ((sizes - 1) / 2)
    indices = np.stack(np.meshgrid(*(np.arange(n) for n in sizes), indexing="ij"), axis=-1)
    positions = indices @ matrix[:3, :3].T + matrix[:3, 3]
    inside = np.linalg.norm(positions - centre_mm, axis=-1) <= RADIUS_MM
    labels = inside.transpose(2, 1, 0).astype(np.uint8)
    volume = np.where(labels, 200, 100).astype(np.int16)
    seed = np.linalg.solve(matrix[:3, :3], np.array(centre_mm) - matrix[:3, 3])
    return Subject(volume, labels, matrix, np.round(seed[::-1]).astype(int)[np.newaxis])


def red(image):
    """Where an image shows the vessels' colour."""
    pixels = np.asarray(image, int)
    return (pixels[..., 0] - pixels[..., 1] > 40) & (pixels[..., 0] - pixels[..., 2] > 40)


def pixels_of(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(int)


def picture_of(subject):
    """The four panels of a picture by row and column, their mm a pixel, and the warnings."""
    figure, warnings = pictures.segmentation_picture(subject, TEXTS)
    image = pixels_of(figure)
    panels = {
        (row, column): image[HEAD + row * (PANEL + GAP) :, EDGE + column * (PANEL + GAP) :][
            :PANEL, :PANEL
        ]
        for row in (0, 1)
        for column in (0, 1)
    }
    mm = abs(np.ptp(figure.axes[0].get_xlim())) / PANEL
    return panels, mm, warnings


@pytest.mark.parametrize("name", GRIDS)
def test_slices_show_the_patients_sides_and_true_sizes(name, without_3d):
    subject = ball(name, centre_mm=(12, -6, 20))
    # A second ball on the other side puts the middle of the patient's box into that of the picture.
    far = ball(name, centre_mm=(-12, 6, -20)).labels
    both = dataclasses.replace(subject, labels=subject.labels + 2 * far, vessels=[("a", "#ff4a3e")])
    panels, mm, _ = picture_of(both)
    # 12 mm to the patient's right, 6 mm to the back, 20 mm up: columns and rows from the middle.
    for place, across, down in (((0, 0), -12, 6), ((1, 0), -12, -20), ((1, 1), 6, -20)):
        rows, columns = np.nonzero(red(panels[place]))
        assert (columns.mean() - PANEL / 2) * mm == pytest.approx(across, abs=1.5)
        assert (rows.mean() - PANEL / 2) * mm == pytest.approx(down, abs=1.5)
        voxel = max(GRIDS[name][1])
        for size in (np.ptp(rows), np.ptp(columns)):
            assert size * mm == pytest.approx(2 * RADIUS_MM, abs=1.2 * voxel)


def test_several_vessels_are_shown_in_their_colours():
    subject = ball("axial")
    labels = subject.labels.copy()
    labels[subject.seeds[0][0] :] *= 2
    named = [("portal", (1.0, 0.0, 0.0)), ("hepatic_$x$", (0.0, 0.0, 1.0))]
    panels, _, warnings = picture_of(dataclasses.replace(subject, labels=labels, vessels=named))
    shown = panels[1, 0], panels[0, 1]
    for panel in shown[: 1 if warnings else 2]:
        upper, lower = np.nonzero(red(panel[100:, :, ::-1])), np.nonzero(red(panel[100:]))
        assert min(len(rows) for rows, _ in (upper, lower)) > 500
        assert upper[0].mean() < lower[0].mean()  # the second one lies above the first
    assert red(panels[0, 1][:100]).sum() > 100  # its name


def test_a_machine_that_cannot_render_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    panels, _, warnings = picture_of(ball("axial"))
    assert "cannot render off screen" in warnings[0]
    assert red(panels[0, 0]).sum() > 2000
    with pytest.raises(CannotRender):
        render({"labels": np.ones((2, 2, 2))}, [], 10, "#000000")


def test_tubes_are_seen_through_the_wall_in_colours_of_radii_and_branches():
    """A rod of 12 mm along the patient's axis, with a curve in its middle that gets wider."""
    k, j, i = np.ogrid[:60, :40, :40]
    labels = ((j - 20) ** 2 + (i - 20) ** 2 <= 36) & (k >= 5) & (k < 55)
    labels = labels.astype(np.uint8)
    points = np.array([[k, 20.0, 20.0] for k in range(8, 52)])
    branch = SimpleNamespace(points=points, radius=np.linspace(2.0, 6.0, len(points)))
    nodes = [SimpleNamespace(position=points[0]), SimpleNamespace(position=points[-1])]
    skeleton = SimpleNamespace(branches=[branch], nodes=nodes)
    subject = Subject(labels, labels, np.diag([-1.0, -1.0, 2.0, 1.0]), np.array([[30, 20, 20]]))
    try:
        image = pixels_of(pictures.skeleton_picture(subject, skeleton, TEXTS))
    except CannotRender as reason:
        pytest.skip(str(reason))
    left, right = (
        image[HEAD : HEAD + PANEL - 80, EDGE + n * (PANEL + GAP) :][:, : PANEL - 100]
        for n in (0, 1)
    )
    hues = []
    for panel in (left, right):
        seen = panel[np.ptp(panel, axis=-1) > 60]
        assert len(seen) > 500
        hues.append((seen - seen.mean(axis=1, keepdims=True)) / np.ptp(seen, axis=1)[:, None])
    # On the right one colour for the branch, whatever its radii are.
    assert hues[0].std(axis=0).max() > 3 * hues[1].std(axis=0).max()
    rows = np.nonzero(np.ptp(left, axis=-1) > 60)[0]
    upper, lower = left[rows.min() : rows.min() + 60], left[rows.max() - 60 : rows.max()]
    warm = [part[np.ptp(part, axis=-1) > 60] for part in (upper, lower)]
    assert (warm[0][:, 0] - warm[0][:, 2]).mean() > 0 > (warm[1][:, 0] - warm[1][:, 2]).mean()
