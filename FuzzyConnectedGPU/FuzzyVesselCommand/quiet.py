"""Keeps what ITK and VTK print to themselves away from the user."""

import contextlib
import os
import sys
import tempfile


@contextlib.contextmanager
def quiet():
    """Send what native libraries write to the standard streams to nowhere, within the block.

    ITK, NIfTI and MetaImage write to the file descriptors 1 and 2, past Python. Errors are raised
    by this program in its own words, so nothing is lost.
    """
    import vtkmodules.vtkCommonCore as core

    shown = core.vtkObject.GetGlobalWarningDisplay()
    core.vtkObject.GlobalWarningDisplayOff()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as sink, contextlib.ExitStack() as streams:
        for descriptor in (1, 2):
            streams.enter_context(_redirected(descriptor, sink.fileno()))
        try:
            yield
        finally:
            core.vtkObject.SetGlobalWarningDisplay(shown)


@contextlib.contextmanager
def _redirected(descriptor, target):
    kept = os.dup(descriptor)
    os.dup2(target, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
