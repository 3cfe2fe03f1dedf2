"""Segmentation of a volume on the MRML scene (private to the command line).

`inputs` (files or phantom to nodes), `segmentation` (nodes to `Outcome`), `files` (picture and
files), `summary` (what the user reads).
"""

from .files import focus, write, write_phantom
from .inputs import Inputs, phantom_inputs, read_inputs
from .segmentation import CLEAR, Outcome, dice, segment
from .summary import computed, size_text, summary

__all__ = [
    "CLEAR",
    "Inputs",
    "Outcome",
    "computed",
    "dice",
    "focus",
    "phantom_inputs",
    "read_inputs",
    "segment",
    "size_text",
    "summary",
    "write",
    "write_phantom",
]
