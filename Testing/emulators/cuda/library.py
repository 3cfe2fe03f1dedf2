"""From CUDA source to a library of this machine, compiled once and cached in a private folder."""

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).parent
_OPTIONS = (
    "-std=c++17",
    "-O1",  # half the seconds of compiling by -O2, and kernels run as fast
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
_EXTERN_SHARED = re.compile(r"extern\s+__shared__\s+([\w\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;")
_CONSTANT = re.compile(r"__constant__\s+[^;=\[\]]*?(\w+)\s*\[")
_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\((?P<bounds>[^;{]*?)\)\s*)?'
    r"(?:void\s+)?(?P<name>\w+)\s*\((?=[^()])"
)


def what_is_missing():
    """Why no kernel can be compiled on this machine (str), or None."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "CUDA kernels are run on the CPU only under Linux on x86-64"
    if not shutil.which("g++"):
        return "g++ is missing, which compiles the CUDA kernels for the CPU"
    return None


def compile_library(source, defines=()):
    """Compile what `read_source` returned, with macros such as "VOXEL=short"; all its kernels."""
    lines = [_define(define) for define in defines]
    # The unnamed namespace keeps what is shared in inline functions out of the linker's merging.
    lines += ["namespace {", _adapt(source), "}"]
    lines += [f"CUDA_ON_CPU_KERNEL({name}, ({bound}))" for name, bound in find_kernels(source)]
    lines += [f"CUDA_ON_CPU_CONSTANT({name})" for name in find_constants(source)]
    return _load("\n".join(lines))


@functools.cache
def _load(code):
    library = _private_folder() / f"{_key(code)}.so"
    if not library.exists():
        _build(code, library)
    return ctypes.CDLL(str(library))


def _build(code, library):
    header = _precompiled_header()
    with _finished(library) as unfinished:
        unit, script = unfinished.with_suffix(".o"), unfinished.with_suffix(".ld")
        script.write_text(_SHARED)
        source = ["-include", str(header), "-x", "c++", "-c", "-"]
        _run_compiler([*_OPTIONS, *source, "-o", str(unit)], code)
        _run_compiler(["-shared", str(unit), f"-Wl,-T,{script}", "-o", str(unfinished)])


@functools.cache
def _precompiled_header():
    """A header for g++'s ``-include``: all headers parsed once, not with each kernel."""
    header = _private_folder() / f"{_key()}.hpp"
    compiled = header.with_suffix(".hpp.gch")
    if not compiled.exists():
        with _finished(header) as unfinished:  # g++ asks for it, but reads the other
            unfinished.write_text('#include "cuda_on_cpu.cuh"\n')
        with _finished(compiled) as unfinished:
            source = ["-x", "c++-header", str(header)]
            _run_compiler([*_OPTIONS, *source, "-o", str(unfinished)])
    return header


@contextlib.contextmanager
def _finished(file):
    """Where a file is written before it takes its place: two processes may compile it at once."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        yield Path(folder, file.name)
        os.replace(Path(folder, file.name), file)


def _key(*parts):
    """What a compiled file is named by: all that it was made from."""
    sources = [path.read_text() for path in sorted(_HERE.glob("*.cuh"))]
    text = "\0".join([*sources, _SHARED, *_OPTIONS, *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _run_compiler(arguments, code=None):
    command = ["g++", "-I", str(_HERE), *arguments]
    result = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"g++ does not compile the kernel:\n{result.stderr}")


def _private_folder():
    folder = Path(tempfile.gettempdir()) / f"cuda_on_cpu-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _define(define):
    name, _, value = define.partition("=")
    return f"#define {name} {value or 1}"


def _adapt(source):
    """What no macro can translate: dynamic shared memory."""
    return _EXTERN_SHARED.sub(
        r"\1* const \2 = reinterpret_cast<\1*>(cuda_on_cpu::dynamic_shared);", source
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
