"""Every CUDA kernel compiles for old and new cards, without warnings and without spilling.

NVRTC needs no GPU for it. A file that is compiled with different macros says so near its top, in a
line such as `// defines: VOXEL=unsigned char | VOXEL=short CODE=int`.
"""

import re

import pytest

from emulators.cuda.library import find_kernels
from FuzzyVesselCoreLib.gpu.kernels import architectures, compile_kernels, read_source
from support.places import PACKAGE_FOLDERS

pytest.importorskip("cuda.core", reason="cuda-core is not installed")

FILES = sorted(file for folder in PACKAGE_FOLDERS for file in folder.rglob("*.cu"))
ARCHITECTURES = (75, 120)  # the oldest that is supported, and the newest
SOME = (90,)  # for all but the first set of macros of a file
MOST_SHARED = 48 * 1024


def define_sets(source):
    """The macros with which a file is compiled: a list of tuples like ("VOXEL=short",)."""
    line = re.search(r"^// defines:(.*)$", source, re.MULTILINE)
    if not line:
        return [()]
    # A set is a row of NAME=VALUE, and a value may have blanks in it ("unsigned char").
    return [
        tuple(part.strip() for part in re.split(r"\s+(?=\w+=)", text.strip()))
        for text in line[1].split("|")
    ]


CASES = [
    pytest.param(file, defines, SOME if n else ARCHITECTURES, id=f"{file.stem}-{' '.join(defines)}")
    for file in FILES
    for n, defines in enumerate(define_sets(read_source(file)))
]


@pytest.mark.parametrize(("file", "defines", "wanted"), CASES)
def test_kernel_compiles(file, defines, wanted):
    source = read_source(file)
    kernels = {name for name, _ in find_kernels(source)}
    assert kernels, f"{file.name} has no kernel"
    for number in set(wanted) & set(architectures()):
        _, log = compile_kernels(source, f"sm_{number}", defines)
        assert "warning" not in log, log
        assert set(re.findall(r"Compiling entry function '(\w+)'", log)) >= kernels, log
        # Registers that spill, and arrays that cannot be kept in them, cost as much as misses.
        used = re.findall(r"(\d+) bytes (?:stack frame|spill stores|spill loads)", log)
        assert set(used) == {"0"}, log
        shared = [int(size) for size in re.findall(r"(\d+) bytes smem", log)]
        assert max(shared, default=0) <= MOST_SHARED, log
