"""Many cases: one table, a bad case stops no other, what is done is not done again."""

import csv
import errno
import json
import os
import re

import numpy as np
import pytest

from command_line.test_command_line import error_of, write_scan
from fuzzy_vessel import cohort, large
from fuzzy_vessel.__main__ import main
from fuzzy_vessel.cohort import read_cases
from FuzzyConnectedGPULib import binarize
from FuzzyConnectedGPULib.scene import level_values
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.voxels.masks import label_components
from PotentialSkeletonLib import SkeletonOptions, skeletonize
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
    commands.clear()
    (tmp_path / "out" / "first" / "branches.csv").unlink()  # only that case is done again
    assert main(arguments) == 3
    assert len(commands) == 2
    assert table(tmp_path / "out")[0]["status"] == "done"


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
        ((*run, "--options=--nonsense 3"), "unrecognized arguments: --nonsense"),
        ((*run, "--options=--threshold 7"), "argument --threshold: '7' is not"),
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


# ---- `fuzzy-vessel large`: labels and centrelines of a scene on disk are those of the whole


zarr = pytest.importorskip("zarr", minversion="3")
SPACING, ORIGIN = (1.5, 0.5, 0.25), (7.0, -8.0, 9.0)


@pytest.fixture(scope="module")
def levels():
    """Levels that fall from the phantom's vessels, with noise in them."""
    vessels = liver_phantom((32, 36, 40)).mask.astype(bool)
    vessels[27:30, 2:6, 4:36] = vessels[1:4, 31:35, 4:36] = True
    random = np.random.default_rng(2).random(vessels.shape)
    return np.where(vessels, 30000 + 35000 * random, 25000 * random * (random > 0.97)).astype(
        np.uint16
    )


def whole_labels(scene, threshold, min_voxels=1, seeds=None):
    """The numbered components (int32) of at least so many voxels, or of seeds, of a whole scene."""
    labels, count = label_components(binarize(scene, threshold).view(bool))
    kept = np.bincount(labels.ravel(), minlength=count + 1) >= min_voxels
    kept[0] = False
    if seeds is not None:
        kept &= np.isin(np.arange(count + 1), labels[tuple(np.transpose(seeds))])
    return label_components(kept[labels])[0]


@pytest.fixture
def scene(levels, tmp_path):
    """The levels as an OME-Zarr image."""
    group = zarr.create_group(str(tmp_path / "scene.zarr"))
    group.create_array("0", data=levels, chunks=(16, 16, 16))
    placed = [
        {"type": "scale", "scale": list(SPACING)},
        {"type": "translation", "translation": list(ORIGIN)},
    ]
    axes = [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"]
    datasets = [{"path": "0", "coordinateTransformations": placed}]
    multiscale = {"axes": axes, "datasets": datasets}
    group.attrs["ome"] = {"version": "0.5", "multiscales": [multiscale]}
    return tmp_path / "scene.zarr"


def command(scene, out, *more):
    return ["large", str(scene), f"--out={out}", "--block=16", "--device=cpu", *more]


OPTIONS = ("--threshold=0.35", "--min-voxels=20", "--centrelines", "--level=1")


def test_labels_and_centrelines(levels, scene, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(command(scene, out, *OPTIONS, "--workers=2")) == 0
    whole = whole_labels(level_values(levels), 0.35, min_voxels=20)
    skeleton = skeletonize(whole > 0, SPACING, options=SkeletonOptions(level=1, device="cpu"))
    found = zarr.open_group(str(out / "labels.ome.zarr"), mode="r")
    np.testing.assert_array_equal(found["0"][:], whole)
    assert "image-label" in found.attrs["ome"]
    assert (out / "branches.csv").read_text() == skeleton.to_csv()
    report = json.loads((out / "report.json").read_text())
    assert report["labels"]["voxels"] == np.count_nonzero(whole)
    assert report["skeleton"]["branches"] == len(skeleton.branches)
    assert report["input"]["spacing_mm"] == list(SPACING[::-1])
    with (out / "components.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == report["labels"]["components"] == whole.max()
    k, j, i = np.nonzero(whole == 2)
    second = {name: int(value) for name, value in rows[1].items()}
    assert second == {
        "component": 2, "voxels": k.size, "first_i": i.min(), "first_j": j.min(),
        "first_k": k.min(), "last_i": i.max(), "last_j": j.max(), "last_k": k.max(),
    }  # fmt: skip
    assert {"skeleton.swc", "network.vtp", "network-edges.csv"} <= {p.name for p in out.iterdir()}
    assert not [p.name for p in out.iterdir() if "unfinished" in p.name or p.name == "large.json"]
    samples = (out / "skeleton.swc").read_text().splitlines()
    first = next(line.split() for line in samples if not line.startswith("#"))
    node = skeleton.nodes[skeleton.roots()[0]]
    ras = (node.position * SPACING + ORIGIN)[::-1] * (-1, -1, 1)
    np.testing.assert_allclose([float(x) for x in first[2:5]], ras, atol=1e-5)
    assert f"{np.count_nonzero(whole):,} voxels" in capsys.readouterr().out
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    from fuzzy_vessel import headless
    from fuzzy_vessel.reading import volumes

    headless.start().clear()
    node, labels = volumes.read_labelmap(out / "labels.ome.zarr")
    assert len(labels) == whole.max()
    np.testing.assert_allclose(node.GetSpacing(), SPACING[::-1])
    np.testing.assert_allclose(node.GetOrigin(), np.array(ORIGIN[::-1]) * (-1, -1, 1))


def test_from_a_volume_and_an_affinity(tmp_path, capsys):
    from FuzzyConnectedGPULib import GaussianAffinity, connectedness
    from FuzzyConnectedGPULib.thresholds import automatic_threshold

    phantom = liver_phantom((28, 30, 32))
    volume, seeds = phantom.volume, phantom.seeds[:1]
    np.save(tmp_path / "volume.npy", volume)
    k, j, i = seeds[0]
    mean = float(volume[k, j, i])
    more = (f"--affinity={mean},40,40", f"--seed={i},{j},{k}", "--components=seeds")
    out = tmp_path / "out"
    assert main(command(tmp_path / "volume.npy", out, *more)) == 0
    scene = connectedness(volume, seeds, GaussianAffinity(mean, 40, 40), device="cpu")
    whole = whole_labels(scene, automatic_threshold(scene), seeds=seeds)
    found = zarr.open_group(str(out / "labels.ome.zarr"), mode="r")["0"][:]
    np.testing.assert_array_equal(found, whole)
    levels = zarr.open_array(str(out / "levels.zarr"), mode="r")[:]
    np.testing.assert_array_equal(level_values(levels), scene.values)
    assert f"{np.count_nonzero(whole):,} voxels, 1 component\n" in capsys.readouterr().out
    assert np.count_nonzero(whole) > 100
    report = json.loads((out / "report.json").read_text())
    automatic = automatic_threshold(scene)
    told = report["labels"]["threshold"], report["labels"]["why"]
    assert told == (float(automatic), automatic.reason)
    bad = command(tmp_path / "volume.npy", tmp_path / "bad", "--affinity=220,60,30")
    assert "give --seed" in error_of(capsys, *bad)
    bad = command(tmp_path / "volume.npy", tmp_path / "bad", "--affinity=220,0,30")
    assert "is not MEAN,SIGMA,GRADIENT" in error_of(capsys, *bad)


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_an_interrupted_run_is_resumed(levels, scene, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    monkeypatch.setattr(large, "skeletonize_components", interrupted)
    assert main(command(scene, out, *OPTIONS)) == 130
    assert "the same command resumes the run" in capsys.readouterr().err
    message = error_of(capsys, *command(scene, out, "--threshold=0.5"))
    assert "holds an unfinished run whose centrelines and level and min_voxels and thr" in message
    monkeypatch.undo()
    monkeypatch.setattr(large, "labels", lambda *_, **__: pytest.fail("labelled again"))
    assert main(command(scene, out, *OPTIONS)) == 0
    whole = whole_labels(level_values(levels), 0.35, min_voxels=20)
    skeleton = skeletonize(whole > 0, SPACING, options=SkeletonOptions(level=1, device="cpu"))
    assert (out / "branches.csv").read_text() == skeleton.to_csv()
    capsys.readouterr()
    assert "holds other files" in error_of(capsys, *command(scene, out, *OPTIONS))


def test_a_run_is_not_resumed_with_another_scene_of_the_same_name(tmp_path, monkeypatch, capsys):
    values = np.zeros((20, 20, 20), np.float32)
    values[5:8, 5:8] = 1
    place, out = tmp_path / "scene.npy", tmp_path / "out"
    np.save(place, values)
    monkeypatch.setattr(large, "skeletonize_components", interrupted)
    assert main(command(place, out, *OPTIONS)) == 130
    capsys.readouterr()
    np.save(place, values.transpose(2, 1, 0).copy())
    assert "unfinished run whose files differed" in error_of(capsys, *command(place, out, *OPTIONS))


def test_bad_arguments(scene, tmp_path, capsys):
    out = tmp_path / "out"
    bad = command(scene, out, "--components=seeds", "--threshold=0.5")
    assert 'components is "seeds"' in error_of(capsys, *bad)
    assert not out.exists()
    for inside in (scene, scene / "out", scene / "0" / ".." / "out"):
        assert f"lies inside of {scene}" in error_of(capsys, *command(scene, inside))
    assert not (scene / "out").exists()
    assert "is a file of another kind" in error_of(capsys, *command(__file__, out))
    bad = command(scene, out, *OPTIONS, "--root=400,0,0")
    assert "--root 400,0,0 lies outside" in error_of(capsys, *bad)
    few = command(scene, out, "--memory-limit=0.000001")
    assert "above the limit" in error_of(capsys, *few)
    assert not out.exists()
    (scene / "0" / "c" / "1" / "0" / "2").unlink()
    missing = command(scene, out, "--threshold=0.5")
    assert "no file for 1 chunks, the first c/1/0/2" in error_of(
        capsys, *missing, "--missing-chunks=error"
    )
    assert main(missing) == 0
    assert f"1 chunk of {scene} without a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--min-voxels=100000"],
            "the largest of {largest:,} voxels; check --threshold, --min-voxels",
        ),
        (["--components=seeds", "--seed=0,0,0"], "and that a --seed lies in one."),
        (["--threshold=1"], "the scene has 0 components at this threshold"),
    ],
)
def test_no_component_is_left(levels, scene, tmp_path, capsys, options, said):
    """It is said what was found, and the result is whole: nobody waits for more."""
    largest = np.bincount(whole_labels(level_values(levels), 0.35).ravel())[1:].max()
    out = tmp_path / "out"
    options = ["--threshold=0.35", "--centrelines", *options]
    assert main(command(scene, out, *options)) == 0
    assert said.format(largest=largest) in capsys.readouterr().err
    assert not zarr.open_array(str(out / "labels.ome.zarr" / "0"), mode="r")[:].any()
    for table in ("components.csv", "branches.csv"):
        with (out / table).open() as file:
            rows = csv.DictReader(file)
            assert (list(rows), len(rows.fieldnames) > 5) == ([], True)
    report = json.loads((out / "report.json").read_text())
    assert (report["labels"]["components"], report["skeleton"]["branches"]) == (0, 0)
    assert sorted(p.name for p in out.iterdir()) == [
        "branches.csv", "components.csv", "labels.ome.zarr", "report.json"
    ]  # fmt: skip
