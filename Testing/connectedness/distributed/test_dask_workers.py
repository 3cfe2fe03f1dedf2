"""Dask's workers, in processes and in threads: the same bits, whatever happens to a worker."""

import os
import signal

import numpy as np
import pytest

from FuzzyConnectedGPULib.distributed import connectedness
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from support.block_scene import AFFINITY, SEEDS, TOP
from support.ended_runs import KILLS

zarr = pytest.importorskip("zarr", minversion="3")
distributed = pytest.importorskip("distributed")


def cluster(workers, threads=1, processes=True, **options):
    """Workers on this machine, without a page that shows them."""
    if processes:
        options["host"] = "127.0.0.1"
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=processes,
        dashboard_address=":0",
        silence_logs=50,
        **options,
    )


@pytest.fixture(scope="module")
def process():
    """The client of one worker; where it is killed another one takes its place."""
    with cluster(1, 2) as made, distributed.Client(made) as client:
        yield client


def levels_of(path):
    return zarr.open(str(path), mode="r")[:] / TOP


@pytest.mark.parametrize("block", [8, (16, 7, 20)])
def test_processes(process, source, whole, tmp_path, block):
    target, shares = tmp_path / "target.zarr", []
    connectedness(
        source, SEEDS, AFFINITY, target, block=block, client=process, progress=shares.append
    )
    np.testing.assert_array_equal(levels_of(target), whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(set(shares)) > 4


def test_threads(source, whole, tmp_path):
    with cluster(2, 2, processes=False) as made, distributed.Client(made) as client:
        target = tmp_path / "target.zarr"
        connectedness(source, SEEDS, AFFINITY, target, block=8, client=client)
    np.testing.assert_array_equal(levels_of(target), whole)


def test_paths_are_those_of_the_folder_that_the_run_was_begun_in(
    process, source, whole, tmp_path, monkeypatch
):
    """A worker may have been started in another one."""
    monkeypatch.chdir(tmp_path)
    connectedness("source.zarr", SEEDS, AFFINITY, "target.zarr", block=9, client=process)
    np.testing.assert_array_equal(levels_of(tmp_path / "target.zarr"), whole)


def test_bad_input_is_named_by_a_worker(process, volume, source, tmp_path):
    chunk, lost = source / "c" / "1" / "0" / "2", []

    def lose(share):
        if share > 0.5 and not lost:
            lost.append(chunk.read_bytes())
            chunk.unlink()

    given = dict(block=8, client=process)
    with pytest.raises(InputError, match=r"chunk c/1/0/2, .* which it had when the run began"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "lost", progress=lose, **given)
    zarr.create_array(str(source / "2"), data=volume.astype(np.float32), chunks=(8, 9, 10))
    zarr.open_array(str(source / "2"))[3, 4, 6] = np.nan
    with pytest.raises(InputError, match="at I,J,K = 6,4,3"):
        connectedness(source / "2", SEEDS, AFFINITY, tmp_path / "t", block=8, client=process)


def test_arrays_that_no_worker_reaches(process, volume, source, tmp_path):
    in_memory = zarr.create_array(zarr.storage.MemoryStore(), data=volume, chunks=(8, 9, 10))
    given = dict(block=8, client=process)
    for array in (volume, in_memory):
        with pytest.raises(InputError, match="Other processes cannot reach"):
            connectedness(array, SEEDS, AFFINITY, tmp_path / "t", **given)
        with pytest.raises(InputError, match="Other processes cannot reach"):
            connectedness(source, SEEDS, AFFINITY, array.astype("f4") if array is volume else array,
                          **given)  # fmt: skip


def test_an_array_that_would_go_along_with_every_task(process, tmp_path):
    array = pytest.importorskip("dask.array").from_array(np.zeros((300, 200, 200), np.int16))
    with pytest.raises(InputError, match="sent with each task, 24 MB"):
        connectedness(array, SEEDS, AFFINITY, tmp_path / "t", client=process)


def test_cancelling_and_going_on(process, source, whole, tmp_path):
    target = tmp_path / "target.zarr"
    given = dict(block=8, client=process)
    with pytest.raises(Cancelled):
        connectedness(source, SEEDS, AFFINITY, target, progress=lambda s: s < 0.3, **given)
    assert not target.exists()
    run = connectedness(source, SEEDS, AFFINITY, target, **given)
    assert run.computed["contract"] < run.blocks
    assert run.computed["finish"] == run.blocks
    np.testing.assert_array_equal(levels_of(target), whole)


def test_workers_with_too_little_memory_are_refused_before(source, tmp_path):
    with (
        cluster(1, 2, processes=False, memory_limit="420 MB") as made,
        distributed.Client(made) as client,
        pytest.raises(InputError, match=r"has 0.42 GB for 2 tasks at a time.*fewer threads"),
    ):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "t", block=8, client=client)
    assert not list(tmp_path.glob("t*"))


def kill_worker(client):
    (worker,) = client.run(os.getpid).values()
    os.kill(worker, signal.SIGKILL)


@KILLS
def test_a_worker_that_is_killed(process, source, whole, tmp_path):
    """What it had finished is not computed again."""
    target, before, after = tmp_path / "target.zarr", {}, {}
    folder = tmp_path / "target.zarr.unfinished"

    def written():
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.npz")}

    def kill_once(share):
        if share > 0.2 and not before:
            before.update(written())
            kill_worker(process)
        if share > 0.99 and folder.exists():
            after.update(written())
        return True

    given = dict(block=8, client=process, progress=kill_once)
    run = connectedness(source, SEEDS, AFFINITY, target, **given)
    assert run.computed["contract"] == run.blocks
    assert len(before) > 5
    assert before == {name: after[name] for name in before}
    np.testing.assert_array_equal(levels_of(target), whole)


@KILLS
def test_a_worker_that_ends_more_often_than_is_allowed(process, source, whole, tmp_path):
    target, killed = tmp_path / "target.zarr", []
    process.wait_for_workers(1)
    process.cluster.scheduler.allowed_failures = 0

    def kill_once(share):
        if share > 0.2 and not killed:
            killed.append(share)
            kill_worker(process)
        return True

    with pytest.raises(InputError, match=r"ended again and again at the voxels \[.*is kept"):
        connectedness(source, SEEDS, AFFINITY, target, block=8, client=process, progress=kill_once)
    run = connectedness(source, SEEDS, AFFINITY, target, block=8, device="cpu")
    assert run.computed["contract"] < run.blocks
    np.testing.assert_array_equal(levels_of(target), whole)


def test_a_scheduler_that_is_lost(source, tmp_path):
    closed = []
    with cluster(1, processes=False) as made, distributed.Client(made) as client:

        def close(share):
            if share > 0.2 and not closed:
                closed.append(share)
                made.close()
            return True

        with pytest.raises(InputError, match="were lost at the voxels"):
            connectedness(source, SEEDS, AFFINITY, tmp_path / "t", block=5, client=client,
                          progress=close)  # fmt: skip
    assert closed
