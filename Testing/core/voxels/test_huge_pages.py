"""Memory of VTK's in large pages."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.voxels import huge_pages


@pytest.fixture
def advised(monkeypatch):
    """The parts of memory that the system was asked to have in large pages."""
    calls = []
    monkeypatch.setattr(huge_pages, "_madvise", lambda: lambda *part: calls.append(part))
    return calls


def test_whole_pages_within_a_large_array(advised):
    array = np.empty(huge_pages.LEAST_BYTES + 8192, np.uint8)[100:]
    huge_pages.ask_for_huge_pages(array)
    [(first, length, advice)] = advised
    assert first % 4096 == length % 4096 == 0
    assert advice == 14
    assert array.ctypes.data <= first < array.ctypes.data + 4096
    end = array.ctypes.data + array.nbytes
    assert end - 4096 < first + length <= end


def test_small_arrays_stay_as_they_are(advised):
    huge_pages.ask_for_huge_pages(np.empty(4096, np.uint8))
    assert advised == []


def test_values_stay(monkeypatch):
    array = np.arange(huge_pages.LEAST_BYTES, dtype=np.uint8)
    huge_pages.ask_for_huge_pages(array)
    monkeypatch.setattr(huge_pages, "_madvise", lambda: None)
    huge_pages.ask_for_huge_pages(array)
    assert np.array_equal(array, np.arange(huge_pages.LEAST_BYTES, dtype=np.uint8))
