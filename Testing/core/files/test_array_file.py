"""Arrays of `.npz` files: the same as NumPy's, by any number of threads."""

import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.lib import format as npy

from FuzzyVesselCoreLib.files import array_file
from FuzzyVesselCoreLib.files.array_file import read_arrays

ARRAYS = {
    "levels": np.arange(60, dtype=np.uint16).reshape(3, 4, 5),
    "transposed": np.arange(24, dtype=np.int64).reshape(4, 6).T,
    "nothing": np.zeros((0, 3), np.float32),
    "number": np.array(7.5),
    "flag": np.array([True, False]),
    "long": np.arange(300_000, dtype=np.float64),
}


@pytest.fixture
def place(tmp_path):
    np.savez(tmp_path / "some.npz", **ARRAYS)
    return tmp_path / "some.npz"


def test_arrays_are_those_that_were_written(place):
    found = read_arrays(place)
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


def test_one_thread_at_a_time_parses_a_header(place, monkeypatch):
    at_work, most = [], []

    def slowly(stored):
        at_work.append(threading.get_ident())
        most.append(len(at_work))
        time.sleep(0.002)
        found = npy.read_array_header_1_0(stored)
        at_work.pop()
        return found

    parser = type("Format", (), dict(vars(npy), read_array_header_1_0=staticmethod(slowly)))
    monkeypatch.setattr(array_file, "npy", parser)
    with ThreadPoolExecutor(4) as pool:
        all_found = list(pool.map(read_arrays, [place] * 8))
    assert max(most) == 1
    assert len(most) == 8 * len(ARRAYS)
    for found in all_found:
        np.testing.assert_array_equal(found["long"], ARRAYS["long"])


def test_a_flipped_bit_is_found(place):
    content = bytearray(place.read_bytes())
    content[content.index(ARRAYS["levels"].tobytes()) + 4] ^= 1
    place.write_bytes(content)
    with pytest.raises(zipfile.BadZipFile):
        read_arrays(place)


def test_what_is_not_of_savez_is_refused(tmp_path):
    np.savez(tmp_path / "objects.npz", np.array([None]))
    with pytest.raises(ValueError, match="Python objects"):
        read_arrays(tmp_path / "objects.npz")
    with zipfile.ZipFile(tmp_path / "short.npz", "w") as file, file.open("a.npy", "w") as array:
        npy.write_array_header_1_0(array, dict(descr="<i8", fortran_order=False, shape=(4,)))
        array.write(b"short")
    with pytest.raises(ValueError, match="ends too early"):
        read_arrays(tmp_path / "short.npz")
    with zipfile.ZipFile(tmp_path / "new.npz", "w") as file, file.open("a.npy", "w") as array:
        npy.write_array(array, np.arange(3), version=(2, 0))
    with pytest.raises(ValueError, match=r"numpy\.savez"):
        read_arrays(tmp_path / "new.npz")
