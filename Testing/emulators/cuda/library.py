"""From CUDA source to a library of this machine, compiled once and cached in a private folder."""

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_HEADERS = Path(__file__).parent
_OPTIONS = (
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",  # equal names in two libraries must stay two things
    "-fno-strict-aliasing",
    "-fno-threadsafe-statics",
    "-fdata-sections",  # see _SHARED
    "-ffp-contract=off",  # products and sums are rounded one by one, as with NVRTC's --fmad=false
    "-w",
)
# What templates declare __shared__ is not put into the section that is asked for, but into one of
# its own under its mangled name. For ld: all of it together.
_SHARED = """
SECTIONS
{
    cuda_on_cpu_shared :
    {
        __start_cuda_on_cpu_shared = .;
        *(cuda_on_cpu_shared .bss._ZZN12_GLOBAL__N_1* .bss._ZZNK12_GLOBAL__N_1*)
        __stop_cuda_on_cpu_shared = .;
    }
}
INSERT BEFORE .bss;
"""
_EXTERN_SHARED = re.compile(
    r"extern\s+__shared__\s+((?:__align__\(\d+\)\s*)?)([\w\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_WAITING = re.compile(r"\b(while\s*\(.*\bvolatile\b.*\))\s*\{\s*\}")
_CONSTANT = re.compile(r"__constant__\s+[^;=\[\]]*?(\w+)\s*\[")
_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\((?P<bounds>[^;{]*?)\)\s*)?'
    r"(?:void\s+)?(?P<name>\w+)\s*\((?=[^()])"
)


def what_is_missing():
    """Why no kernel can be compiled on this machine (str), or None."""
    if sys.platform != "linux":
        return "CUDA kernels are run on the CPU only under Linux"
    if not shutil.which("g++"):
        return "g++ is missing, which compiles the CUDA kernels for the CPU"
    return None


def compile_library(source, defines=(), watched=False):
    """Compile the text of a `.cu` file with all its kernels.

    Parameters
    ----------
    source : str
        What `read_source` returned.
    defines : sequence of str
        Macros such as "VOXEL=short".
    watched : bool
        Whether each access to memory is watched, which allows to interleave threads.

    Raises
    ------
    RuntimeError
        g++ does not take the source; the message is the compiler's.
    """
    lines = ['#include "cuda_on_cpu.cuh"', *(_define(define) for define in defines)]
    # The unnamed namespace keeps what is shared in inline functions out of the linker's merging.
    lines += ["namespace {", _adapt(source), "}"]
    lines += [f"CUDA_ON_CPU_KERNEL({name}, ({bound}))" for name, bound in find_kernels(source)]
    lines += [f"CUDA_ON_CPU_CONSTANT({name})" for name in find_constants(source)]
    return _load("\n".join(lines), ("-fsanitize=thread",) if watched else ())


@functools.cache
def _load(code, more_options):
    headers = "".join(path.read_text() for path in sorted(_HEADERS.glob("*.cuh")))
    options = (*_OPTIONS, *more_options)
    key = hashlib.sha256("\0".join([code, headers, _SHARED, *options]).encode()).hexdigest()
    library = _private_folder() / f"{key[:32]}.so"
    if not library.exists():
        _build(code, options, library)
    return ctypes.CDLL(str(library))


def _build(code, options, library):
    # Written beside and then renamed: two processes may compile the same source at once.
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        unit, unfinished = f"{folder}/kernels.o", f"{folder}/kernels.so"
        script = Path(folder, "shared.ld")
        script.write_text(_SHARED)
        _run_compiler([*options, "-I", str(_HEADERS), "-x", "c++", "-c", "-", "-o", unit], code)
        link = ["-shared", unit, f"-Wl,-T,{script}", "-o", unfinished]  # no library of a sanitizer
        _run_compiler(link)
        os.replace(unfinished, library)


def _run_compiler(arguments, code=None):
    result = subprocess.run(
        ["g++", *arguments], input=code, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise RuntimeError(f"g++ does not compile the kernel:\n{result.stderr}")


def _private_folder():
    folder = Path(tempfile.gettempdir()) / f"cuda_on_cpu-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise RuntimeError(f"{folder} belongs to somebody else; set TMPDIR to another folder")
    return folder


def _define(define):
    name, _, value = define.partition("=")
    return f"#define {name} {value or 1}"


def _adapt(source):
    """What no macro can translate: dynamic shared memory, and loops that wait for another block."""
    source = _WAITING.sub(r"\1 cuda_on_cpu::wait_for_others();", source)
    return _EXTERN_SHARED.sub(
        r"\2* const \3 = reinterpret_cast<\2*>(cuda_on_cpu::dynamic_shared);", source
    )


def find_kernels(source):
    """Name and largest block of each kernel, both as C++ text."""
    for kernel in _KERNEL.finditer(_without_comments(source)):
        yield kernel["name"], (kernel["bounds"] or "1024").split(",")[0]


def find_constants(source):
    """Name of each array in constant memory."""
    return _CONSTANT.findall(_without_comments(source))


def _without_comments(source):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
