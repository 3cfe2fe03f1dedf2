"""Threads, progress, numba's cache and log, errors between processes, translation."""

import os
import pickle
import subprocess
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


def test_shares_of_parts_are_shares_of_the_run():
    shares = []
    progress = Progress(shares.append)
    progress.advance(0.1)
    second = progress.part(0.2, 0.6)
    second.advance(0.5)
    second.part(0.5, 1.0).advance(1.0)
    Progress(progress.part(0.6, 1.0)).advance(0.5)
    for share in (-1.0, 0.3, 5.0):  # it never falls and stays within 0 and 1
        progress.advance(share)
    assert shares == pytest.approx([0.1, 0.4, 0.6, 0.8, 0.8, 0.8, 1.0])
    assert Progress.of(progress) is progress


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


def test_numbas_cache_is_named_by_the_sources(tmp_path, monkeypatch):
    """A function whose callee in another file changed is compiled again."""
    package = tmp_path / "some_sources"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "outer.py").write_text(
        "from FuzzyVesselCoreLib.compilation import prepare_numba\nprepare_numba()\n"
        "from numba import njit\nfrom .inner import inner\n\n"
        "@njit(cache=True)\ndef outer(n):\n    return inner(n) + 1\n\nprint(outer(10))\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    environment["XDG_CACHE_HOME"] = environment["LOCALAPPDATA"] = str(tmp_path / "caches")
    code = "import FuzzyVesselCoreLib.compilation as c; c.SOURCES = ('some_sources',); "
    code += "import some_sources.outer"
    abandoned = tmp_path / "caches" / "fuzzy-vessel" / "of-long-ago"
    abandoned.mkdir(parents=True)
    os.utime(abandoned, (0, 0))
    for factor, expected in ((2, 21), (3, 31)):
        (package / "inner.py").write_text(
            f"from numba import njit\n\n@njit\ndef inner(n):\n    return {factor} * n\n"
        )
        run = subprocess.run(
            [sys.executable, "-B", "-c", code], env=environment, capture_output=True, check=True
        )
        assert int(run.stdout) == expected
    assert len(list(abandoned.parent.iterdir())) == 2
    assert not abandoned.exists()


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
