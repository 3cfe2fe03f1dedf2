"""NVIDIA's runtime compiler as a C library: CuPy, which takes longer to import, comes later."""

import ctypes
import functools
from typing import Any


class NvrtcError(Exception):
    """A call of the library failed; the message is the library's name for it."""


class NvrtcLibrary:
    """Functions of NVRTC, with bytes and str instead of pointers; any thread may call them.

    Other threads go on while it compiles (`ctypes`), and no call imports anything.

    Parameters
    ----------
    library : ctypes.CDLL
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _call(self, name: str, *arguments: Any) -> None:
        failed = getattr(self._library, name)(*arguments)
        if failed:
            raise NvrtcError(self._library.nvrtcGetErrorString(failed).decode())

    def version(self) -> tuple[int, int]:
        """Major and minor, such as (13, 0)."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def architectures(self) -> list[int]:
        """The compute capabilities that it compiles for, such as 90, rising."""
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return sorted(found)

    def compile(self, source: str, options: list[str], kind: str) -> tuple[bytes | None, str]:
        """Binary and log of a program.

        Parameters
        ----------
        source : str
        options : list of str
        kind : {"CUBIN", "PTX"}

        Returns
        -------
        binary : bytes or None
            None where it does not compile.
        log : str
        """
        program = ctypes.c_void_p()
        text, name = source.encode(), b"kernels.cu"
        self._call("nvrtcCreateProgram", ctypes.byref(program), text, name, 0, None, None)
        try:
            given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            failed = self._library.nvrtcCompileProgram(program, len(options), given)
            log = self._text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            return None if failed else self._text(program, kind), log
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, kind: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{kind}", program, text)
        return text.raw


@functools.cache
def nvrtc_library() -> NvrtcLibrary:
    """The library that CuPy uses, found as CuPy finds it.

    Raises
    ------
    ImportError
        CuPy is not installed.
    RuntimeError
        The library is not there (of `cuda.pathfinder`).
    """
    from cuda import pathfinder

    path = pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path
    return NvrtcLibrary(ctypes.CDLL(path))
