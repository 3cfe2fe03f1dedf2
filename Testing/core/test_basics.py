"""Threads, progress, numba's cache and log, errors between processes, translation."""

import json
import os
import pickle
import struct
import subprocess
import sys
import time
import types
import zlib
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.sparse.csgraph import dijkstra
from skimage.graph import pixel_graph
from skimage.measure import euler_number

from FuzzyVesselCoreLib.errors import Cancelled, InputError, InputRemoved, NoCudaError
from FuzzyVesselCoreLib.files import zarr_guard
from FuzzyVesselCoreLib.files.step_folder import StepFolder, folder_lock, others_in
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from FuzzyVesselCoreLib.progress import SMALL_PART, Progress, in_parts
from FuzzyVesselCoreLib.translation import tr
from FuzzyVesselCoreLib.voxels import distances, masks, topology
from support.solids import random_solids

# ---- parts of a volume, by threads


@pytest.mark.parametrize("count", [0, 1, 2, 7, 129])
@pytest.mark.parametrize("voxels", [0, SMALL_PART, 100 * SMALL_PART])
def test_each_number_is_in_one_part_and_results_keep_their_order(count, voxels, monkeypatch):
    monkeypatch.setattr("FuzzyVesselCoreLib.progress.usable_cores", lambda: 3)
    parts = in_parts(lambda first, last: list(range(first, last)), count, voxels)
    assert [number for part in parts for number in part] == list(range(count))
    assert all(parts)


def test_after_an_error_no_part_is_at_work(monkeypatch):
    monkeypatch.setattr("FuzzyVesselCoreLib.progress.usable_cores", lambda: 3)
    at_work = []

    def work(first, last):
        if first == 0:
            time.sleep(0.05)
            raise InputError("of the first part")
        at_work.append(first)
        time.sleep(0.1)
        at_work.remove(first)

    with pytest.raises(InputError):
        in_parts(work, 12, 100 * SMALL_PART)
    assert not at_work


# ---- progress


@pytest.mark.parametrize("answer", [False, np.False_, 0])
def test_false_cancels(answer):
    progress = Progress(lambda share: answer)
    with pytest.raises(Cancelled, match="nothing was changed"):
        progress.check()
    with pytest.raises(Cancelled):
        progress.part(0.0, 0.5).advance(1.0)


def test_compiled_work_is_waited_for_and_stopped():
    def work(turns, stop):
        for turn in range(turns):
            if stop[0]:
                return -turn
            time.sleep(0.01)
        return turns

    asked, ended = [], []
    assert Progress(asked.append).wait_for(work, 20) == 20
    assert asked
    assert Progress().wait_for(work, 2) == 2
    with pytest.raises(Cancelled):
        Progress(lambda share: False).wait_for(lambda stop: ended.append(work(99999, stop)))
    assert ended[0] <= 0


# ---- errors


@pytest.mark.parametrize(
    "error",
    [InputError("wrong"), InputRemoved("'CT'"), NoCudaError("cuda:1", "no driver")],
    ids=lambda error: type(error).__name__,
)
def test_an_error_reaches_another_process(error):
    found = pickle.loads(pickle.dumps(error))
    assert (type(found), str(found)) == (type(error), str(error))
    assert vars(found) == vars(error)


# ---- translation

TEXT = "The mask {mask} is empty."


@pytest.fixture
def language(monkeypatch):
    """A made-up `slicer.i18n` that translates what the test puts in, by context and text."""
    known = {}
    module = types.ModuleType("slicer.i18n")
    module.getContext = lambda path: path.replace("\\", "/").rpartition("/")[2]
    module.translate = lambda context, text: known.get((context, text), text)
    monkeypatch.setitem(sys.modules, "slicer", types.ModuleType("slicer"))
    monkeypatch.setitem(sys.modules, "slicer.i18n", module)
    return known


def test_a_text_is_translated_for_the_file_that_says_it(language):
    language["other.py", TEXT] = "La máscara {mask} de otro archivo."
    assert tr(TEXT) == TEXT
    language["test_basics.py", TEXT] = "{mask} está vacía"
    assert tr(TEXT).format(mask="'liver'") == "'liver' está vacía"


def test_without_slicer_a_text_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "slicer", None)
    monkeypatch.setitem(sys.modules, "slicer.i18n", None)
    assert tr(TEXT) == TEXT


# ---- The liver phantom: what it says about itself is true of its voxels


SHAPES = [(8, 8, 8), (1, 64, 64), (3, 8, 50), (40, 96, 64)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_any_shape_keeps_its_promises(shape, seed):
    made = liver_phantom(shape, seed)
    assert made.volume.shape == made.mask.shape == made.liver.shape == shape
    assert (made.volume.dtype, made.mask.dtype, made.liver.dtype) == (np.int16, np.uint8, np.uint8)
    assert made.seeds.shape == (len(made.seed_labels), 3)
    assert made.mask[tuple(made.seeds.T)].all()
    assert not made.mask[tuple(made.background_seeds.T)].any()
    for branch in made.centrelines:
        assert (branch.points >= -0.5).all()
        assert (branch.points <= np.array(shape) - 0.5).all()


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (8, 8)},
        {"shape": (8, 7, 8)},
        {"shape": "large"},
        {"seed": 1.5},
        {"noise": -1},
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments):
    with pytest.raises(InputError, match="phantom"):
        liver_phantom(**{"shape": (8, 8, 8), **arguments})


# ---- Masks, components, distances and topology against scipy, scikit-image and brute force


MASK_SHAPES = strategies.tuples(*[strategies.integers(1, 9)] * 3)
MASKS = arrays(bool, MASK_SHAPES, elements=strategies.integers(0, 1).map(bool))
CUBE = np.ones((3, 3, 3), bool)
SPACING = (2.3, 0.4, 1.0)


# ---- components


@given(MASKS)
def test_cavities_are_filled(mask):
    before = mask.copy()
    filled, count, voxels = masks.fill_cavities(mask)
    np.testing.assert_array_equal(filled, ndimage.binary_fill_holes(mask))
    np.testing.assert_array_equal(mask, before)
    cavities = filled & ~mask
    assert (count, voxels) == (ndimage.label(cavities)[1], np.count_nonzero(cavities))
    assert filled is mask or count


# ---- distances


@given(random_solids())
@settings(max_examples=30)
def test_distances_are_those_of_scipy(block):
    mask = np.pad(block, 1).astype(np.uint8) * np.uint8(7)  # one object, whatever its value
    expected = ndimage.distance_transform_edt(mask, sampling=SPACING)
    depth = distances.distance_to_outside(mask, SPACING)
    assert depth.dtype == np.float32
    np.testing.assert_allclose(depth, expected, atol=1e-5)


@given(mask=random_solids(), seed=strategies.integers(0, 10**6))
@settings(max_examples=30)
def test_distances_along_are_the_shortest(mask, seed):
    """By Dijkstra's algorithm of scipy; and so after more sources."""
    mask = np.pad(mask, 1).astype(np.uint8)
    solid = np.flatnonzero(mask)
    sources = np.random.default_rng(seed).permutation(solid)[:4]
    graph, _ = pixel_graph(mask > 0, connectivity=3, spacing=SPACING)
    graph.data = np.rint(graph.data / distances.unit_of(SPACING))
    expected = dijkstra(graph, indices=np.searchsorted(solid, sources), min_only=True)
    expected[np.isinf(expected)] = -1
    found = distances.geodesic_distance(mask, sources, SPACING)
    assert (found.reshape(-1)[solid] == expected).all()
    assert (found[mask == 0] == -1).all()
    one_by_one = distances.geodesic_distance(mask, sources[:1], SPACING)
    for n in range(2, len(sources) + 1):
        distances.geodesic_distance(mask, sources[:n], SPACING, known=one_by_one)
    reached = one_by_one >= 0  # pieces without the first source are not
    assert (one_by_one[reached] == found[reached]).all()
    in_other_order = distances.geodesic_distance(np.asfortranarray(mask), sources, SPACING)
    np.testing.assert_array_equal(in_other_order, found)


# ---- topology


@given(MASKS)
def test_euler_characteristics_are_those_of_scikit_image(mask):
    expected = euler_number(mask, 3)
    assert topology.euler_characteristic(mask) == expected
    assert topology.euler_characteristic(np.asfortranarray(mask)) == expected
    for at_once in (1, 7, 50):  # less than a row, than a plane, than the volume
        with patch.object(topology, "CELLS_AT_ONCE", at_once):
            assert topology.euler_characteristic(mask) == expected
    assert topology.cycle_count(mask) == ndimage.label(mask, CUBE)[1] - expected


def test_a_simple_point_leaves_components_tunnels_and_cavities():
    """By the Euler characteristic and the components of the block, of object and background."""
    rng = np.random.default_rng(5)
    for density in rng.random(400):
        block = rng.random((3, 3, 3)) < density
        block[1, 1, 1] = False
        bits = int((block.reshape(-1) << np.arange(27)).sum())
        with_it = block.copy()
        with_it[1, 1, 1] = True
        same = euler_number(np.pad(with_it, 1), 3) == euler_number(np.pad(block, 1), 3)
        one = ndimage.label(block, CUBE)[1] == 1
        cross = ndimage.generate_binary_structure(3, 2)
        around = ndimage.label(~block & cross & (np.indices((3, 3, 3)) != 1).any(axis=0))[0]
        faces = around[ndimage.generate_binary_structure(3, 1)]
        simple = one and len(set(faces[faces > 0])) == 1
        assert topology.is_simple(bits) == simple
        assert same or not simple


# ---- locks


def test_one_run_at_a_time_in_a_folder(tmp_path):
    folder = tmp_path / "a" / "b"
    with folder_lock(folder):
        assert others_in(folder) == []
        with pytest.raises(InputError, match="in use by another run"), folder_lock(folder):
            pass
        (folder / "result").touch()
    with folder_lock(folder):
        assert [place.name for place in others_in(folder)] == ["result"]
    assert [place.name for place in folder.iterdir()] == ["result"]


def test_a_killed_run_holds_nothing(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from FuzzyVesselCoreLib.files.step_folder import folder_lock\n"
        "lock = folder_lock(pathlib.Path(sys.argv[1]))\n"
        "lock.__enter__()\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="in use"), folder_lock(tmp_path):
            pass
        other.kill()
        other.wait()
    with folder_lock(tmp_path):
        pass


# ---- folders of runs

MANIFEST = {"source": "a", "block": [1, 2, 3]}


class Steps(StepFolder):
    KINDS = ("step",)


@pytest.mark.parametrize("left", [0, 5, -9])
def test_a_damaged_step_is_named(tmp_path, left):
    folder = Steps(tmp_path)
    folder.begin(MANIFEST)
    folder.put("step", 1, a=np.arange(1000))
    file = tmp_path / "step-1.npz"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(InputError, match=r"step-1\.npz cannot be read"):
        folder.get("step", 1)


# ---- Zarr

SHAPE, CHUNKS = (20, 16, 16), (8, 8, 8)
BOMB = np.zeros(20 << 20, np.uint8)


def _array(folder, packing):
    """An array that zarr writes, and the codec of its chunks."""
    zarr = pytest.importorskip("zarr")
    import numcodecs

    values = np.random.default_rng(0).integers(0, 9, SHAPE).astype(np.int16)
    codec = {
        "zlib": numcodecs.Zlib(), "gzip": numcodecs.GZip(), "blosc": numcodecs.Blosc(),
        "zstd": numcodecs.Zstd(), "lz4": numcodecs.LZ4(), "raw": None,
    }[packing.removesuffix(" shards")]  # fmt: skip
    options = {"shape": SHAPE, "chunks": CHUNKS, "dtype": values.dtype}
    if packing.endswith("shards"):
        packed = {"gzip": zarr.codecs.GzipCodec(), "zstd": zarr.codecs.ZstdCodec()}
        options |= {"shards": (16, 16, 16), "compressors": packed[packing.split()[0]]}
    else:
        options |= {"zarr_format": 2, "compressors": codec}
    zarr.create_array(str(folder), **options)[:] = values
    return codec


READ = ["raw", "zlib", "gzip", "blosc", "zstd", "lz4", "gzip shards", "zstd shards"]


@pytest.mark.parametrize("packing", READ)
def test_arrays_that_tell_the_truth_are_read(tmp_path, packing):
    _array(tmp_path / "a", packing)
    array, notes = zarr_guard.checked_array(tmp_path / "a")
    assert (array.shape, array.chunks, notes) == (SHAPE, CHUNKS, ())


@pytest.mark.parametrize("packing", READ[1:])
def test_chunks_that_unpack_to_more_are_refused(tmp_path, packing):
    codec = _array(tmp_path / "a", packing)
    bomb = bytes(codec.encode(BOMB))
    assert len(bomb) < 1 << 20
    files = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    chunk = next(path for path in files if path.name not in zarr_guard.ZARR)
    if packing.endswith("shards"):
        index = struct.pack("<16Q", 0, len(bomb), *[zarr_guard.ABSENT] * 14)
        chunk.write_bytes(bomb + index + struct.pack("<I", zlib.crc32(index)))
    else:
        chunk.write_bytes(bomb)
    with pytest.raises(ValueError, match="longer than its header declares"):
        zarr_guard.checked_array(tmp_path / "a")
    array, key = zarr_guard.open_array(tmp_path / "a"), str(chunk.relative_to(tmp_path / "a"))
    with pytest.raises(ValueError, match="longer than its header declares"):
        zarr_guard.check_chunk(tmp_path / "a", key, array)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"filters": [{"id": "zlib"}]}, "packed twice"),
        ({"filters": [{"id": "pickle"}]}, "pickle"),
        ({"compressor": {"id": "bz2"}}, "'bz2', which is not read"),
        ({"chunks": [1 << 20, 1 << 20, 1 << 20]}, "in chunks of"),
        ({"chunks": [0, 8, 8]}, "in chunks of"),
        ({"chunks": [8, 8]}, "same length"),
        ({"shape": [2.5, 8, 8]}, "integers"),
        ({"dtype": "|O"}, "type"),
        ({"dtype": "<M8[s]"}, "of the type"),
    ],
)
def test_headers_that_cannot_be_true_are_refused(tmp_path, changes, reason):
    _array(tmp_path, "zlib")
    header = tmp_path / ".zarray"
    header.write_text(json.dumps({**json.loads(header.read_text()), **changes}))
    with pytest.raises((ValueError, TypeError), match=reason):
        zarr_guard.open_array(tmp_path)


def test_links_out_of_the_folder_are_refused(tmp_path):
    _array(tmp_path / "a", "raw")
    chunk = tmp_path / "a" / "0.0.0"
    chunk.unlink()
    assert "1 of 12 chunks are not there" in zarr_guard.checked_array(tmp_path / "a")[1][0]
    chunk.symlink_to(tmp_path)
    with pytest.raises(ValueError, match="is no regular file"):
        zarr_guard.checked_array(tmp_path / "a")
    with pytest.raises(ValueError, match="would lie outside"):
        zarr_guard.path_inside("../0")
