"""Counting compiled functions while another thread imports and compiles."""

import gc
import sys
from collections.abc import Callable
from itertools import count
from types import ModuleType

import pytest

pytest.importorskip("numba")
from FuzzyVesselCoreLib.widgets import module_shell
from FuzzyVesselCoreLib.widgets.jit_progress import compiled_functions


def while_modules_come(work: Callable, come: Callable) -> object:
    """What `work` returns, with a call of `come` wherever Python may change to another thread.

    Before Python 3.12 that is also where it makes something and looks for cycles then.
    """
    before = gc.get_threshold()
    gc.callbacks.append(come)
    gc.set_threshold(1, 10**6, 10**6)
    try:
        return work()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(come)


@pytest.fixture
def growing(monkeypatch):
    """A module of the project that grows, as `sys.modules` does, at each call of a function."""
    module, numbers = ModuleType("FuzzyVesselCoreLib.growing"), count()
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def come(phase, info):
        name = f"{module.__name__}{next(numbers)}"
        sys.modules[name] = module
        setattr(module, name, None)

    yield come
    for name in [name for name in sys.modules if name.startswith(module.__name__)]:
        del sys.modules[name]


def test_modules_that_come_do_not_disturb(growing):
    ready, known = while_modules_come(compiled_functions, growing)
    assert 0 <= ready <= known
    found = while_modules_come(lambda: module_shell.packages_of("FuzzyVesselCore"), growing)
    assert "FuzzyVesselCoreLib.growing" in found
