"""One run at a time in a folder: whoever comes is told who is there, and nobody dead stays."""

import json
import os
import platform
import subprocess
import sys
import threading
import time

import pytest

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files import folder_lock, processes
from FuzzyVesselCoreLib.files.folder_lock import LEASE, PREFIX, FolderLock, remove_if_empty

NEEDS_PROC = pytest.mark.skipif(
    not processes.machine_name(), reason="the system does not tell which processes run"
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


def left_by(folder, age=0.0, number=7, **said):
    """The file of a run, as this process would write it but for some words."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{PREFIX}{number}"
    with FolderLock(folder):
        (own,) = folder.glob(f"{PREFIX}*")
        content = json.loads(own.read_text())
    folder.mkdir(exist_ok=True)
    file.write_text(json.dumps({**content, **said}))
    os.utime(file, (time.time() - age,) * 2)
    return file


def left_by_another(folder):
    file = folder / f"{PREFIX}9"
    file.write_text(json.dumps({"machine": "other", "host": "other", "pid": os.getpid()}))
    return file


def names_in(folder):
    return sorted(place.name for place in folder.iterdir())


def test_a_second_run_is_told_who_is_there(folder):
    with FolderLock(folder) as lock:
        lock.check()
        with pytest.raises(InputError, match="in use by another run") as told:
            FolderLock(folder).__enter__()
        assert f"process {os.getpid()} on {platform.node()}, since 2" in str(told.value)
        assert str(folder) in str(told.value)
        lock.check()
        (folder / "result").touch()
    assert names_in(folder) == ["result"]
    with FolderLock(folder):
        pass


def test_a_folder_that_was_made_goes_if_nothing_is_in_it(folder):
    with FolderLock(folder):
        assert folder.is_dir()
    assert not folder.exists()
    folder.mkdir()
    with FolderLock(folder):
        pass
    assert names_in(folder) == []


@NEEDS_PROC
def test_a_process_that_ended_blocks_nobody(folder):
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    start = processes.process_start(ended.pid)
    ended.wait()
    left_by(folder, pid=ended.pid, start=start)
    with FolderLock(folder):
        assert names_in(folder) == [f"{PREFIX}8"]


@NEEDS_PROC
def test_a_process_with_the_number_of_one_that_ended_blocks_nobody(folder):
    left_by(folder, start="1")
    with FolderLock(folder):
        pass


@NEEDS_PROC
def test_a_process_that_was_not_waited_for_has_ended():
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # a zombie
    assert processes.process_start(ended.pid) is None
    ended.wait()
    assert processes.process_start(os.getpid()) is not None


def test_a_run_of_another_machine_holds_the_folder_as_long_as_it_touches_its_file(folder):
    file = left_by(folder, machine="other", host="node-7", pid=11)
    with pytest.raises(InputError, match=r"process 11 on node-7, since .* if you delete .*-7"):
        FolderLock(folder).__enter__()
    assert names_in(folder) == [file.name]
    os.utime(file, (time.time() - LEASE - 60,) * 2)
    with FolderLock(folder):
        assert names_in(folder) == [f"{PREFIX}8"]


def test_a_file_that_is_being_written_holds_the_folder(folder):
    left_by(folder).write_text("")
    with pytest.raises(InputError, match=r"process \? on \?"):
        FolderLock(folder).__enter__()


def test_a_run_touches_its_file(folder, monkeypatch):
    monkeypatch.setattr(folder_lock, "BEAT", 0.01)
    with FolderLock(folder):
        (file,) = folder.iterdir()
        os.utime(file, (0, 0))
        until = time.monotonic() + 30
        while file.stat().st_mtime == 0:
            assert time.monotonic() < until, "the file was not touched"
            time.sleep(0.01)


def test_a_run_that_was_taken_over_finds_out(folder):
    with FolderLock(folder) as lock:
        (file,) = folder.iterdir()
        file.unlink()
        with pytest.raises(InputError, match="taken over by another run"):
            lock.check()


@pytest.mark.parametrize("attempt", range(5))
def test_one_of_many_gets_a_folder_that_was_left(folder, attempt):
    """Never two, whoever removes what the dead one has left."""
    left_by(folder, age=2 * LEASE, machine="other")
    winners, barrier, tried = [], threading.Barrier(6), threading.Barrier(6)

    def compete():
        barrier.wait()
        lock = FolderLock(folder)
        try:
            lock.__enter__()
            winners.append(lock)
        except InputError:
            lock = None
        tried.wait()
        if lock:
            lock.__exit__(None, None, None)

    threads = [threading.Thread(target=compete) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1
    with FolderLock(folder):
        pass


@NEEDS_PROC
def test_a_process_that_is_hidden_holds_the_folder_like_one_of_another_machine(
    folder, tmp_path, monkeypatch
):
    """On machines of many users /proc shows everybody his own processes alone."""
    file = left_by(folder)
    monkeypatch.setattr(processes, "PROC", tmp_path / "nothing")
    with pytest.raises(InputError, match=f"if you delete .*{file.name}"):
        FolderLock(folder).__enter__()
    os.utime(file, (time.time() - LEASE - 60,) * 2)
    with FolderLock(folder):
        assert not file.exists()


def test_a_run_that_ends_leaves_the_file_of_the_next_one(folder):
    """Which has the same name where the folder was removed between the two."""
    with FolderLock(folder) as ended:
        remove_if_empty(folder)
        following = FolderLock(folder)
        following.__enter__()
        with pytest.raises(InputError, match="taken over"):
            ended.check()
    following.check()
    with pytest.raises(InputError, match="in use"):
        FolderLock(folder).__enter__()
    following.__exit__(None, None, None)


def test_only_the_file_of_this_process_is_removed_with_an_empty_folder(folder):
    with FolderLock(folder):
        other = left_by_another(folder)
        remove_if_empty(folder)
        assert names_in(folder) == [other.name]


def test_files_of_the_user_with_such_a_name_stay(folder):
    folder.mkdir()
    own = folder / f"{PREFIX}notes"
    own.touch()
    os.utime(own, (0, 0))
    with FolderLock(folder):
        remove_if_empty(folder)
    assert names_in(folder) == [own.name]


def test_a_folder_that_is_removed_meanwhile_is_made_again(folder, monkeypatch):
    """By a run that ends between the two, and leaves nothing."""
    look, removed = folder_lock.holders, []

    def removing(place):
        if not removed:
            place.rmdir()
            removed.append(place)
        return look(place)

    monkeypatch.setattr(folder_lock, "holders", removing)
    with FolderLock(folder):
        assert names_in(folder) == [f"{PREFIX}1"]


def test_what_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file.run cannot be written: .*; name another"):
        FolderLock(tmp_path / "file" / "run").__enter__()


def test_a_folder_with_something_in_it_is_not_removed(folder):
    with FolderLock(folder):
        remove_if_empty(folder)
        assert not folder.exists()
    with FolderLock(folder):
        (folder / "more").touch()
        remove_if_empty(folder)
        assert "more" in names_in(folder)
