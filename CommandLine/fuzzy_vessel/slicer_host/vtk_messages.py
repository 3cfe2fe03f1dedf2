"""Collects what VTK, ITK and MRML say, so that it can be shown to the user in few words."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator

# VTK begins a message with where it comes from, and names the object by its address.
_ORIGIN = re.compile(r"^(ERROR|Warning|Generic Warning): In \S+, line \d+\s*")
_OBJECT = re.compile(r"^\w+ \((0x)?[0-9a-fA-F]+\): ")
_ADDRESS = re.compile(r" \((0x)?[0-9a-fA-F]{8,}\)")


@contextlib.contextmanager
def vtk_messages() -> Iterator[list[str]]:
    """Keep the console quiet in the block and collect the warnings and errors.

    Yields
    ------
    list of str
        One text for each message, without addresses and source lines. VTK's and MRML's arrive at
        once; what libraries below them (MetaIO, NIfTI, ...) write to the process's standard error
        arrives at the end of the block. Python's own `sys.stderr` still reaches the terminal.
    """
    import vtk

    messages = []

    @vtk.calldata_type(vtk.VTK_STRING)
    def collect(_caller, _event, text):
        messages.append(_plain(text))

    window = vtk.vtkOutputWindow.GetInstance()
    tags = [window.AddObserver(event, collect) for event in ("ErrorEvent", "WarningEvent")]
    verbosity = vtk.vtkLogger.GetCurrentVerbosityCutoff()
    mode = window.GetDisplayMode()
    vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_OFF)
    window.SetDisplayModeToNever()
    try:
        with _standard_error_lines(messages):
            yield messages
    finally:
        window.SetDisplayMode(mode)
        vtk.vtkLogger.SetStderrVerbosity(verbosity)
        for tag in tags:
            window.RemoveObserver(tag)


def _plain(text):
    """Return the message without its origin and without addresses."""
    return _ADDRESS.sub("", _OBJECT.sub("", _ORIGIN.sub("", text.strip()))).strip()


@contextlib.contextmanager
def _standard_error_lines(lines):
    """Append what C and C++ code writes to file descriptor 2 to `lines`, when the block ends."""
    try:
        terminal = os.dup(2)
    except OSError:  # no standard error at all, as under pythonw
        yield
        return
    python_stderr = sys.stderr
    with tempfile.TemporaryFile() as caught, os.fdopen(terminal, "w", buffering=1) as kept:
        if _writes_to_descriptor_2(python_stderr):
            python_stderr.flush()
            sys.stderr = kept
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept.fileno(), 2)
            sys.stderr = python_stderr
            caught.seek(0)
            text = caught.read().decode(errors="replace")
            lines.extend(line.strip() for line in text.splitlines() if line.strip())


def _writes_to_descriptor_2(stream):
    try:
        return stream.fileno() == 2
    except (AttributeError, OSError, ValueError):
        return False
