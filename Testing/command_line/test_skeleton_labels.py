"""`fuzzy-vessel skeleton --labels`: one tree for each label of a labelmap."""

import csv
import json

import pytest

from command_line.test_command_line import error_of
from command_line.test_skeleton_command import SKELETON_FILES, tree  # noqa: F401
from fuzzy_vessel.__main__ import main

pytest.importorskip("slicer", reason="slicer-core is not installed")


def run(capsys, *arguments):
    """Run the program in this process; return what it said."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_each_label_has_its_tree_as_if_it_were_alone(tree, without_3d, tmp_path, capsys):  # noqa: F811
    path, _ = tree
    out = tmp_path / "trees"
    text = run(capsys, "skeleton", path, "--labels", "all", "--out", out)
    assert "label 2" in text
    assert "label 5" in text
    assert {each.name for each in out.iterdir()} == {
        "label-2", "label-5", "branches.csv", "scene.mrb", "report.json",
    }  # fmt: skip
    for label in (2, 5):
        alone = tmp_path / f"alone {label}"
        run(capsys, "skeleton", path, "--label", str(label), "--out", alone)
        for name in ("branches.csv", "skeleton.swc", "network.graphml", "network-edges.csv"):
            own = (out / f"label-{label}" / name).read_bytes()
            assert own == (alone / name).read_bytes(), name
        there = {each.name for each in (out / f"label-{label}").iterdir()}
        assert there == SKELETON_FILES - {"scene.mrb", "report.json", "skeleton.png"}
    table = rows_of(out / "branches.csv")
    assert [row["label"] for row in table] == ["2", "2", "2", "5"]
    assert [row["branch"] for row in table] == ["0", "1", "2", "0"]
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert {label: each["branches"] for label, each in report["skeletons"].items()} == {
        "2": 3,
        "5": 1,
    }


def test_only_the_labels_that_are_named(tree, without_3d, tmp_path, capsys):  # noqa: F811
    run(capsys, "skeleton", tree[0], "--labels", "5", "--out", tmp_path / "out")
    assert [row["label"] for row in rows_of(tmp_path / "out" / "branches.csv")] == ["5"]


def test_labels_that_do_not_fit_are_said(tree, tmp_path, capsys):  # noqa: F811
    out = tmp_path / "out"
    assert "no label 3; there are 2, 5" in error_of(
        capsys, "skeleton", tree[0], "--labels", "2,3", "--out", out
    )
    for text in ("", "none", "0", "1,,2"):
        assert "no list of labels" in error_of(
            capsys, "skeleton", tree[0], "--labels", text, "--out", out
        )
    both = ("--labels", "2", "--label", "2")
    assert "not allowed with" in error_of(capsys, "skeleton", tree[0], *both, "--out", out)
    assert not out.exists()
