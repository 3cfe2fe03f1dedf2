"""Lists of points and scenes in one file: what Slicer gets to read, and what is refused."""

import json
import tarfile
import zipfile

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
import slicer

from fuzzy_vessel.reading import points
from fuzzy_vessel.slicer_host import headless
from FuzzyVesselCoreLib.errors import InputError

VALUES = np.arange(120, dtype=np.int16).reshape(4, 5, 6)


@pytest.fixture(autouse=True)
def application():
    app = headless.start()
    yield app
    app.clear()


def refusal(path):
    with pytest.raises(InputError) as caught:
        points.read_seeds(path)
    message = str(caught.value)
    assert path.name in message
    assert message.isprintable()
    return message


@pytest.mark.parametrize(("system", "expected"), [("RAS", [1, 2, 3]), ("LPS", [-1, -2, 3])])
def test_points_in_both_coordinate_systems(tmp_path, system, expected):
    point = {"id": "1", "label": "aorta", "position": [1, 2, 3], "positionStatus": "defined"}
    markup = {"type": "Fiducial", "coordinateSystem": system, "controlPoints": [point]}
    path = tmp_path / "seeds.mrk.json"
    path.write_text(json.dumps({"markups": [markup]}))
    node = points.read_seeds(path)
    np.testing.assert_allclose(slicer.util.arrayFromMarkupsControlPoints(node), [expected])
    assert node.GetNthControlPointLabel(0) == "aorta"


def test_what_is_no_list_of_points(tmp_path):
    path = tmp_path / "seeds.mrk.json"
    assert "no such file" in refusal(path)
    path.write_text("265,206,70")
    assert "not a markups file" in refusal(path)
    path.write_text('{"markups": [{"type": "Line"}]}')
    assert "the file holds Line" in refusal(path)
    path.unlink()
    path.mkdir()
    assert "not a markups file" in refusal(path)


# ---- lists of points


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"markups": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"markups": [{"type": ["Fiducial"]}]}',
        '{"markups": [{"type": null}]}',
        '{"markups": {"type": "Fiducial"}}',
        '{"markups": [{"type": "\\u001b[2J"}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [[]]}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": {"a": 1}}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [{"position": [1, 2]}]}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [{"position": [1, 2, NaN]}]}]}',
        '{"markups": [{"type": "Fiducial", "controlPoints": [{"positionStatus": "lost"}]}]}',
        '{"markups": [{"type": "Fiducial", "coordinateSystem": "XYZ"}]}',
    ],
)
def test_points_that_are_none(tmp_path, text):
    path = tmp_path / "seeds.mrk.json"
    path.write_text(text)
    refusal(path)


@pytest.mark.parametrize("strange", [[[]], "", {"a": 1}, [[[[]]]]])
def test_what_no_seed_needs_is_not_handed_on(tmp_path, strange):
    # Slicer's reader ended the process at measurements that are no objects.
    point = {"label": "a", "position": [1, 2, 3], "orientation": strange, "measurements": strange}
    markup = {"type": "Fiducial", "measurements": strange, "display": strange}
    path = tmp_path / "seeds.mrk.json"
    path.write_text(json.dumps({"markups": [{**markup, "controlPoints": [point]}]}))
    node = points.read_seeds(path)
    assert node.GetNthControlPointPosition(0) == (-1, -2, 3)  # LPS, where no system is named
    assert node.GetNthControlPointLabel(0) == "a"
    assert node.GetStorageNode() is None


# ---- scenes in one file


def write_bundle(path, name="scene/a.txt", mode=None):
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("scene/scene.mrml", '<MRML version="Slicer4.4.0"></MRML>')
        part = zipfile.ZipInfo(name)
        if mode:
            part.create_system, part.external_attr = 3, mode << 16
        bundle.writestr(part, "/tmp")
    return path


def load(path):
    return slicer.util.loadScene(str(path), {})


def test_a_bundle_is_still_read(tmp_path):
    volume = slicer.util.addVolumeFromArray(VALUES)
    volume.SetName("scan")
    assert slicer.util.saveScene(str(tmp_path / "a.mrb"), {})
    slicer.mrmlScene.Clear(False)
    load(tmp_path / "a.mrb")
    np.testing.assert_array_equal(slicer.util.arrayFromVolume(slicer.util.getNode("scan")), VALUES)


@pytest.mark.parametrize(
    "name", ["../evil.txt", "scene/../../evil.txt", "/evil.txt", "..\\evil.txt", "C:/evil.txt"]
)
def test_parts_of_a_bundle_stay_within_it(tmp_path, name):
    path = write_bundle(tmp_path / "a.mrb", name)
    with pytest.raises(InputError, match=r"a\.mrb: .* would lie outside"):
        load(path)


def test_an_archive_of_another_kind_is_no_bundle(tmp_path):
    (tmp_path / "a.txt").write_text("evil")
    path = tmp_path / "a.mrb"
    with tarfile.open(path, "w") as archive:
        archive.add(tmp_path / "a.txt", "../../evil.txt")
    with pytest.raises(InputError, match=r"a\.mrb: this is no scene"):
        load(path)
