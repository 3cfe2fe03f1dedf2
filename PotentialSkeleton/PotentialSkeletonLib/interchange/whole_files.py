"""Files that are there as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path


@contextmanager
def whole_file(path: str | PathLike) -> Iterator[Path]:
    """Context manager: write to the path that it gives; at the end the file takes its place.

    If the block ends with an exception, nothing of it is left, and an earlier file stays.

    Parameters
    ----------
    path : str or Path

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with whole_file(Path(folder.name) / "names.txt") as partial:
    ...     _ = partial.write_text("aorta")
    >>> [entry.name for entry in Path(folder.name).iterdir()]
    ['names.txt']
    """
    path = Path(path)
    partial = path.with_name(f".{path.stem}-partial-{os.getpid()}{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_text(text: str, path: str | PathLike) -> None:
    """Write text as UTF-8 with plain line ends, as a whole or not at all."""
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
