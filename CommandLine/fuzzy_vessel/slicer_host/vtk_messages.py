"""Collects what VTK, ITK and MRML say, so that it can be shown to the user in few words."""

import contextlib
import re
from collections.abc import Iterator

# VTK begins a message with where it comes from, and names the object by its address.
_NOISE = re.compile(
    r"^(ERROR|Warning|Generic Warning): In \S+, line \d+\s*"
    r"|^\w+ \((0x)?[0-9a-fA-F]+\): | \((0x)?[0-9a-fA-F]{8,}\)",
    re.MULTILINE,
)


@contextlib.contextmanager
def vtk_messages() -> Iterator[list[str]]:
    """Keep VTK's messages off the console in the block and collect them.

    What other native libraries write to the process's standard error goes there at once, so that
    their last words are not lost when one of them ends the process.

    Yields
    ------
    list of str
        One text for each warning and error, without addresses and source lines.
    """
    import vtk

    messages = []

    @vtk.calldata_type(vtk.VTK_STRING)
    def collect(_caller, _event, text):
        messages.append(_NOISE.sub("", text.strip()).strip())

    window = vtk.vtkOutputWindow.GetInstance()
    tags = [window.AddObserver(event, collect) for event in ("ErrorEvent", "WarningEvent")]
    verbosity, mode = vtk.vtkLogger.GetCurrentVerbosityCutoff(), window.GetDisplayMode()
    vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_OFF)
    window.SetDisplayModeToNever()
    try:
        yield messages
    finally:
        window.SetDisplayMode(mode)
        vtk.vtkLogger.SetStderrVerbosity(verbosity)
        for tag in tags:
            window.RemoveObserver(tag)
