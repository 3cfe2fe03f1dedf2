"""Compilation of `.cu` files by NVRTC.

`cupy.RawModule` is not used because CuPy adds `-ftz=true` to the options: subnormal numbers would
be flushed to zero, and results would no longer equal the CPU's bit for bit. Since CUDA 12.9 NVRTC
caches what it compiled on disk, for later processes.
"""

import functools
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import DeviceError
from .nvrtc_library import nvrtc_library

_SHARED = Path(__file__).resolve().parent
# Of early_compilation.py: threads that compile a device's files with their macros, and the
# binaries, by source, architecture, macros and whether they are drafts, until they are loaded.
compiling: dict[tuple[int, Path, tuple[str, ...]], threading.Thread] = {}
compiled_early: dict[tuple[str, str, tuple[str, ...], bool], bytes] = {}
# Files with their macros that were loaded as drafts, and are compiled for speed by now.
finished: set[tuple[int, Path, tuple[str, ...]]] = set()
DRAFT = "--Ofast-compile=max"
_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def read_source(path: str | Path) -> str:
    """Text of a `.cu` file with each `#include "x.cuh"` replaced by that file's text.

    Parameters
    ----------
    path : str or Path
        The file; quoted includes are searched beside it, then beside this module.

    Returns
    -------
    str
        Each file is included once; `#line` directives keep compiler messages correct.
    """
    read: set[Path] = set()

    def expand(file: Path) -> list[str]:
        read.add(file)
        lines = [f'#line 1 "{file.name}"']
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            included = _INCLUDE.match(line)
            if not included:
                lines.append(line)
                continue
            target = (file.parent / included[1]).resolve()
            if not target.exists():
                target = _SHARED / included[1]
            if target not in read:
                lines += expand(target)
            lines.append(f'#line {number + 1} "{file.name}"')
        return lines

    return "\n".join(expand(Path(path).resolve())) + "\n"


def compile_kernels(
    source: str, architecture: str, defines: Sequence[str] = (), draft: bool = False
) -> tuple[bytes, str]:
    """Compile CUDA C++ with NVRTC; needs no GPU.

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
    draft : bool
        Compile fast instead of for speed; the kernels' results are the same.

    Returns
    -------
    binary : bytes
        Cubin or PTX.
    log : str
        Compiler warnings, and each kernel's registers, memory and spills.

    Raises
    ------
    DeviceError
        The source does not compile, or NVRTC knows no drafts; the message holds the compiler's log.
    """
    options = [
        f"-arch={architecture}",
        "-std=c++17",
        "--fmad=false",
        "--ftz=false",
        "--prec-div=true",
        "--prec-sqrt=true",
        "--ptxas-options=-v",
        *(f"-D{define}" for define in defines),
        *([DRAFT] if draft else []),
    ]
    kind = "CUBIN" if architecture.startswith("sm_") else "PTX"
    binary, log = nvrtc_library().compile(source, options, kind)
    if binary is None:
        raise DeviceError(f"a CUDA kernel does not compile for {architecture}:\n{log}")
    return binary, log


@functools.cache
def _load_module(ordinal: int, source: str, defines: tuple[str, ...], done: bool) -> Any:
    """The compiled source as a CuPy module on a device, which must be the current one.

    Unless `done`, a draft will do.
    """
    import cupy

    architecture = architecture_for(int(cupy.cuda.Device(ordinal).compute_capability))
    key = source, architecture, defines
    module = cupy.cuda.function.Module()
    draft = compiled_early.pop((*key, True), None)  # also where nobody has asked for it in time
    early = None if draft and not done else compiled_early.pop((*key, False), None)
    module.load(early or (None if done else draft) or compile_kernels(*key)[0])
    return module


def architecture_for(capability: int) -> str:
    """What to compile for a device of this compute capability, such as 90.

    Raises
    ------
    DeviceError
        NVRTC does not support it any more.
    """
    nvrtc = nvrtc_library()
    known = [number for number in nvrtc.architectures() if number <= capability]
    if not known:
        raise DeviceError(
            f"the GPU has compute capability {capability / 10}, which is older than NVRTC "
            f"{'.'.join(map(str, nvrtc.version()))} supports. Install cupy-cuda12x instead."
        )
    return f"sm_{capability}" if known[-1] == capability else f"compute_{known[-1]}"


def load_kernel(ordinal: int, path: str | Path, name: str, defines: tuple[str, ...]) -> Any:
    """A kernel of a file on a device, which must be the current one; compiled once.

    Where it was compiled as a draft, a later call gives the kernel that is compiled for speed.
    """
    if not isinstance(path, Path):  # which remembers its hash: a copy takes 10 us to look up
        path = Path(path)
    return _load_kernel(ordinal, path, name, defines, (ordinal, path, defines) in finished)


@functools.cache
def _load_kernel(ordinal: int, path: Path, name: str, defines: tuple[str, ...], done: bool) -> Any:
    early = compiling.get((ordinal, path, defines))
    if early is not None:
        early.join()
    return _load_module(ordinal, read_source(path), defines, done).get_function(name)
