"""Centrelines of a labelmap on the MRML scene (private to the command line).

`extraction` (file to labelmap node, labelmap to `Outcome`), `files` (picture and files), `labels`
(a tree for each label), `summary` (what the user reads), `centreline_distance` (error against a
phantom's known centrelines).
"""

from .extraction import Outcome, extract, read_input
from .files import focus, write
from .labels import read_labels, write_labels
from .summary import computed, summary

__all__ = [
    "Outcome",
    "computed",
    "extract",
    "focus",
    "read_input",
    "read_labels",
    "summary",
    "write",
    "write_labels",
]
