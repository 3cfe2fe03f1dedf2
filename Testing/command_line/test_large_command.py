"""`fuzzy-vessel large`: labels and centrelines of a scene on disk are those of the whole."""

import csv
import json

import numpy as np
import pytest

from command_line.test_command_line import error_of
from fuzzy_vessel import large
from fuzzy_vessel.__main__ import main
from FuzzyConnectedGPULib.affinity import level_values
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from PotentialSkeletonLib import SkeletonOptions, skeletonize
from support.whole_labels import whole_labels

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
    whole = whole_labels(scene, automatic_threshold(scene), components="seeds", seeds=seeds)
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


def test_an_interrupted_run_is_resumed(levels, scene, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

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
    tunnels = command(scene, out, "--close-tunnels=1")
    assert "needs the object as a whole" in error_of(capsys, *tunnels)
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
