"""The command line as a user meets it: results, summary, and one clear line for bad input."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from fuzzy_vessel.__main__ import main
from fuzzy_vessel.progress import Progress
from support.image_files import write_nrrd
from support.places import PACKAGE_FOLDERS

pytest.importorskip("slicer", reason="slicer-core is not installed")

FILES = {
    "labelmap.nrrd",
    "fuzzy-scene.nrrd",
    "segmentation.seg.nrrd",
    "seeds.mrk.json",
    "scene.mrb",
    "picture.png",
    "report.json",
}


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """A scan with a bright tube along I at J = 10, K = 6, and its true voxels."""
    rng = np.random.default_rng(7)
    vessel = np.zeros((12, 20, 30), bool)
    vessel[3:10, 7:14, :] = True
    volume = np.where(vessel, 200, 100) + rng.normal(0, 5, vessel.shape)
    path = tmp_path_factory.mktemp("scan") / "scan of a tube.nrrd"
    return write_nrrd(path, volume.astype(np.int16)), vessel


def run(*arguments):
    """Run the program as its own process, with its outputs in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "fuzzy_vessel", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS))},
        capture_output=True,
        text=True,
        timeout=120,
    )


def array_of(path):
    import slicer

    from fuzzy_vessel import headless
    from fuzzy_vessel.reading import volumes

    headless.start()
    return slicer.util.arrayFromVolume(volumes.read_volume(path)).copy()


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


def test_a_run_in_a_pipe(scan, tmp_path):
    path, vessel = scan
    out = tmp_path / "results"
    done = run(
        "segment",
        path,
        "--seed",
        "15,10,6",
        "--threshold",
        "0.02",
        "--solver",
        "exact",
        "--out",
        out,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    summary = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert list(summary) == ["threshold", "vessels", "computed", "results"]
    assert summary["results"] == str(out)
    assert {entry.name for entry in out.iterdir()} == FILES
    assert [entry.name for entry in tmp_path.iterdir()] == ["results"]

    labels = array_of(out / "labelmap.nrrd")
    assert np.count_nonzero(labels[vessel]) > 0.9 * np.count_nonzero(vessel)
    assert not labels[~vessel].any()
    scene = array_of(out / "fuzzy-scene.nrrd")
    assert scene.dtype == np.float32
    assert scene[6, 10, 15] == 1
    np.testing.assert_array_equal(scene >= np.float32(0.02), labels)
    report = json.loads((out / "report.json").read_text())
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
    first = tmp_path / "first"
    assert main(["segment", str(path), "--seed", "5,10,6", "--out", str(first)]) == 0
    seeds = first / "seeds.mrk.json"
    out = tmp_path / "second"
    arguments = ["segment", str(path), "--seeds", str(seeds), "--seed", "8,10,6"]
    arguments += ["--background", "3,3,3", "--mask", str(mask_path), "--solver", "dial"]
    assert main([*arguments, "--cut", "0.001", "--device", "cpu", "--out", str(out)]) == 0
    assert "just above the background seeds" in capsys.readouterr().out
    report = json.loads((out / "report.json").read_text())
    assert report["solver"] == "dial"
    assert [seed["ijk"] for seed in report["input"]["seeds"]] == [[5, 10, 6], [8, 10, 6]]
    assert report["input"]["background_seeds"] == [{"label": "3,3,3", "ijk": [3, 3, 3]}]
    assert {entry.name for entry in out.iterdir()} == FILES | {"background-seeds.mrk.json"}
    labels = array_of(out / "labelmap.nrrd")
    assert labels[6, 10, 5] == 1
    assert labels[3, 3, 3] == 0
    assert not labels[mask == 0].any()


@pytest.mark.parametrize("given", [[], ["--seed", "1,10,6"]])
def test_automatic_seeds(scan, tmp_path, without_3d, given):
    path, vessel = scan
    out = tmp_path / "results"
    options = [*given, "--automatic-seeds", "2", "--out", str(out)]
    assert main(["segment", str(path), *options]) == 0
    seeds = json.loads((out / "report.json").read_text())["input"]["seeds"]
    assert [each["label"] for each in seeds][: len(given) // 2] == given[1:]
    found = [each for each in seeds if each["label"].startswith("automatic-")]
    assert found
    assert all(vessel[tuple(each["ijk"][::-1])] for each in found)
    labels = array_of(out / "labelmap.nrrd") > 0
    assert 2 * (labels & vessel).sum() > 0.85 * (labels.sum() + vessel.sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["segment", "VOLUME"], "there is no seed.*--seed I,J,K.*--automatic-seeds"),
        (["segment", "VOLUME", "--automatic-seeds", "0"], "'0' is not a whole number from 1"),
        (["segment", "VOLUME", "--seed", "30,0,0"], r"--seed 30,0,0 lies outside.*29, 19, 11"),
        (["segment", "VOLUME", "--seed=-15,-10,6"], r"--seed -15,-10,6 lies .* not R, A, S in mm"),
        (["segment", "VOLUME", "--seed=-15.5,10,6"], r"not a voxel .*indices, not R,A,S in mm"),
        (["segment", "VOLUME", "--seed", "-15,10,6"], r"--seed: expected .*--option=-1,2,3"),
        (["segment", "VOLUME", "--seed", "5,5"], r"'5,5' is not a voxel I,J,K"),
        (["segment", "VOLUME", "--seed", "5,5,x"], r"'5,5,x' is not a voxel I,J,K"),
        (["segment", "gone.nrrd", "--seed", "5,5,5"], r"gone\.nrrd: there is no such file"),
        (["segment", "VOLUME", "--seed", "5,5,5", "--threshold", "2"], "'2' is not a number"),
        (
            ["segment", "VOLUME", "--seed", "5,5,5", "--solver", "best"],
            "unknown solver 'best'.*dial",
        ),
        (["segment", "VOLUME", "--seed", "5,5,5", "--device", "tpu"], "unknown device 'tpu'.*cuda"),
        (
            ["segment", "VOLUME", "--seed", "5,5,5", "--threshold", "0.1", "--cut", "0.2"],
            r"threshold 0\.1 is below the cut 0\.2",
        ),
        (["segment", "VOLUME", "--seed", "5,5,5", "--mask", "gone.nii"], r"gone\.nii: there is no"),
        (["segment", "VOLUME", "--seeds", "gone.mrk.json"], r"gone\.mrk\.json: there is no such"),
        (["segment", "VOLUME", "--seed", "5,5,5", "--frame", "1"], "one of its frames"),
        (["demo", "--size", "2"], "--size: '2' is not a whole number from 8 up"),
        (["demo", "--size", "0"], "--size: '0' is not a whole number"),
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


def test_help_and_version_do_not_load_the_libraries():
    code = (
        "import sys\n"
        "from fuzzy_vessel.__main__ import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'numpy', 'vtk', 'slicer', 'numba', 'PIL'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    for argument, expected in (("--help", "--seed 265,206,70"), ("--version", "fuzzy-vessel 0")):
        done = subprocess.run(
            [sys.executable, "-c", code, argument],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS))},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
