"""From `.cu` files to kernels, compiled by NVRTC through NVIDIA's `cuda.core`.

`cupy.RawModule` is not used because CuPy adds `-ftz=true`: subnormal numbers would be flushed to
zero, and results would no longer equal the CPU's bit for bit.
"""

import functools
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DeviceError, DeviceMemoryError

_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def read_source(path: str | Path) -> str:
    """Text of a `.cu` file with each `#include "x.cuh"` replaced by that file's text.

    NVRTC opens no file: it cannot in folders of every name. `#line` directives keep compiler
    messages correct.
    """
    path = Path(path)
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        included = _INCLUDE.match(line)
        if included:
            text = (path.parent / included[1]).read_text(encoding="utf-8")
            line = f'#line 1 "{included[1]}"\n{text}\n#line {number + 1} "{path.name}"'
        lines.append(line)
    return "\n".join(lines) + "\n"


def compile_kernels(
    source: str, architecture: str, defines: Sequence[str] = (), cache: Any = None
) -> tuple[bytes, str]:
    """Compile CUDA C++; needs no GPU.

    Every product and sum is rounded according to IEEE 754 (no fused multiply-add, subnormals kept,
    correctly rounded division and square root), so that results equal the CPU's bit for bit. The
    architecture is "sm_90" for machine code, "compute_90" for PTX, which the driver compiles;
    `defines` are macros such as "VOXEL=short". Returns the binary and a log: warnings, and each
    kernel's registers, memory and spills (empty from the cache). An error of cuda.core's holds the
    compiler's log where the source does not compile.
    """
    from cuda.core import Program, ProgramOptions

    macros = [(name, value or "1") for name, _, value in (text.partition("=") for text in defines)]
    options = ProgramOptions(
        name="kernels.cu",
        arch=architecture,
        std="c++17",
        fma=False,
        ftz=False,
        prec_div=True,
        prec_sqrt=True,
        ptxas_options="-v",
        define_macro=macros or None,
    )
    log = io.StringIO()
    kind = "cubin" if architecture.startswith("sm_") else "ptx"
    compiled = Program(source, "c++", options).compile(kind, logs=log, cache=cache)
    return bytes(compiled.code), log.getvalue()


def architectures() -> list[int]:
    """The compute capabilities that NVRTC compiles for, such as 90, rising."""
    from cuda.bindings import nvrtc

    return sorted(nvrtc.nvrtcGetSupportedArchs()[1])


def architecture_for(capability: int) -> str:
    """What to compile for a device of this compute capability, such as 90.

    `DeviceError` where NVRTC does not support it any more.
    """
    known = [number for number in architectures() if number <= capability]
    if not known:
        raise DeviceError(
            f"the GPU has compute capability {capability / 10}, which is older than the installed "
            "NVRTC supports. Install cupy-cuda12x instead."
        )
    return f"sm_{capability}" if known[-1] == capability else f"compute_{known[-1]}"


@functools.cache
def load_kernel(ordinal: int, path: Path, name: str, defines: tuple[str, ...]) -> Any:
    """A kernel of a file on a device, which must be the current one; compiled once."""
    return _load_module(ordinal, path, defines).get_function(name)


@functools.cache
def _load_module(ordinal: int, path: Path, defines: tuple[str, ...]) -> Any:
    import cupy

    architecture = architecture_for(int(cupy.cuda.Device(ordinal).compute_capability))
    module = cupy.cuda.function.Module()
    module.load(compile_kernels(read_source(path), architecture, defines, _cache())[0])
    return module


@functools.cache
def _cache() -> Any:
    """Compiled kernels on disk, in the user's cache folder; None where it cannot be written."""
    from cuda.core.utils import FileStreamProgramCache

    try:
        return FileStreamProgramCache()
    except OSError:
        return None


# ---- The arguments of kernels: numbers, pointers and structs

THREADS = 256  # of a block, where each thread works on one voxel, cell or sample
MAX_VOXELS = (1 << 32) - THREADS  # kernels number voxels by 32 bits
CUDA_TYPES = {  # of C++, for the voxel types that kernels are compiled for
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "float32": "float",
}


class Record(np.ndarray):
    """One struct in C's layout, which a launch passes by value.

    `arrays` are what its pointers lead to; they live as long as the record.
    """

    arrays: tuple[Any, ...] = ()


def make_record(values: tuple[Any, ...], address: Callable[[Any], int]) -> Record:
    """A struct of these values; see `CudaDevice.record`."""
    fields: list[Any] = []
    arrays: list[Any] = []
    for value in values:
        if isinstance(value, Record):  # a struct within the struct
            arrays += value.arrays
        elif not isinstance(value, np.generic):
            arrays += [] if value is None else [value]
            value = np.uint64(0 if value is None else address(value))
        fields.append(value)
    layout = np.dtype([(f"f{n}", field.dtype) for n, field in enumerate(fields)], align=True)
    record = np.array(tuple(field.item() for field in fields), layout).view(Record)
    record.arrays = tuple(arrays)
    return record


def launch_per_item(gpu: Any, path: Path, name: str, count: int, args: Sequence) -> None:
    """Run a kernel with one thread for each of `count` voxels."""
    gpu.kernel(path, name)((-(-count // THREADS),), (THREADS,), args)


def voxel_macro(dtype: np.dtype) -> str:
    """The macro that compiles a file for a voxel type."""
    return f"VOXEL={CUDA_TYPES[dtype.name]}"


def int32s(numbers: Sequence[int]) -> tuple[np.int32, ...]:
    """Integers in the type of a kernel's `int` parameters."""
    return tuple(np.int32(n) for n in numbers)


def pointer(array: Any) -> Any:
    """The array, or a null pointer for None."""
    return np.uintp(0) if array is None else array


def check_voxel_count(count: int) -> None:
    """Raise `DeviceMemoryError` for a volume whose voxels 32 bits cannot number."""
    if count > MAX_VOXELS:
        raise DeviceMemoryError(
            f"The volume has {count:,} voxels, and {MAX_VOXELS:,} can be numbered on a CUDA "
            "device; use device 'cpu', or a mask that leaves fewer."
        )
