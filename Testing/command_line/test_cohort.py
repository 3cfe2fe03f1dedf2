"""Many cases: one table, a bad case stops no other, what is done is not done again."""

import csv
import errno
import json
import os
import re

import numpy as np
import pytest

from command_line.test_command_line import error_of, write_scan
from fuzzy_vessel import cohort
from fuzzy_vessel.__main__ import main
from fuzzy_vessel.cohort import read_cases
from FuzzyVesselCoreLib.errors import InputError
from support.places import PACKAGE_FOLDERS

HEAD = "case,volume,seeds,background,mask\n"
REPORT = {
    "program": "fuzzy-vessel",
    "vessels": {"ml": 1.5},
    "each_vessel": [{"name": "portal", "ml": 1.0}, {"name": "hepatic", "ml": 0.5}],
    "threshold": {"value": 0.5, "chosen": "automatically", "confidence": 0.8},
    "skeleton": {"total_length_mm": 10.0, "branches": 2},
    "warnings": [],
}
BRANCHES = "component,length_mm,mean_radius_mm\n0,1,2\n0,3,4\n1,0,9\n"


@pytest.fixture
def cases(tmp_path):
    """A list of three cases, the second of which fails."""
    for name in "abc":
        (tmp_path / f"{name}.nrrd").write_text(name)
    text = 'first,a.nrrd,"1,2,3; 4,5,6",,\n,b.nrrd,points.mrk.json,"7,8,9",\n,c.nrrd,,,a.nrrd'
    (tmp_path / "list.csv").write_text(HEAD + text)
    return tmp_path / "list.csv"


@pytest.fixture
def commands(monkeypatch):
    """The commands that were run; those of b.nrrd fail, and the others write a result."""
    ran = []

    def run(command):
        ran.append(command)
        if any(argument.endswith("b.nrrd") for argument in command):
            return 2, "something\nfuzzy-vessel: error: b.nrrd: no volume.\n"
        (out,) = [part[6:] for part in command if part.startswith("--out=")]
        folder = cohort.Path(out)
        folder.mkdir(exist_ok=True)
        (folder / "report.json").write_text(json.dumps(REPORT))
        (folder / "branches.csv").write_text(BRANCHES)
        return 0, "done\n"

    monkeypatch.setattr(cohort, "_process", run)
    return ran


def table(folder):
    with (folder / "cases.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,volume,sedes\n", "'sedes' is unknown"),
        ("case,seeds\na,b\n", "no column volume"),
        ("volume\n", "no case"),
        ("volume\nx/a.nrrd\ny/a.nii.gz\n", "2 cases are called 'a'"),
    ],
)
def test_lists_that_cannot_be_used(tmp_path, text, message):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_cases(tmp_path / "list.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_cases(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x" * 300, "cannot be a folder"),
        ("a\0b", "has a control character"),
        ("Cohort.json", "cannot be a folder"),
    ],
)
def test_a_name_that_no_folder_can_have_stops_no_other(
    cases, commands, tmp_path, capsys, name, problem
):
    cases.write_text(f"{HEAD}{name},a.nrrd,,,\nfirst,c.nrrd,,,\n", encoding="utf-8")
    out = tmp_path / "out"
    assert main(["cohort", str(cases), f"--out={out}"]) == 3
    bad, good = table(out)
    assert (bad["status"], good["status"]) == ("failed", "done")
    assert problem in bad["error"]
    assert len(commands) == 1
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("workers", ["1", "8"])
def test_one_table_and_a_bad_case(cases, commands, tmp_path, capsys, workers):
    out = tmp_path / "out"
    options = ["--workers", workers, "--options=--threshold 0.5"]
    assert main(["cohort", str(cases), f"--out={out}", *options]) == 3  # one failed
    assert all(command[-3:-1] == ["--threshold", "0.5"] for command in commands)
    first, second, third = table(out)
    assert [row["case"] for row in (first, second, third)] == ["first", "b", "c"]
    assert [row["status"] for row in (first, second, third)] == ["done", "failed", "done"]
    assert second["error"] == "b.nrrd: no volume."
    assert (first["volume_ml"], first["branches"], first["components"]) == ("1.5", "2", "2")
    assert first["each_vessel_ml"] == "portal: 1.0; hepatic: 0.5"
    assert float(first["mean_radius_mm"]) == 3.5
    said = capsys.readouterr()
    assert "2 of 3 done" in said.out
    assert "case b: b.nrrd: no volume." in said.err
    assert "something" in (out / "b.log").read_text()


def test_what_is_done_is_not_done_again(cases, commands, tmp_path):
    arguments = ["cohort", str(cases), f"--out={tmp_path / 'out'}"]
    assert main(arguments) == 3
    before = table(tmp_path / "out")
    commands.clear()
    assert main(arguments) == 3
    assert [re.search(r"\w\.nrrd", " ".join(command)).group() for command in commands] == ["b.nrrd"]
    assert table(tmp_path / "out")[0] == before[0]
    commands.clear()
    (tmp_path / "c.nrrd").write_text("another")
    assert main(arguments) == 3
    assert len(commands) == 2


def test_a_folder_in_use_and_a_full_disk(cases, commands, tmp_path, capsys, monkeypatch):
    arguments = ["cohort", str(cases), f"--out={tmp_path / 'out'}"]
    write = cohort._write

    def full(folder, cases, entries):
        if len(entries) == 1:
            assert "is in use by another run" in error_of(capsys, *arguments)
        if len(entries) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(folder, cases, entries)

    with monkeypatch.context() as patched:
        patched.setattr(cohort, "_write", full)
        assert "finished cases are kept" in error_of(capsys, *arguments)
    assert main(arguments) == 3
    assert len(table(tmp_path / "out")) == 3


def test_foreign_folders_and_wrong_options(cases, commands, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    run = ("cohort", cases, f"--out={tmp_path / 'out'}")
    for arguments, said in (
        (("cohort", cases, f"--out={tmp_path / 'mine'}"), "holds other files"),
        ((*run, "--options=--mask=x"), "--mask belongs to one case"),
        ((*run, "--options=--nonsense 3"), "--options: unrecognized arguments: --nonsense"),
        ((*run, "--options=--threshold 7"), "--options: argument --threshold: '7' is not"),
        (("cohort", cases, "--out="), "the name of the folder is empty"),
    ):
        assert said in error_of(capsys, *arguments)
    assert commands == []


def test_processes_on_a_small_scan(tmp_path, monkeypatch, capsys):
    """Two real cases: a tube, and a file that is no volume."""
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, PACKAGE_FOLDERS)))
    vessel = np.zeros((12, 20, 30), bool)
    vessel[3:10, 7:14, :] = True
    write_scan(tmp_path / "tube.nrrd", vessel)
    (tmp_path / "broken.nrrd").write_text("no volume")
    text = HEAD + ',broken.nrrd,"15,10,6",,\n,tube.nrrd,"15,10,6",,\n'
    (tmp_path / "list.csv").write_text(text)
    out = tmp_path / "out"
    arguments = ["cohort", str(tmp_path / "list.csv"), f"--out={out}", "--options=--device=cpu"]
    assert main(arguments) == 3
    broken, tube = table(out)
    assert (broken["status"], tube["status"]) == ("failed", "done"), tube["error"]
    assert "broken.nrrd" in broken["error"]
    assert float(tube["volume_ml"]) > 1
    assert (out / "tube" / "labelmap.nrrd").exists()
    capsys.readouterr()
