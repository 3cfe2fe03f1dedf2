"""Results as a whole or not at all: the folder, the files in it, and a disk that fills up.

And the scene of Slicer that they come from.
"""

import contextlib
import json
import sys

import numpy as np
import pytest

from fuzzy_vessel import writing
from fuzzy_vessel.writing import ResultsFolder, write_report
from FuzzyVesselCoreLib.errors import InputError

OURS = json.dumps({"program": "fuzzy-vessel"})


def write_result(path, content, *others):
    with ResultsFolder(path) as place:
        (place / "report.json").write_text(OURS)
        (place / "result.txt").write_text(content)
        for name in others:
            (place / name).write_text(content)


def write_half(path, error):
    with ResultsFolder(path) as place:
        (place / "result.txt").write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_a_failure(tmp_path, error):
    path = tmp_path / "a" / "results"
    with pytest.raises(error):
        write_half(path, error)
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_is_edited_during_the_run_is_kept(tmp_path):
    path = tmp_path / "results"
    write_result(path, "first")

    def run():
        with ResultsFolder(path) as place:
            (place / "result.txt").write_text("second")
            (path / "result.txt").write_text("edited by hand")

    for number, content in ((2, "edited by hand"), (3, "FIRST")):
        beside = tmp_path / f"results-{number}"
        (path / "result.txt").write_text(content)
        with pytest.raises(InputError, match=r"results: result.txt was changed after it was writ"):
            write_result(path, "second")
        assert (path / "result.txt").read_text() == content
        (path / "result.txt").write_text("first")
        with pytest.raises(InputError, match=r"results: result.txt was changed") as failed:
            run()
        assert str(failed.value).endswith(f"the results are in {beside}.")
        assert (path / "result.txt").read_text() == "edited by hand"
        assert (beside / "result.txt").read_text() == "second"
        assert beside.stat().st_mode & 0o777 == path.stat().st_mode & 0o777
    assert len(list(tmp_path.iterdir())) == 3


def test_an_empty_folder_is_taken_and_a_foreign_one_refused(tmp_path):
    path = tmp_path / "results"
    path.mkdir()
    write_result(path, "first")
    foreign = tmp_path / "holiday"
    foreign.mkdir()
    (foreign / "photo.jpg").write_text("sunset")
    for report in (None, "{}", "not json", "[]"):
        if report:
            (foreign / "report.json").write_text(report)
        with pytest.raises(InputError, match=r"holiday: the folder holds other files"):
            write_result(foreign, "vessels")
    assert (foreign / "photo.jpg").read_text() == "sunset"


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="file: this is a file"):
        write_result(file, "vessels")
    with pytest.raises(InputError, match=r"results: the results cannot be written: Not a dir"):
        write_result(file / "results", "vessels")


def contents(folder):
    return sorted(path.read_text() for path in folder.rglob("result.txt"))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_an_interrupt_between_the_renames_loses_no_result(tmp_path, monkeypatch, step, after):
    path = tmp_path / "results"
    write_result(path, "first")
    steps, rename = [], type(path).rename

    def interrupted(source, target):
        steps.append(source)
        if len(steps) == step and not after:
            raise KeyboardInterrupt
        rename(source, target)
        assert {"first", "second"} & set(contents(tmp_path))
        if len(steps) == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr(type(path), "rename", interrupted)
        write_result(path, "second")
    assert contents(path) in (["first"], ["second"])
    assert {entry.name for entry in path.iterdir()} == {"report.json", "result.txt"}
    assert list(tmp_path.iterdir()) == [path]
    write_result(path, "third")
    assert contents(tmp_path) == ["third"]


# The nodes' files.


def add_noise():
    import slicer

    noise = np.random.default_rng(3).integers(0, 30000, (20, 40, 40)).astype(np.int16)
    return slicer.util.addVolumeFromArray(noise, np.diag([-1.0, -1, 2, 1]), "scan")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_full_disk_is_noticed_whoever_writes(slicer_scene, tmp_path):
    import resource

    volume = add_noise()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        for write in (
            lambda: writing.write_nodes(tmp_path, {"labelmap.nrrd": volume}),
            lambda: writing.write_slicer_scene(tmp_path, volume, (0, 0, 0)),
            lambda: write_report(tmp_path, {"long": "x" * 30_000}),
        ):
            with pytest.raises(OSError, match=r"could not be written|File too large"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kept", [0, 100, -30])
def test_a_file_that_lost_its_end_is_not_whole(slicer_scene, tmp_path, kept):
    writing.write_nodes(tmp_path, {"a.nrrd": add_noise()})
    (tmp_path / "a.json").write_text(json.dumps({"text": "x" * 500}))
    for name in ("a.nrrd", "a.json"):
        path = tmp_path / name
        assert writing.is_whole(path)
        path.write_bytes(path.read_bytes()[:kept])
        assert not writing.is_whole(path)
