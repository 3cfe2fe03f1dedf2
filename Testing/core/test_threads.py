"""Parts of a range that threads work on."""

import threading

import pytest

from FuzzyVesselCoreLib import threads
from FuzzyVesselCoreLib.threads import SMALL_VOLUME, in_parts


@pytest.mark.parametrize("count", [0, 1, 2, 7, 129])
@pytest.mark.parametrize("voxels", [0, SMALL_VOLUME])
def test_each_number_is_in_one_part_and_results_keep_their_order(count, voxels, monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    parts = in_parts(lambda first, last: list(range(first, last)), count, voxels)
    assert [number for part in parts for number in part] == list(range(count))
    assert all(parts)


def test_small_volumes_stay_in_the_calling_thread(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    here = threading.current_thread()
    found = in_parts(lambda first, last: threading.current_thread(), 20, SMALL_VOLUME - 1)
    assert found == [here]
    found = in_parts(lambda first, last: threading.current_thread(), 20, SMALL_VOLUME)
    assert here not in found


def test_an_error_in_a_part_is_the_callers(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)

    def work(first, last):
        if first:
            raise ValueError("in a part")

    with pytest.raises(ValueError, match="in a part"):
        in_parts(work, 8, SMALL_VOLUME)
