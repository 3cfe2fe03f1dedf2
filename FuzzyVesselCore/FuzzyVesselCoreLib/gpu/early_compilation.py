"""Names that callers no longer need; kernels are compiled when they are first used."""

from typing import Any


def compile_early(ordinal: int, files: Any, drafts: Any = ()) -> None:
    """Do nothing."""


def open_early(ordinal: int) -> None:
    """Do nothing."""


def wait_for_drafts() -> None:
    """Do nothing."""
