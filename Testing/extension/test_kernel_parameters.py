"""Kernels take few arguments: what belongs together is a struct that is filled by name."""

import re

import pytest

from support.places import ROOT

MAX_PARAMETERS = 10
_COMMENT = re.compile(r"//[^\n]*")
_KERNEL = re.compile(
    r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)", re.DOTALL
)
FILES = sorted(
    path
    for module in ("FuzzyVesselCore", "FuzzyConnectedGPU", "PotentialSkeleton")
    for path in (ROOT / module).rglob("*.cu*")
    if path.suffix in (".cu", ".cuh")
)


def parameters_of_kernels(source: str) -> dict[str, int]:
    """How many parameters each kernel of a source has."""
    kernels = _KERNEL.findall(_COMMENT.sub("", source))
    return {name: len(parameters.split(",")) for name, parameters in kernels}


def test_there_are_kernels_in_many_files():
    assert sum(bool(parameters_of_kernels(path.read_text())) for path in FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_kernel_has_a_long_argument_list(path):
    counts = parameters_of_kernels(path.read_text())
    assert {name: n for name, n in counts.items() if n > MAX_PARAMETERS} == {}


def test_parameters_are_counted():
    source = (
        'extern "C" __global__ void __launch_bounds__(64, 2)\n k(int a, // x, y\n B b, C* c)\n{}'
    )
    assert parameters_of_kernels(source) == {"k": 3}
