"""Several vessels on the command line: labels, names, and one clear line for bad arguments."""

import json

import numpy as np
import pytest

from fuzzy_vessel.__main__ import main
from support.image_files import write_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """A scan with two tubes along I, at J = 6 and J = 14."""
    rng = np.random.default_rng(7)
    k, j, _ = np.indices((13, 22, 30))
    tubes = ((k - 6) ** 2 + (j - 6) ** 2 <= 5) | ((k - 6) ** 2 + (j - 14) ** 2 <= 5)
    volume = np.where(tubes, 200, 100) + rng.normal(0, 5, tubes.shape)
    return write_nrrd(tmp_path_factory.mktemp("scan") / "two.nrrd", volume.astype(np.int16))


def vessels(*named):
    return [each for vessel in named for each in ("--vessel", vessel)]


def test_each_vessel_has_a_label_a_segment_and_a_line(scan, tmp_path, without_3d, capsys):
    import slicer

    out = tmp_path / "out"
    named = vessels("portal:3,6,6", "hepatic:3,14,6", "portal:25,6,6")
    assert main(["segment", str(scan), *named, "--device", "cpu", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "label 1 portal: " in text
    assert "label 2 hepatic: " in text
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [(v["name"], v["label"]) for v in report["each_vessel"]] == [
        ("portal", 1), ("hepatic", 2),
    ]  # fmt: skip
    slicer.mrmlScene.Clear()
    labelmap = slicer.util.loadLabelVolume(str(out / "labelmap.nrrd"))
    labels = slicer.util.arrayFromVolume(labelmap)
    assert (labels[6, 6, 15], labels[6, 14, 15], labels[6, 10, 15]) == (1, 2, 0)
    header = (out / "segmentation.seg.nrrd").read_bytes()[:6000].decode("latin-1")
    for number, name in enumerate(("portal", "hepatic")):
        assert f"Segment{number}_Name:={name}\n" in header
        assert f"Segment{number}_LabelValue:={number + 1}\n" in header
        assert f"Segment{number}_Layer:=0\n" in header
    assert "Portal vein" in header
    assert "Hepatic vein" in header
    assert {path.name for path in out.glob("seeds*")} == {"seeds-1.mrk.json", "seeds-2.mrk.json"}


def test_a_run_makes_a_tree_of_each_vessel(scan, tmp_path, without_3d, capsys):
    out = tmp_path / "out"
    named = vessels("portal:3,6,6", "hepatic:3,14,6")
    assert main(["run", str(scan), *named, "--device", "cpu", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert text.count("1 branch") == 2
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [v["name"] for v in report["each_vessel"]] == ["portal", "hepatic"]
    assert set(report["skeletons"]) == {"1", "2"}
    rows = (out / "branches.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("label,branch")
    assert [row.split(",")[0] for row in rows[1:]] == ["1", "2"]
    for label in (1, 2):
        assert (out / f"label-{label}" / "skeleton.swc").is_file()
    assert (out / "scene.mrb").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*vessels("a:1,2,3"), "--seed", "3,6,6"], "--vessel and --seed do not go together"),
        (vessels("a:3,6,6", "b:3,6,6"), "3,6,6 is a point of 'a' and of 'b'"),
        (vessels("a:3,6,6", "b:99,6,6"), "--vessel 99,6,6 lies outside the volume"),
        ([], "--vessel NAME:I,J,K for several vessels"),
    ],
)
def test_vessels_that_cannot_be_used_are_refused(scan, tmp_path, capsys, arguments, said):
    assert main(["segment", str(scan), *arguments, "--out", str(tmp_path / "out")]) == 2
    text = capsys.readouterr().err
    assert said in text
    assert text.count("\n") == 1
    assert not (tmp_path / "out").exists()
