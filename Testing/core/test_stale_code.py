"""numba's cache after an update of the sources."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("numba")
from FuzzyVesselCoreLib.compilation import prepare_numba
from FuzzyVesselCoreLib.jit import stale_code

INNER = "from numba import njit\n\n@njit\ndef inner(n):\n    return {} * n\n"
OUTER = """
from inner import inner
from numba import njit

@njit(cache=True)
def outer(n):
    return inner(n) + 1

print(outer(10))
"""


def run(folder: Path) -> int:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    command = [sys.executable, "-B", "-c", "import outer"]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    return int(found.stdout)


def test_a_function_whose_callee_changed_is_compiled_again(tmp_path):
    (tmp_path / "inner.py").write_text(INNER.format(2))
    (tmp_path / "outer.py").write_text(OUTER)
    assert run(tmp_path) == 21
    assert stale_code.stale_files([str(tmp_path)]) == []
    (tmp_path / "inner.py").write_text(INNER.format(3))
    stale = stale_code.stale_files([str(tmp_path)])
    assert [Path(path).suffix for path in stale] == [".nbi"]
    os.unlink(stale[0])
    assert run(tmp_path) == 31


def test_sources_of_the_future_do_not_count(tmp_path):
    source, index = tmp_path / "a.py", tmp_path / "__pycache__" / "a.f-1.py311.nbi"
    index.parent.mkdir()
    source.touch()
    index.touch()
    now = time.time()
    os.utime(index, (now - 100, now - 100))
    os.utime(source, (now + 1000, now + 1000))
    assert stale_code.stale_files([str(tmp_path)]) == []
    os.utime(source, (now - 50, now - 50))
    assert stale_code.stale_files([str(tmp_path)]) == [str(index)]


def test_the_projects_stale_code_is_forgotten_once(tmp_path, monkeypatch):
    source, index = tmp_path / "package" / "a.py", tmp_path / "package" / "a.f-1.py311.nbi"
    source.parent.mkdir()
    source.with_name("__init__.py").touch()
    index.touch()
    os.utime(index, (0, 0))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(stale_code, "PACKAGES", ("package", "not_installed_at_all"))
    stale_code.forget_stale_code.cache_clear()
    prepare_numba()
    assert not index.exists()
    index.touch()
    os.utime(index, (0, 0))
    prepare_numba()
    assert index.exists()
    stale_code.forget_stale_code.cache_clear()
