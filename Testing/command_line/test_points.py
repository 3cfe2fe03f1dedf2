"""Lists of points and scenes in one file: what Slicer gets to read, and what is refused."""

import json

import numpy as np
import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
import slicer

from fuzzy_vessel import headless
from fuzzy_vessel.reading import points
from FuzzyVesselCoreLib.errors import InputError


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
    point = {"label": "a", "position": [1, 2, 3], "orientation": strange, "measurements": strange}
    markup = {"type": "Fiducial", "measurements": strange, "display": strange}
    path = tmp_path / "seeds.mrk.json"
    path.write_text(json.dumps({"markups": [{**markup, "controlPoints": [point]}]}))
    node = points.read_seeds(path)
    assert node.GetNthControlPointPosition(0) == (-1, -2, 3)  # LPS, where no system is named
    assert node.GetNthControlPointLabel(0) == "a"
    assert node.GetStorageNode() is None
