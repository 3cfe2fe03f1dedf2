"""The terminology entry of a vtkSegment."""

from typing import Any

from .entries import entry_of, kind_named


def set_entry(segment: Any, kind: str) -> None:
    """Say of a segment what it is, whatever it said before.

    Parameters
    ----------
    segment : vtkSegment
    kind : str
        One of `KINDS`.

    Raises
    ------
    InputError
        There is no such kind; the segment stays as it is.
    """
    segment.SetTerminology(entry_of(kind))


def set_default_entry(segment: Any) -> None:
    """Say what a segment is by its name, unless somebody has said it."""
    if not has_own_entry(segment):
        set_entry(segment, kind_named(segment.GetName() or ""))


def has_own_entry(segment: Any) -> bool:
    """Whether a segment has another entry than Slicer's of every new segment (Tissue)."""
    import slicer

    entry = segment.GetTerminology()
    return bool(entry) and entry != slicer.vtkSegment().GetTerminology()
