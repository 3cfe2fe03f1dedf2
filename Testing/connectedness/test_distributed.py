"""Connectedness and labels over blocks: bits of the whole, resumed runs, bad input."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from FuzzyConnectedGPULib import GaussianAffinity, automatic_threshold, binarize
from FuzzyConnectedGPULib import connectedness as whole_connectedness
from FuzzyConnectedGPULib.distributed import CardProcesses, connectedness, labels
from FuzzyConnectedGPULib.scene import fill_gaps
from FuzzyConnectedGPULib.thresholds import choose_threshold
from FuzzyVesselCoreLib.errors import InputError
from support.problems import problems

AFFINITY, SEEDS = GaussianAffinity(100, 30, 15), [[3, 4, 5]]
zarr = pytest.importorskip("zarr", minversion="3")
blocks = st.tuples(*[st.integers(1, 6)] * 3)
entry, label_entry = (sys.modules[each.__module__] for each in (connectedness, labels))


@pytest.fixture(scope="module")
def volume():
    return np.random.default_rng(1).normal(100, 25, (16, 18, 20)).astype(np.int16)


@pytest.fixture(scope="module")
def whole(volume):
    return whole_connectedness(volume, SEEDS, AFFINITY, solver="dial", device="cpu").values


@pytest.fixture
def source(volume, tmp_path):
    path = tmp_path / "source.zarr"
    zarr.create_array(str(path), data=volume, chunks=(8, 9, 10))
    return path


@settings(max_examples=20)
@given(problem=problems(9), block=st.tuples(*[st.integers(2, 6)] * 3))
def test_every_partition_gives_the_levels_of_the_whole(problem, block):
    volume, seeds, affinity, cut, mask = problem
    wanted = whole_connectedness(
        volume, seeds, affinity, solver="dial", device="cpu", cut=cut, mask=mask
    )
    found = np.empty(volume.shape, np.float32)
    options = {"block": block, "cut": cut, "device": "cpu"}
    connectedness(volume, seeds, affinity, found, mask=mask, **options)
    assert np.array_equal(found, wanted.values)


@pytest.mark.gpu
def test_blocks_on_a_card(volume, whole):
    found = np.empty(volume.shape, np.float32)
    connectedness(volume, SEEDS, AFFINITY, found, block=7, device="cuda")
    assert np.array_equal(found, whole)


@pytest.mark.gpu
def test_a_process_for_each_card(source, whole, tmp_path):
    with CardProcesses() as client:
        connectedness(
            source, SEEDS, AFFINITY, tmp_path / "out.zarr", block=8, device="cuda", client=client
        )
    assert np.array_equal(zarr.open(tmp_path / "out.zarr")[:], np.rint(whole * 65535))


class Elsewhere(ThreadPoolExecutor):
    """Runs tasks as another process would: from their pickles."""

    def submit(self, function, /, *args):
        function, args = pickle.loads(pickle.dumps((function, args)))
        return super().submit(function, *args)


@pytest.mark.parametrize(
    ("client", "name"), [(None, "out.zarr"), ("threads", "out.npy"), (Elsewhere(2), "out.zarr")]
)
def test_paths_and_schedulers(source, whole, tmp_path, name, client):
    target = tmp_path / name
    run = connectedness(
        source, SEEDS, AFFINITY, target, block=9, target_type="float32", client=client, device="cpu"
    )
    found = np.load(target) if name.endswith("npy") else zarr.open(target)[:]
    assert np.array_equal(found, whole)
    assert run.blocks == 12
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "source.zarr"])


@pytest.mark.parametrize(("step", "after"), [("contract_block", 5), ("finish_block", 3)])
def test_an_interrupted_run_is_resumed(source, whole, tmp_path, monkeypatch, step, after):
    original, done = getattr(entry, step), []

    def failing(job, number):
        if len(done) == after:
            raise KeyboardInterrupt
        original(job, number)
        done.append(number)

    monkeypatch.setattr(entry, step, failing)
    given = source, SEEDS, AFFINITY, tmp_path / "out.npy"
    with pytest.raises(KeyboardInterrupt):
        connectedness(*given, block=9, device="cpu")
    monkeypatch.setattr(entry, step, original)
    with pytest.raises(InputError, match=r"whose cut differed|whose block differed"):
        connectedness(*given, block=9, cut=0.3, device="cpu")
    run = connectedness(*given, block=9, device="cpu")
    phase = "forests" if step == "contract_block" else "finish"
    assert run.computed[phase] == 12 - after
    assert np.array_equal(np.load(tmp_path / "out.npy"), np.rint(whole * 65535))


def test_a_source_that_changes_during_the_run_is_refused(volume, monkeypatch):
    changing, original = volume.copy(), entry.join_forests

    def changed(job):
        changing[12, 12, 12] += 1
        return original(job)

    monkeypatch.setattr(entry, "join_forests", changed)
    with pytest.raises(InputError, match="changed during the run, in the block K 9:16"):
        connectedness(
            changing, SEEDS, AFFINITY, np.empty(volume.shape, np.uint16), block=9, device="cpu"
        )


def test_bad_input_is_named(volume, source, tmp_path):
    target = np.empty(volume.shape, np.uint16)
    wrong = volume.astype(np.float32)
    wrong[10, 3, 3] = np.nan
    calls = [
        (dict(source=wrong), "not finite"),
        (dict(source=volume.astype(np.complex64)), "complex64"),
        (dict(source=tmp_path / "none.zarr"), "does not exist"),
        (dict(source=volume[0]), "K x J x I"),
        (dict(seeds=[[99, 0, 0]]), "seed"),
        (dict(affinity="bright"), "GaussianAffinity"),
        (dict(target=target[:3]), "shape"),
        (dict(target=target.astype(np.int8)), "uint16 or float32"),
        (dict(block=0), "integers > 0"),
        (dict(mask=np.zeros_like(volume)), "outside the mask"),
        (dict(memory_limit=1000), "above the limit"),
        (dict(target_type="int8"), "not uint16 or float32"),
    ]
    for changed, message in calls:
        given = dict(source=volume, seeds=SEEDS, affinity=AFFINITY, target=target, block=9)
        with pytest.raises(InputError, match=message):
            connectedness(**(given | changed), device="cpu")
    (tmp_path / "there.npy").touch()
    with pytest.raises(InputError, match="exists"):
        connectedness(source, SEEDS, AFFINITY, tmp_path / "there.npy")


def test_chunks_without_a_file_count_as_the_fill_value_or_are_refused(source, tmp_path):
    (source / "c" / "1" / "1" / "1").unlink()
    target = np.empty((16, 18, 20), np.uint16)
    run = connectedness(source, SEEDS, AFFINITY, target, device="cpu")
    assert run.missing_chunks == 1
    with pytest.raises(InputError, match="no file for 1 chunks, the first c/1/1/1"):
        connectedness(source, SEEDS, AFFINITY, target, missing_chunks="error")


def test_a_damaged_chunk_is_named(source):
    (source / "c" / "0" / "1" / "0").write_bytes(b"\x00" * 30)
    with pytest.raises(InputError, match="source cannot be read in the block K 0:9, J 9:18, I 0:9"):
        connectedness(
            source, SEEDS, AFFINITY, np.empty((16, 18, 20), np.uint16), block=9, device="cpu"
        )


@settings(max_examples=40)
@given(
    number=st.integers(0, 10**6),
    shape=st.tuples(*[st.integers(1, 12)] * 3),
    block=blocks,
    rounds=st.integers(0, 2),
    components=st.sampled_from(["all", "largest", "seeds"]),
    numbered=st.booleans(),
    least=st.integers(1, 3),
)
def test_labels_are_those_of_the_whole(number, shape, block, rounds, components, numbered, least):
    random = np.random.default_rng(number)
    scene = random.random(shape).astype(np.float32)
    seeds = np.stack([random.integers(0, n, 2) for n in shape], axis=1)
    found = np.empty(shape, np.uint32 if numbered else np.uint8)
    run = labels(
        scene, 0.7, found, seeds=seeds, block=block, components=components, min_voxels=least,
        numbered=numbered, fill_gaps=rounds,
    )  # fmt: skip
    object_ = fill_gaps(binarize(scene, 0.7), rounds)
    wanted, count = ndimage.label(object_, np.ones((3, 3, 3)))
    sizes = np.bincount(wanted.ravel(), minlength=count + 1)
    kept = [n for n in range(1, count + 1) if sizes[n] >= least]
    if components == "seeds":
        kept = [n for n in kept if n in wanted[tuple(seeds.T)]]
    if components == "largest":
        kept = sorted(kept, key=lambda n: -sizes[n])[:1]
    table = np.zeros(count + 1, int)
    table[kept] = np.arange(1, len(kept) + 1)
    assert np.array_equal(found, table[wanted] if numbered else table[wanted] > 0)
    assert (run.components, run.found) == (len(kept), count)
    if numbered:
        boxes = ndimage.find_objects(table[wanted])
        assert run.table.low.tolist() == [[s.start for s in box] for box in boxes]
        assert run.table.sizes.tolist() == sizes[kept].tolist()


def test_the_automatic_threshold_is_that_of_the_whole(whole, tmp_path):
    levels = np.rint(whole * 65535).astype(np.uint16)
    run = labels(levels, None, tmp_path / "labels.ome.zarr", spacing=(3, 2, 1), block=7)
    assert run.threshold == automatic_threshold(whole)
    image = zarr.open(tmp_path / "labels.ome.zarr")
    assert np.array_equal(image["0"][:] > 0, whole >= np.float32(run.threshold))
    placed = image.attrs["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"]
    assert placed[0]["scale"] == [3.0, 2.0, 1.0]
    assert "image-label" in image.attrs["ome"]
    background = np.argwhere((whole > 0) & (whole < 1))[:2]  # they raise it
    run = labels(levels, None, np.empty(levels.shape, np.uint8), background_seeds=background)
    assert run.threshold == choose_threshold(whole, background)


def test_interrupted_labels_are_resumed(whole, tmp_path, monkeypatch):
    original, done = label_entry.write_block, []

    def failing(job, number, numbers):
        if len(done) == 4:
            raise KeyboardInterrupt
        original(job, number, numbers)
        done.append(number)

    monkeypatch.setattr(label_entry, "write_block", failing)
    with pytest.raises(KeyboardInterrupt):
        labels(whole, 0.5, tmp_path / "out.npy", block=9)
    monkeypatch.setattr(label_entry, "label_block", lambda *_: pytest.fail("labelled again"))
    monkeypatch.setattr(label_entry, "write_block", original)
    labels(whole, 0.5, tmp_path / "out.npy", block=9)
    assert np.array_equal(np.load(tmp_path / "out.npy"), whole >= 0.5)


def test_bad_scenes_are_named(whole, tmp_path):
    target = np.empty(whole.shape, np.uint8)
    with pytest.raises(InputError, match=r"not within 0\.\.1"):
        labels(whole * 2, 0.5, target)
    with pytest.raises(InputError, match="int16"):
        labels(whole.astype(np.int16), 0.5, target)
    with pytest.raises(InputError, match="labelmap"):
        labels(target, 0.5, target.copy())
    with pytest.raises(InputError, match="no seeds"):
        labels(whole, 0.5, target, components="seeds")


def test_card_processes_need_a_card(monkeypatch):
    from FuzzyVesselCoreLib.gpu import device

    monkeypatch.setattr(device, "cuda_status", lambda: "there is no driver")
    with pytest.raises(InputError, match="there is no driver"):
        CardProcesses()
