"""Functions that are compiled for one kind of caller alone."""

import ast
from pathlib import Path

import numpy as np
import pytest

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside, inlined

ROOT = Path(__file__).parents[2]
FILES = [
    path
    for package in ("FuzzyVesselCore", "PotentialSkeleton")
    for path in (ROOT / package).rglob("*.py")
    if "jit.decorators import" in path.read_text(encoding="utf-8")
]


@compiled_inside
def halves(number):
    return number // 2, number % 2


@inlined
def doubled(number):
    return 2 * number


@compiled
def sum_of(numbers):
    total = 0
    for number in numbers:
        whole, rest = halves(number)
        total += doubled(whole) + rest
    return total


def test_all_kinds_call_one_another():
    assert sum_of(np.arange(10)) == 45


def test_python_calls_each_kind():
    assert halves(7) == (3, 1)
    assert doubled(4) == 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_compiled_for_compiled_callers_is_called_by_them_alone(path):
    """Python would interpret it, a thousand times as slow."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    kinds = {f.name: {ast.unparse(d) for d in f.decorator_list} for f in functions}
    inside = {name for name, kind in kinds.items() if "compiled_inside" in kind}
    for function in functions:
        if any(
            word in kind
            for kind in kinds[function.name]
            for word in ("compiled", "inlined", "njit")
        ):
            continue
        calls = {
            n.func.id
            for n in ast.walk(function)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        assert not calls & inside, function.name
