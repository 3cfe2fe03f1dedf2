"""Tables of the first use: processes of their own, and functions as numba compiles them."""

import numpy as np
import pytest
from numba import njit, prange

from fuzzy_vessel.benchmark.connectedness import fresh_process
from fuzzy_vessel.benchmark.first_use import first_use_table
from fuzzy_vessel.benchmark.first_use.compile_clock import CompileClock
from fuzzy_vessel.benchmark.setting import Setting, Sizes


@pytest.fixture(scope="module")
def setting():
    return Setting(sizes=Sizes(liver=(24, 32, 32)), quick=True, tell=lambda name: None)


def test_both_tables_tell_of_the_same_processes(setting, monkeypatch):
    monkeypatch.setattr(fresh_process, "CACHES", ())  # those of the tests: not all is compiled
    monkeypatch.setattr(first_use_table, "STATES", {EMPTY: ("0", False), KEPT: ("0.01", True)})
    monkeypatch.setattr(first_use_table, "SINGLE", EMPTY)
    table = first_use_table.first_use(setting)
    works = [(row["work"], row["state"]) for row in table.rows]
    states = (EMPTY, KEPT, AGAIN)
    assert works == [(work, state) for work in ("connectedness", "skeleton") for state in states]
    for first, kept, again in (table.rows[:3], table.rows[3:]):
        assert first["check"] == kept["check"] == again["check"]
        assert first["goal"]
        assert kept["functions"] == 0
        assert min(first["figure"], kept["figure"], again["figure"]) > 0
    listed = first_use_table.compilation(setting)
    sums = [row for row in listed.rows if row["function"].startswith("all ")]
    told = [row["functions"] for row in table.rows if row["state"] == EMPTY]
    assert [row["versions"] for row in sums] == told


EMPTY, KEPT, AGAIN = first_use_table.EMPTY, first_use_table.KEPT, first_use_table.AGAIN


def test_compilations_are_counted_by_function_without_those_of_callees():
    @njit
    def inner(n):
        return n + 1

    @njit
    def outer(n):
        return inner(n) * 2

    @njit(parallel=True)
    def over_all(values):
        for n in prange(len(values)):
            values[n] = outer(values[n])

    with CompileClock() as clock:
        outer(3)
        outer(3.0)
        over_all(np.ones(4, np.float32))
        outer(4)  # compiled already
    own = {name.rpartition(".")[2]: found for name, found in clock.functions.items()}
    counts = {name: own[name]["versions"] for name in ("inner", "outer", "over_all")}
    assert counts == {"inner": 3, "outer": 3, "over_all": 1}
    assert [own[name]["parallel"] for name in ("inner", "outer", "over_all")] == [0, 0, 1]
    assert all(found["seconds"] > 0 and found["cpu"] > 0 for found in own.values())


def test_nothing_is_counted_outside_of_the_context():
    clock = CompileClock()
    with clock:
        pass

    @njit
    def compiled(n):
        return -n

    assert compiled(1) == -1
    assert not clock.functions
