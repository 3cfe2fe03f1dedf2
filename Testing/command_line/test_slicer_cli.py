"""Both jobs as Slicer CLI modules: description, arguments, progress, results, errors."""

import os
import re
import subprocess
import sys
import tomllib
from xml.etree import ElementTree

import numpy as np
import pytest

from fuzzy_vessel.__main__ import main
from fuzzy_vessel.slicer_cli import segment_main, skeleton_main
from support.image_files import write_nrrd
from support.places import ROOT

pytest.importorskip("slicer", reason="slicer-core is not installed")
SHAPE = (14, 20, 30)
# Elements that ModuleDescription.xsd of the Slicer Execution Model has for a parameter.
INSIDE = {
    "name", "flag", "longflag", "description", "label", "default", "channel", "index", "element",
    "constraints",
}  # fmt: skip


@pytest.fixture
def scan(tmp_path):
    """A tube along I with two branches; in LPS, 1 x 1 x 2 mm, first voxel at (10, 20, 30)."""
    k, j, i = np.indices(SHAPE)
    tube = (k - 7) ** 2 + (j - 10) ** 2 <= 8
    tube |= ((k - 7) ** 2 + (i - 15) ** 2 <= 5) & (j > 10)
    noise = np.random.default_rng(2).normal(0, 6, SHAPE)
    return write_nrrd(tmp_path / "ct, 1.nrrd", (np.where(tube, 300, 90) + noise).astype(np.int16))


def ras(i, j, k):
    """A voxel of the scan as Slicer writes a point on the command line."""
    return f"{-(10 + i)},{-(20 + j)},{30 + 2 * k}"


def told(capsys):
    return re.findall(r"<filter-progress>([\d.]+)</filter-progress>", capsys.readouterr().out)


MODULES = {"FuzzyVesselSegment": segment_main, "FuzzyVesselSkeleton": skeleton_main}


@pytest.mark.parametrize("name", MODULES)
def test_the_description_is_what_the_schema_has(name, capsys):
    assert MODULES[name](["--xml"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("<?xml")
    assert captured.err == ""
    top = ElementTree.fromstring(captured.out)
    assert [each.tag for each in top][:7] == [
        "category", "title", "description", "version", "documentation-url", "license",
        "contributor",
    ]  # fmt: skip
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert top.findtext("version") == project["version"]
    names, indices = [], []
    for group in top.findall("parameters"):
        assert [each.tag for each in group][:2] == ["label", "description"]
        for each in group[2:]:
            assert {inner.tag for inner in each} <= INSIDE
            names.append(each.findtext("name"))
            assert each.findtext("longflag") or each.findtext("index")
            if each.findtext("index"):
                indices.append(int(each.findtext("index")))
            if each.tag in ("image", "geometry", "table"):
                assert each.findtext("channel") in ("input", "output")
            choices = [choice.text for choice in each.findall("element")]
            assert not choices or each.findtext("default") in choices
    assert len(set(names)) == len(names) > 8
    assert indices == [0, 1]


# --- runs


def test_from_points_to_labels_to_centrelines(scan, tmp_path, capsys):
    from fuzzy_vessel.reading import volumes

    labels, strength = tmp_path / "labels.nrrd", tmp_path / "strength.nrrd"
    job = [str(scan), str(labels), "--seed", ras(4, 10, 7), "--seed", ras(15, 16, 7)]
    assert segment_main([*job, "--connectedness", str(strength), "--threshold", "0.5"]) == 0
    steps = [float(each) for each in told(capsys)]
    assert steps == sorted(steps)
    assert steps[0] == 0
    assert steps[-1] == 1
    assert any(0.4 < step < 0.85 for step in steps)  # also while it is computed
    assert strength.stat().st_size > 100
    _, found = volumes.read_labelmap(labels)
    assert found == [1]
    lines, table = tmp_path / "lines.vtp", tmp_path / "branches.csv"
    job = [str(labels), str(lines), "--branches", str(table), "--dropIslands", "0"]
    assert skeleton_main(job) == 0
    assert float(told(capsys)[-1]) == 1
    rows = table.read_text().splitlines()
    assert len(rows) > 1
    assert rows[0].startswith("branch,")
    import vtk

    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(lines))
    reader.Update()
    assert reader.GetOutput().GetNumberOfLines() == len(rows) - 1
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        [scan.name, "labels.nrrd", "strength.nrrd", "lines.vtp", "branches.csv"]
    )


SEED = ("--seed", "-14,-30,44")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labels.nrrd"], "there is no seed: give points inside the vessels with --seed R,A,S"),
        (["labels.png", *SEED], "labels can be written as"),
        (["no/labels.nrrd", *SEED], "there is no folder"),
        (["labels.nrrd", "--seed", "500,500,500"], "outside"),
        (["labels.nrrd", *SEED, "--mask", "other.nrrd"], "other.nrrd"),
        (["labels.nrrd", *SEED, "--fillGaps", "-3"], "-3"),
    ],
)
def test_input_that_cannot_be_used_is_told_in_one_line(
    scan, tmp_path, capsys, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    assert segment_main([scan.name, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("FuzzyVesselSegment: error: ")
    assert message in error
    assert error.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == [scan.name]


# --- the folder for Slicer


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_folder_for_slicer_runs_in_slicers_environment(tmp_path, capsys):
    folder = tmp_path / "CLI, mine"
    assert main(["slicer-cli", str(folder)]) == 0
    capsys.readouterr()
    names = sorted(each.name for each in folder.iterdir())
    assert names == [
        "FuzzyVesselSegment", "FuzzyVesselSegment.xml",
        "FuzzyVesselSkeleton", "FuzzyVesselSkeleton.xml",
    ]  # fmt: skip
    for name in ("FuzzyVesselSegment", "FuzzyVesselSkeleton"):
        done = subprocess.run(
            [folder / name, "--xml"],
            env={**os.environ, "PYTHONHOME": "/nowhere", "LD_LIBRARY_PATH": "/nowhere"},
            capture_output=True,
            text=True,
            cwd=ROOT / "CommandLine",
        )
        if "No module named" in done.stderr:  # the packages are on the tests' own path alone
            pytest.skip("fuzzy-vessel-gpu is not installed in this environment")
        assert done.returncode == 0, done.stderr
        assert done.stdout == (folder / f"{name}.xml").read_text(encoding="utf-8")
