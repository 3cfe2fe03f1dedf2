"""`fuzzy-vessel segment` as a user meets it: results, summary, one clear line for bad input."""

import json
import re

import numpy as np
import pytest

from fuzzy_vessel.__main__ import main
from fuzzy_vessel.progress import Progress
from support.image_files import write_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")

FILES = {
    "labelmap.nrrd", "fuzzy-scene.nrrd", "segmentation.seg.nrrd", "seeds.mrk.json", "scene.mrb",
    "picture.png", "report.json",
}  # fmt: skip


def write_scan(path, inside):
    noise = np.random.default_rng(7).normal(0, 5, inside.shape)
    return write_nrrd(path, (np.where(inside, 200, 100) + noise).astype(np.int16))


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """A scan with a bright tube along I at J = 10, K = 6, and its true voxels."""
    vessel = np.zeros((12, 20, 30), bool)
    vessel[3:10, 7:14, :] = True
    return write_scan(tmp_path_factory.mktemp("scan") / "scan of a tube.nrrd", vessel), vessel


@pytest.fixture(scope="module")
def two_tubes(tmp_path_factory):
    """A scan with two tubes along I, at J = 6 and J = 14."""
    k, j, _ = np.indices((13, 22, 30))
    inside = ((k - 6) ** 2 + (j - 6) ** 2 <= 5) | ((k - 6) ** 2 + (j - 14) ** 2 <= 5)
    return write_scan(tmp_path_factory.mktemp("scan") / "portal.nrrd", inside)


def array_of(path):
    import slicer

    from fuzzy_vessel import headless
    from fuzzy_vessel.reading import volumes

    headless.start()
    return slicer.util.arrayFromVolume(volumes.read_volume(path)).copy()


def report_in(folder):
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def names_in(folder):
    return {entry.name for entry in folder.iterdir()}


def told(capsys, *arguments):
    """Run the program in this process; return what it said."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def error_of(capsys, *arguments):
    """The line on standard error of a run that must end with code 2."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code
    output = capsys.readouterr()
    assert code == 2
    assert output.out == ""
    lines = output.err.splitlines()
    assert len(lines) == 1, output.err
    return lines[0]


def test_labels_scene_and_report(scan, tmp_path, capsys, without_3d):
    path, vessel = scan
    out = tmp_path / "results"
    options = ["--seed", "15,10,6", "--threshold", "0.02", "--solver", "exact"]
    text = told(capsys, "segment", path, *options, "--out", out)
    summary = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert list(summary) == ["threshold", "vessels", "computed", "results"]
    assert summary["results"] == str(out)
    assert names_in(out) == FILES
    assert names_in(tmp_path) == {"results"}

    labels = array_of(out / "labelmap.nrrd")
    assert np.count_nonzero(labels[vessel]) > 0.9 * np.count_nonzero(vessel)
    assert not labels[~vessel].any()
    scene = array_of(out / "fuzzy-scene.nrrd")
    assert scene.dtype == np.float32
    assert scene[6, 10, 15] == 1
    np.testing.assert_array_equal(scene >= np.float32(0.02), labels)
    report = report_in(out)
    assert report["vessels"]["voxels"] == np.count_nonzero(labels)
    assert report["vessels"]["ml"] == pytest.approx(np.count_nonzero(labels) * 2 / 1000)
    assert report["input"]["seeds"] == [{"label": "15,10,6", "ijk": [15, 10, 6]}]
    assert report["threshold"] == {"value": 0.02, "chosen": "by the user"}
    assert report["solver"] == "exact"
    assert report["versions"]["numpy"] == np.__version__


def test_options_reach_the_algorithm(scan, tmp_path, capsys, without_3d):
    path, vessel = scan
    mask = np.zeros(vessel.shape, np.uint8)
    mask[:, :, :20] = 1
    mask_path = write_nrrd(tmp_path / "mask.nrrd", mask)
    first, out = tmp_path / "first", tmp_path / "second"
    told(capsys, "segment", path, "--seed", "5,10,6", "--out", first)
    arguments = ["segment", path, "--seeds", first / "seeds.mrk.json", "--seed", "8,10,6"]
    arguments += ["--background", "3,3,3", "--mask", mask_path, "--solver", "dial"]
    arguments += ["--cut", "0.001", "--device", "cpu", "--out", out]
    assert "just above the background seeds" in told(capsys, *arguments)
    report = report_in(out)
    assert report["solver"] == "dial"
    assert [seed["ijk"] for seed in report["input"]["seeds"]] == [[5, 10, 6], [8, 10, 6]]
    assert report["input"]["background_seeds"] == [{"label": "3,3,3", "ijk": [3, 3, 3]}]
    assert names_in(out) == FILES | {"background-seeds.mrk.json"}
    labels = array_of(out / "labelmap.nrrd")
    assert (labels[6, 10, 5], labels[3, 3, 3]) == (1, 0)
    assert not labels[mask == 0].any()


def test_automatic_seeds_and_one_without_contrast(scan, tmp_path, without_3d, capsys):
    path, vessel = scan
    out, options = tmp_path / "results", ["--seed", "1,10,6", "--seed", "2,2,1"]
    told(capsys, "segment", path, *options, "--automatic-seeds", "2", "--out", out)
    assert "Without contrast: I,J,K = 2,2,1." in report_in(out)["warnings"]
    _first, _in_air, *found = report_in(out)["input"]["seeds"]
    assert {each["label"][:10] for each in found} == {"automatic-"}
    assert all(vessel[tuple(each["ijk"][::-1])] for each in found)
    labels = array_of(out / "labelmap.nrrd") > 0
    assert 2 * (labels & vessel).sum() > 0.85 * (labels.sum() + vessel.sum())


def test_each_vessel_has_a_label_a_segment_and_a_tree(two_tubes, tmp_path, without_3d, capsys):
    out = tmp_path / "out"
    named = [f"--vessel={each}" for each in ("portal:3,6,6", "hepatic:3,14,6", "portal:25,6,6")]
    text = told(capsys, "run", two_tubes, *named, "--device", "cpu", "--out", out)
    assert "label 1 portal: " in text
    assert "label 2 hepatic: " in text
    assert text.count("1 branch") == 2
    report = report_in(out)
    found = [(vessel["name"], vessel["label"]) for vessel in report["each_vessel"]]
    assert found == [("portal", 1), ("hepatic", 2)]
    assert set(report["skeletons"]) == {"1", "2"}
    labels = array_of(out / "labelmap.nrrd")
    assert (labels[6, 6, 15], labels[6, 14, 15], labels[6, 10, 15]) == (1, 2, 0)
    header = (out / "segmentation.seg.nrrd").read_bytes()[:6000].decode("latin-1")
    for number, name in enumerate(("portal", "hepatic")):
        assert f"Segment{number}_Name:={name}\n" in header
        assert f"Segment{number}_LabelValue:={number + 1}\n" in header
        assert f"Segment{number}_Layer:=0\n" in header
    assert {"Portal vein", "Hepatic vein"} <= set(re.findall("Portal vein|Hepatic vein", header))
    assert {path.name for path in out.glob("seeds*")} == {"seeds-1.mrk.json", "seeds-2.mrk.json"}
    rows = (out / "branches.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("label,branch")
    assert [row.split(",")[0] for row in rows[1:]] == ["1", "2"]
    assert all((out / f"label-{label}" / "skeleton.swc").is_file() for label in (1, 2))


SEED = ("--seed", "5,5,5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["segment", "VOLUME"], "there is no seed.*--seed I,J,K.*--vessel NAME.*--automatic-seeds"),
        (["segment", "VOLUME", "--automatic-seeds", "0"], "'0' is not a whole number from 1"),
        (["segment", "VOLUME", "--seed", "30,0,0"], r"--seed 30,0,0 lies outside.*29, 19, 11"),
        (["segment", "VOLUME", "--seed=-15,-10,6"], r"--seed -15,-10,6 lies .* not R, A, S in mm"),
        (["segment", "VOLUME", "--seed=-15.5,10,6"], r"not a voxel .*indices, not R,A,S in mm"),
        (["segment", "VOLUME", "--seed", "-15,10,6"], r"--seed: expected .*--option=-1,2,3"),
        (["segment", "VOLUME", "--seed", "5,5"], r"'5,5' is not a voxel I,J,K"),
        (["segment", "gone.nrrd", *SEED], r"gone\.nrrd: there is no such file"),
        (["segment", "VOLUME", *SEED, "--threshold", "2"], "'2' is not a number"),
        (["segment", "VOLUME", *SEED, "--solver", "best"], "unknown solver 'best'.*dial"),
        (["segment", "VOLUME", *SEED, "--device", "tpu"], "unknown device 'tpu'.*cuda"),
        (["segment", "VOLUME", *SEED, "--threshold", "0.1", "--cut", "0.2"], r"below the cut 0\.2"),
        (["segment", "VOLUME", *SEED, "--mask", "gone.nii"], r"gone\.nii: there is no"),
        (["segment", "VOLUME", "--seeds", "gone.mrk.json"], r"gone\.mrk\.json: there is no such"),
        (["segment", "VOLUME", *SEED, "--frame", "1"], "one of its frames"),
        (
            ["segment", "VOLUME", *SEED, "--vessel", "a:1,2,3"],
            "--vessel and --seed do not go toget",
        ),
        (
            ["segment", "VOLUME", "--vessel=a:3,6,6", "--vessel=b:3,6,6"],
            "'b' have a point on the same",
        ),
        (["segment", "VOLUME", "--vessel=a:99,6,6"], "--vessel 99,6,6 lies outside the volume"),
        (["demo", "--size", "2"], "--size: '2' is not a whole number from 8 up"),
        (["demo", "--seed-number", "-5"], "--seed-number: '-5' is not a whole number from 0"),
        (["demo", "--out", ""], "the name of the folder is empty"),
        (["skeleton", "VOLUME", "--charge-distance", "100000"], "charge distance is 100000 layers"),
    ],
)
def test_bad_arguments_are_told_in_one_line(scan, tmp_path, capsys, arguments, message):
    arguments = [scan[0] if argument == "VOLUME" else argument for argument in arguments]
    line = error_of(capsys, arguments[0], "--out", tmp_path / "out", *arguments[1:])
    assert re.search(message, line), line
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_nothing(scan, tmp_path, capsys, monkeypatch, without_3d):
    def interrupt(self, fraction):
        if self._name == "Writing":
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr(Progress, "__call__", interrupt)
    out = tmp_path / "out"
    assert main(["segment", str(scan[0]), "--seed", "15,10,6", "--out", str(out)]) == 130
    assert "cancelled" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
