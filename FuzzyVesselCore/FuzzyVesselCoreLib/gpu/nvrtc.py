"""From `.cu` files to kernels, compiled by NVRTC through NVIDIA's `cuda.core`.

`cupy.RawModule` is not used because CuPy adds `-ftz=true`: subnormal numbers would be flushed to
zero, and results would no longer equal the CPU's bit for bit.
"""

import functools
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import DeviceError

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
    correctly rounded division and square root), so that results equal the CPU's bit for bit.

    Parameters
    ----------
    source : str
        Result of `read_source`.
    architecture : str
        "sm_90" for machine code, "compute_90" for PTX, which the driver compiles.
    defines : sequence of str
        Macros such as "VOXEL=short".
    cache : cuda.core.utils.ProgramCacheResource, optional

    Returns
    -------
    binary : bytes
    log : str
        Warnings, and each kernel's registers, memory and spills; empty from the cache.

    Raises
    ------
    DeviceError
        The source does not compile; the message holds the compiler's log.
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
    try:
        compiled = Program(source, "c++", options).compile(kind, logs=log, cache=cache)
    except Exception as error:
        if "COMPILATION" not in str(error):
            raise
        raise DeviceError(f"a CUDA kernel does not compile for {architecture}: {error}") from error
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
