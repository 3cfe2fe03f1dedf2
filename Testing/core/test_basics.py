"""Threads, progress, numba's cache and log, errors between processes, translation."""

import pickle
import sys
import time
import types

import numpy as np
import pytest

from FuzzyVesselCoreLib import threads
from FuzzyVesselCoreLib.errors import (
    Cancelled,
    InputError,
    InputRemoved,
    NoCudaError,
)
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import SMALL_VOLUME, in_parts
from FuzzyVesselCoreLib.translation import tr

# ---- threads


@pytest.mark.parametrize("count", [0, 1, 2, 7, 129])
@pytest.mark.parametrize("voxels", [0, SMALL_VOLUME, 100 * SMALL_VOLUME])
def test_each_number_is_in_one_part_and_results_keep_their_order(count, voxels, monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    parts = in_parts(lambda first, last: list(range(first, last)), count, voxels)
    assert [number for part in parts for number in part] == list(range(count))
    assert all(parts)


def test_parts_may_be_worked_on_in_parts(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)

    def work(depth):
        return sum(in_parts(lambda *_: work(depth - 1), 2, SMALL_VOLUME)) if depth else 1

    assert work(4) == 16


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


# ---- numba


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
