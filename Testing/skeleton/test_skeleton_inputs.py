"""Odd and bad labelmaps, through arrays, nodes and files alike: what is refused, what is said.

One table for the three ways to a skeleton. An odd input gives the same result and the same words
on each way; a bad one is refused by name on each, and leaves nothing behind.
"""

import errno
import json
import re
from dataclasses import dataclass, field

import numpy as np
import pytest

import support.solids as solids
from command_line.conftest import without_3d  # noqa: F401 - a fixture
from command_line.test_command_line import array_of
from fuzzy_vessel.__main__ import main
from fuzzy_vessel.progress_bar import ProgressBar
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.messages import NOT_RESOLVED
from support.image_files import write_nrrd
from support.mrml_cases import add_volume, scene_text

AXES = np.diag([-1.0, -1.0, 2.0, 1.0])  # the voxels of `write_nrrd`: 1 x 1 x 2 mm
SPACING = (2.0, 1.0, 1.0)
WAYS = ("arrays", "nodes", "files")
LABELMAP = "vtkMRMLLabelMapVolumeNode"


@dataclass
class Odd:
    """An input that works, and exactly what is said of it.

    Attributes
    ----------
    mask : ndarray
    said : list of str
        Patterns of the warnings, in their order.
    report : dict
        Figures that the report must hold.
    options : dict
    """

    mask: np.ndarray
    said: list = field(default_factory=list)
    report: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


@dataclass
class Bad:
    """An input that is refused: for each way a pattern of the message; None where it is no case."""

    mask: np.ndarray
    arrays: str | None
    nodes: str | None
    files: str | None
    options: dict = field(default_factory=dict)


def tube(shape=(9, 9, 40)):
    """Along I, from border to border."""
    return solids.tube(solids.line((4, 4, 0), (4, 4, shape[2] - 1)), 3, shape)


def with_cavities():
    mask = np.pad(np.ones((11, 11, 13), bool), 1)
    mask[4:6, 5, 5] = mask[8, 8, 8] = False
    return mask


def with_tunnel():
    mask = np.pad(np.ones((9, 9, 19), bool), 1)
    mask[:, 5, 8] = False
    return mask


def islands():
    mask = np.pad(tube(), 2)
    mask[-1, 0, :2] = mask[0, -1, 5] = True
    return mask


def dot():
    mask = np.zeros((5, 6, 7), bool)
    mask[2, 3, 4] = True
    return mask


NO_BRANCH = r"There is no branch: the skeleton is 1 point, seen in the labelmap only\."
FULL = r"The object fills the volume: its border is taken to be the volume's\."
TINY = r"Tiny, perhaps noise: {} of {}\."
ONE = {"components": 1, "object_cycles": 0}
ODD = {
    "full": Odd(np.ones((12, 12, 12)), [FULL], ONE),
    "one voxel": Odd(dot(), [TINY.format(1, "1 component"), NO_BRANCH], ONE),
    "one voxel, full": Odd(
        np.ones((1, 1, 1)), [FULL, TINY.format(1, "1 component"), NO_BRANCH], ONE
    ),
    "one slice": Odd(np.pad(np.ones((1, 40, 5)), [(0, 0), (2, 2), (3, 3)]), [], ONE),
    "plate": Odd(solids.plate(), [], ONE),
    "two touching balls": Odd(solids.two_balls(19), [], ONE),
    "two balls": Odd(
        solids.two_balls(21),
        [NO_BRANCH.replace("1 point", "2 points")],
        {"components": 2},
        {"level": 1},
    ),
    "from border to border": Odd(tube(), [], ONE),
    "a ring on the border": Odd(solids.ring()[0][7:17], [], {"object_cycles": 1}),
    "cavities": Odd(
        with_cavities(),
        [r"Filled 2 cavities inside the object \(3 voxels\)\.", NO_BRANCH],
        {"cavities_filled": 2, "cavity_voxels": 3},
    ),
    "islands": Odd(islands(), [TINY.format(2, "3 components")], {"components": 3}),
    "islands, dropped": Odd(
        islands(),
        [r"Dropped 2 islands of few voxels \(3 voxels\)\."],
        {**ONE, "islands_dropped": 2, "island_voxels": 3},
        {"drop_islands": 4},
    ),
    "tunnel": Odd(
        with_tunnel(),
        [r"Closed 1 tunnel through the object \(\d+ voxels?\)\."],
        {**ONE, "tunnels_closed": 1},
        {"close_tunnels": 1.0},
    ),
    "strength 2": Odd(
        tube(), ["At strength 2 the field has no attractors; choose 3 to 9"], ONE, {"strength": 2}
    ),
    "whole numbers as floats": Odd(np.float32(7) * tube(), [], ONE),
}
BALL = solids.two_balls(0)
NAN, INFINITE, FRACTIONS = BALL * np.float32(1), BALL * np.float32(1), BALL * np.float32(0.25)
NAN[0, 0, 0], INFINITE[0, 0, 0] = np.nan, np.inf
BAD = {
    "empty": Bad(np.zeros((4, 5, 6)), "labelmap is empty", "'scan' is empty", "the labelmap is em"),
    "nan": Bad(NAN, "1 voxels that are infinite or not a number", "such as nan", "such as nan"),
    "infinite": Bad(INFINITE, "1 voxels that are infinite", "such as inf", "such as inf"),
    "hidden": Bad(
        np.ma.masked_equal(BALL, 0), r"masked array with [0-9,]+ hidden values", None, None
    ),
    "fractions": Bad(FRACTIONS, None, r"such as 0\.25: apply a thresh", r"such as 0\.25; segment"),
    "four axes": Bad(np.ones((2, 2, 2, 2)), r"shape \(2, 2, 2, 2\); K x J x I", None, None),
    "no axis": Bad(np.float64(1), r"shape \(\)", None, None),
    "no voxel": Bad(np.ones((0, 3, 3)), r"shape \(0, 3, 3\)", None, None),
    "texts": Bad(np.array([["a"]]), "type str32; numbers are needed", None, None),
    "no such label": Bad(
        np.uint8(3) * BALL, None, "no label 4; it has 3", "no label 4; there are 3", {"label": 4}
    ),
    "strength 1": Bad(
        BALL, *["strength is 1; choose a whole number from 3 to 9"] * 3, {"strength": 1}
    ),
    "strength 10": Bad(BALL, *["strength is 10; choose"] * 3, {"strength": 10}),
    "level 4": Bad(BALL, *["level is 4; choose 1, 2"] * 2, "--level: invalid choice", {"level": 4}),
    "charges inside": Bad(BALL, *["charge distance is -1 layers"] * 3, {"charge_distance": -1}),
    "islands below 0": Bad(
        BALL, *["drop_islands is -5"] * 2, "--drop-islands -5 is not", {"drop_islands": -5}
    ),
    "endless tunnels": Bad(
        BALL,
        *["close_tunnels is inf"] * 2,
        "--close-tunnels inf is not",
        {"close_tunnels": float("inf")},
    ),
    "no device": Bad(BALL, *["abacus"] * 3, {"device": "abacus"}),
}


class Arrays:
    def __init__(self, *_):
        pass

    def __call__(self, mask, **options):
        """Warnings, report, and the skeleton's voxels."""
        skeleton = skeletonize(mask, SPACING, **options)
        return skeleton.report["warnings"], skeleton.report, skeleton.to_labelmap()

    def check_untouched(self):
        pass


class Nodes:
    def __init__(self, *_):
        from PotentialSkeleton import PotentialSkeletonLogic

        self._extract = PotentialSkeletonLogic().extract

    def __call__(self, mask, **options):
        import slicer

        labelmap = add_volume(labels_of(mask), AXES, kind=LABELMAP)
        self._before = scene_text()
        result = self._extract(labelmap, **options)
        report = result.skeleton.report
        return result.warnings, report, slicer.util.arrayFromVolume(result.labelmapNode)

    def check_untouched(self):
        assert scene_text() == self._before


class Files:
    def __init__(self, folder, capsys):
        self._folder, self._capsys = folder, capsys

    def __call__(self, mask, **options):
        path = write_nrrd(self._folder / "labels.nrrd", labels_of(mask))
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        out = self._folder / "out"
        try:
            code = main(["skeleton", str(path), *arguments, "--out", str(out)])
        except SystemExit as error:  # of the arguments' parser
            code = error.code
        line = self._capsys.readouterr().err
        if code:
            assert code == 2
            assert line.count("\n") == 1
            raise InputError(line)
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        warnings = [each for each in report["warnings"] if "no 3D" not in each]
        for warning in warnings:
            assert warning in line  # said, too
        return warnings, report["skeleton"], array_of(out / "skeleton.nrrd")

    def check_untouched(self):
        assert [entry.name for entry in self._folder.iterdir()] == ["labels.nrrd"]


def labels_of(mask):
    return mask.astype(np.uint8) if mask.dtype == bool else mask


@pytest.fixture
def way(request, slicer_scene, tmp_path, capsys, without_3d):  # noqa: F811
    return {"arrays": Arrays, "nodes": Nodes, "files": Files}[request.param](tmp_path, capsys)


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("name", ODD)
def test_odd_inputs_have_a_skeleton_and_it_is_said_what_is_odd(way, name):
    case = ODD[name]
    warnings, report, voxels = way(case.mask, **case.options)
    warnings = [each for each in warnings if each != NOT_RESOLVED]  # of the field, not the input
    assert len(warnings) == len(case.said), warnings
    for warning, pattern in zip(warnings, case.said):
        assert re.match(pattern, warning), warning
    assert case.report.items() <= report.items()
    assert all(report["guarantees"].values())
    assert voxels.any()
    assert voxels.shape == case.mask.shape
    expected = skeletonize(case.mask, SPACING, **case.options).to_labelmap()
    np.testing.assert_array_equal(voxels > 0, expected > 0)


@pytest.mark.parametrize(
    ("way", "name"),
    [(way, name) for name, case in BAD.items() for way in WAYS if getattr(case, way)],
    indirect=["way"],
)
def test_bad_inputs_are_refused_by_name_and_leave_nothing(way, name, request):
    case = BAD[name]
    pattern = getattr(case, request.node.callspec.params["way"])
    with pytest.raises(InputError, match=pattern):
        way(case.mask, **case.options)
    way.check_untouched()


def test_arrays_may_hold_fractions_and_that_is_said():
    """Arrays are masks: all but 0 is the object. Labelmaps of nodes and files are not."""
    skeleton = skeletonize(FRACTIONS, SPACING)
    assert any("no whole numbers; all but 0 are the obj" in w for w in skeleton.report["warnings"])
    np.testing.assert_array_equal(skeleton.voxels, skeletonize(BALL, SPACING).voxels)


@pytest.mark.parametrize("way", ["arrays", "nodes"], indirect=True)
def test_a_run_can_be_cancelled_at_any_look(way):
    """And nothing of it is left: the next run gives what the first gave."""
    mask = solids.rough(solids.two_balls(19), 0.1)
    options = {"level": 3, "drop_islands": 5, "close_tunnels": 2.0}
    looks = []
    _, _, expected = way(mask, **options, progress=lambda share: looks.append(share) or True)
    assert looks == sorted(looks)
    for last in np.linspace(0, len(looks) - 1, 9).astype(int):
        calls = iter(range(last))
        with pytest.raises(Cancelled):
            way(mask, **options, progress=lambda share, calls=calls: next(calls, None) is not None)
        way.check_untouched()
    np.testing.assert_array_equal(way(mask, **options)[2], expected)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.62, 0.97, 1.0])
def test_ctrl_c_at_any_moment_leaves_no_file(share, tmp_path, capsys, monkeypatch, slicer_scene):
    def interrupt(self, fraction):
        if self._name == "Finding centrelines" and fraction >= share:
            raise KeyboardInterrupt
        return True

    monkeypatch.setattr(ProgressBar, "__call__", interrupt)
    path = write_nrrd(tmp_path / "labels.nrrd", labels_of(tube()))
    assert main(["skeleton", str(path), "--out", str(tmp_path / "new" / "out")]) == 130
    assert "cancelled; nothing was written" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["labels.nrrd"]


@pytest.mark.parametrize("step", ["fuzzy_vessel.writing.nodes.write_nodes",
                                  "fuzzy_vessel.writing.nodes.write_curves",
                                  "fuzzy_vessel.writing.nodes.write_slicer_scene",
                                  "fuzzy_vessel.writing.report_file.write_report"])  # fmt: skip
def test_a_disk_that_fills_up_leaves_no_file(
    step, tmp_path, capsys, monkeypatch, slicer_scene, without_3d  # noqa: F811
):  # fmt: skip
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(step, full)
    path = write_nrrd(tmp_path / "labels.nrrd", labels_of(tube()))
    assert main(["skeleton", str(path), "--out", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert f"{tmp_path / 'out'}: the results cannot be written: No space left" in message
    assert "choose another folder with --out" in message
    assert [entry.name for entry in tmp_path.iterdir()] == ["labels.nrrd"]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("file.txt", "this is a file; name a new or an empty folder with --out"),
        ("file.txt/out", "cannot be written"),
        (".", "lies in the output folder"),
        ("mine", "holds other files"),
    ],
)
def test_a_folder_that_cannot_take_the_results_is_named_and_left(
    out, message, tmp_path, capsys, slicer_scene
):
    path = write_nrrd(tmp_path / "labels.nrrd", labels_of(tube()))
    (tmp_path / "file.txt").write_text("keep me")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    before = {each: each.is_file() and each.read_bytes() for each in tmp_path.rglob("*")}
    assert main(["skeleton", str(path), "--out", str(tmp_path / out)]) == 2
    line = capsys.readouterr().err
    assert message in line
    assert {each: each.is_file() and each.read_bytes() for each in tmp_path.rglob("*")} == before
