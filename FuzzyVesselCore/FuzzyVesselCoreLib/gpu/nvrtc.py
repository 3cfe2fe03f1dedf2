"""From `.cu` files to kernels on a card.

They are compiled here by NVRTC and not by `cupy.RawModule`, because CuPy adds `-ftz=true` to its
own options: subnormal numbers would become zero on the card and a result would no longer equal the
CPU's bit for bit. From CUDA 12.9 on NVRTC keeps what it compiled, so that later processes find it.
"""

import functools
import re
from pathlib import Path

from ..errors import DeviceError

_SHARED = Path(__file__).resolve().parent
_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def read_source(path):
    """Text of a `.cu` file in which each `#include "x.cuh"` is replaced by that file's text.

    Parameters
    ----------
    path : str or Path
        The file; what it includes in quotes is looked for beside it, then beside this module.

    Returns
    -------
    str
        Each included file stands in the text once; `#line` keeps a compiler's messages true.
    """
    read = set()

    def expand(file):
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


def compile_kernels(source, architecture, defines=()):
    """Compile CUDA C++ with NVRTC; no GPU is needed for it.

    Every product and sum is rounded as IEEE 754 says (no fused multiply-add, subnormals kept,
    correctly rounded division and square root), so that results equal the CPU's bit for bit.

    Parameters
    ----------
    source : str
        What `read_source` returned.
    architecture : str
        "sm_90" for a card's own code, "compute_90" for PTX, which the driver translates.
    defines : sequence of str
        Macros such as "VOXEL=short".

    Returns
    -------
    binary : bytes
        Cubin or PTX.
    log : str
        The compiler's warnings, and each kernel's registers, memory and spills.

    Raises
    ------
    DeviceError
        The source does not compile; the message holds the compiler's own.
    """
    from cupy.cuda import nvrtc

    options = [
        f"-arch={architecture}",
        "-std=c++17",
        "--fmad=false",
        "--ftz=false",
        "--prec-div=true",
        "--prec-sqrt=true",
        "--ptxas-options=-v",
        *(f"-D{define}" for define in defines),
    ]
    program = nvrtc.createProgram(source, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, options)
        own_code = architecture.startswith("sm_")
        binary = nvrtc.getCUBIN(program) if own_code else nvrtc.getPTX(program)
        return binary, nvrtc.getProgramLog(program).rstrip("\0")
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program).rstrip("\0")
        raise DeviceError(f"a CUDA kernel does not compile for {architecture}:\n{log}") from error
    finally:
        nvrtc.destroyProgram(program)


@functools.cache
def _load_module(ordinal, source, defines):
    """CuPy's module of the compiled source on one device, which must be the current one."""
    import cupy
    from cupy.cuda import nvrtc

    capability = int(cupy.cuda.Device(ordinal).compute_capability)
    known = [number for number in nvrtc.getSupportedArchs() if number <= capability]
    if not known:
        raise DeviceError(
            f"cuda:{ordinal} has compute capability {capability / 10}, which is older than NVRTC "
            f"{'.'.join(map(str, nvrtc.getVersion()))} supports. Install cupy-cuda12x instead."
        )
    own_code = known[-1] == capability
    architecture = f"sm_{capability}" if own_code else f"compute_{known[-1]}"
    module = cupy.cuda.function.Module()
    module.load(compile_kernels(source, architecture, defines)[0])
    return module


@functools.cache
def load_kernel(ordinal, path, name, defines):
    """A kernel of a file on one device, which must be the current one; compiled once."""
    return _load_module(ordinal, read_source(path), defines).get_function(name)
