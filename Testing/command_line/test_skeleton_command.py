"""`fuzzy-vessel skeleton`, `run` and `demo`: centrelines as a user gets them, and bad labelmaps."""

import csv

import numpy as np
import pytest

from command_line.test_command_line import (
    FILES,
    array_of,
    error_of,
    names_in,
    report_in,
    told,
    write_scan,
)
from fuzzy_vessel.__main__ import main
from support.image_files import write_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")

# Files of lines, which an object without a branch has not.
LINE_FILES = {
    "centrelines.vtp", "curves.mrk.json", "centrelines-rooted.vtp", "centrelines-split.vtp",
    "network.vtp", "simvascular-paths",
}  # fmt: skip
SKELETON_FILES = LINE_FILES | {
    "skeleton.nrrd", "branches.csv", "skeleton.swc", "skeleton.png", "scene.mrb", "report.json",
    "network.graphml", "network-nodes.csv", "network-edges.csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A labelmap of two labels: a T of three branches (2), and a rod apart from it (5)."""
    labels = np.zeros((20, 40, 60), np.uint8)
    labels[7:12, 8:13, 5:55] = 2
    labels[7:12, 13:35, 28:33] = 2
    labels[15:18, 25:28, 5:20] = 5
    path = tmp_path_factory.mktemp("labels") / "a tree.nrrd"
    return write_nrrd(path, labels), labels


def swc_samples(folder):
    lines = (folder / "skeleton.swc").read_text().splitlines()
    return np.array([line.split() for line in lines if not line.startswith("#")], float)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_each_label_has_its_tree_as_if_it_were_alone(tree, tmp_path, capsys):
    path, labels = tree
    out, alone = tmp_path / "trees", tmp_path / "alone"
    text = told(capsys, "skeleton", path, "--label", "2", "--out", alone)
    summary = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert list(summary) == ["skeleton", "computed", "results"]
    assert summary["skeleton"].startswith("3 branches, ")
    assert names_in(alone) == SKELETON_FILES
    voxels = array_of(alone / "skeleton.nrrd")
    assert voxels.any()
    assert not voxels[labels != 2].any()
    found = report_in(alone)
    assert found["input"]["label"] == 2
    assert (found["skeleton"]["branches"], found["skeleton"]["components"]) == (3, 1)
    assert found["skeleton"]["skeleton_voxels"] == np.count_nonzero(voxels)
    lengths = [float(row["length_mm"]) for row in rows_of(alone / "branches.csv")]
    assert sum(lengths) == pytest.approx(found["skeleton"]["total_length_mm"], abs=1e-4)

    text = told(capsys, "skeleton", path, "--labels", "all", "--out", out)
    assert "label 2" in text
    assert "label 5" in text
    assert names_in(out) == {"label-2", "label-5", "branches.csv", "scene.mrb", "report.json"}
    for name in ("branches.csv", "skeleton.swc", "network.graphml", "network-edges.csv"):
        assert (out / "label-2" / name).read_bytes() == (alone / name).read_bytes(), name
    assert names_in(out / "label-5") == SKELETON_FILES - {"scene.mrb", "report.json"}
    table = [(row["label"], row["branch"]) for row in rows_of(out / "branches.csv")]
    assert table == [("2", "0"), ("2", "1"), ("2", "2"), ("5", "0")]
    skeletons = report_in(out)["skeletons"]
    assert {label: each["branches"] for label, each in skeletons.items()} == {"2": 3, "5": 1}


def test_an_object_without_branches_is_no_error(tmp_path, capsys):
    labels = np.zeros((5, 5, 5), np.uint8)
    labels[2, 2, 2] = 1
    out = tmp_path / "out"
    told(capsys, "skeleton", write_nrrd(tmp_path / "dot.nrrd", labels), "--out", out)
    assert report_in(out)["skeleton"]["branches"] == 0
    assert names_in(out) == SKELETON_FILES - {"skeleton.png"} - LINE_FILES


def test_run_segments_and_finds_the_axis(tmp_path, without_3d, capsys):
    vessel = np.zeros((12, 20, 40), bool)
    vessel[3:10, 7:14, 2:38] = True
    path, out = write_scan(tmp_path / "scan.nrrd", vessel), tmp_path / "results"
    arguments = ["--seed", "15,10,6", "--seed", "25,10,6"]
    assert main(["run", str(path), *arguments, "--out", str(out)]) == 0
    # Without 3D there is no picture of the centrelines; that is said, once.
    assert names_in(out) == FILES | SKELETON_FILES - {"skeleton.png"}
    said = capsys.readouterr()
    assert said.err.count("no 3D in this test") == 1
    summary = [line.split()[0] for line in said.out.splitlines() if line[0] != " "]
    assert summary == ["threshold", "vessels", "skeleton", "computed", "results"]
    assert "times the noise" in said.out
    found = report_in(out)
    labels = array_of(out / "labelmap.nrrd")
    assert found["vessels"]["voxels"] == np.count_nonzero(labels)
    assert not array_of(out / "skeleton.nrrd")[labels == 0].any()
    assert found["skeleton"]["options"]["close_tunnels"] == 2.0
    assert {"computing connectedness", "finding centrelines"} <= set(found["seconds"])
    # The axis, J = 10 and K = 6, but for the ends.
    samples = swc_samples(out)[:, 2:5]
    inner = abs(samples[:, 0] + 10 + 20) < 10
    assert inner.sum() > 10
    assert abs(samples[inner, 1] + 20 + 10).max() < 1.5
    assert abs(samples[inner, 2] - 30 - 12).max() < 2.5


def test_the_demonstration_finds_the_phantoms_vessels(tmp_path, capsys, without_3d):
    out = tmp_path / "demo"
    text = told(capsys, "demo", "--size", "64", "--seed-number", "1", "--out", out)
    assert "Dice" in text
    known = array_of(out / "phantom-vessels.nrrd")
    assert known.shape == (64, 64, 64)
    assert array_of(out / "labelmap.nrrd")[known > 0].any()


def test_bad_labelmaps_are_told_in_one_line(tmp_path, capsys):
    scan = np.random.default_rng(1).integers(-1000, 1000, (4, 50, 60)).astype(np.int16)
    for name, array, message in (
        ("scan", scan, "looks like a scan, not a labelmap"),
        ("many", np.arange(512, dtype=np.int16).reshape(8, 8, 8), "512 different numbers from 0"),
        ("fuzzy", np.full((4, 5, 6), 0.25, np.float32), "not whole, such as 0.25"),
        ("unset", np.full((4, 5, 6), np.nan, np.float32), "not whole, such as nan"),
        ("nothing", np.zeros((4, 5, 6), np.uint8), "the labelmap is empty"),
    ):
        path = write_nrrd(tmp_path / f"{name}.nrrd", array)
        line = error_of(capsys, "skeleton", path, "--out", tmp_path / "out")
        assert f"{path}: " in line
        assert message in line
        assert not (tmp_path / "out").exists()


def test_formats_and_a_root_are_chosen(tree, without_3d, tmp_path, capsys):
    out = tmp_path / "out"
    for formats, there in (
        ("none", set()),
        ("stl,graphml", {"surface.stl", "tubes.stl", "network.graphml"}),
        ("vmtk", {"centrelines-rooted.vtp", "centrelines-split.vtp", "network.vtp"}),
    ):
        told(capsys, "skeleton", tree[0], "--label", "2", "--formats", formats, "--out", out)
        assert names_in(out) - {
            "skeleton.nrrd", "branches.csv", "skeleton.swc", "scene.mrb", "report.json",
            "centrelines.vtp", "curves.mrk.json",
        } == there  # fmt: skip
    said = error_of(capsys, "skeleton", tree[0], "--root", "60,0,0", "--out", tmp_path / "b")
    assert "--root 60,0,0 lies outside the volume: I, J, K go from 0 to 59, 39, 19" in said
    assert not (tmp_path / "b").exists()


def test_an_aorta_lies_where_other_software_found_its_centrelines(
    data_folder, tmp_path, without_3d, capsys
):
    """Within a voxel (0.88 x 0.88 x 1.5 mm) on average."""
    import slicer
    from scipy.spatial import cKDTree

    from fuzzy_vessel import headless

    out = tmp_path / "out"
    seeds = [f"--seed={seed}" for seed in ("70,273,16", "88,93,19", "63,94,20")]
    # The right border for diameters of wide vessels.
    told(capsys, "run", data_folder / "aorta_mra.mha", *seeds, "--border", "half", "--out", out)
    headless.start().clear()
    # This model is in RAS, without saying so: Slicer would take it for LPS.
    reference = slicer.util.loadModel(str(data_folder / "aorta_mra_centerline.vtp"))
    known = slicer.util.arrayFromModelPoints(reference) * [-1, -1, 1]
    away = cKDTree(swc_samples(out)[:, 2:5]).query(known)[0]
    assert away.mean() < 1.0
    assert np.percentile(away, 95) < 2.0
