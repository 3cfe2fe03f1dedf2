"""Scenes in one file (.mrb): checked before Slicer's library unpacks them.

That library writes each part where the file says, also outside of the folder that it was given
(`../`, absolute paths, links), and takes other kinds of archives for bundles, too.
"""

import contextlib
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from FuzzyVesselCoreLib.errors import InputError

MAX_PARTS = 10_000
MAX_NAME = 200
CHUNK = 1 << 20
# What zipfile raises for damaged archives of one kind or another.
DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError)
# Of the type of a file in its Unix mode: links and devices have no place in a bundle.
TYPE_MASK, REGULAR, FOLDER, UNKNOWN = 0o170000, 0o100000, 0o040000, 0


@contextlib.contextmanager
def checked_bundle(path: str | Path) -> Iterator[Path]:
    """Make a copy of a bundle that holds nothing but files within it.

    Parameters
    ----------
    path : str or Path
        The .mrb file.

    Yields
    ------
    Path
        Of the copy, which has the same name; it goes away with the block.

    Raises
    ------
    InputError
        It is no bundle, is damaged, has a part that would lie elsewhere, or does not fit the disk.
    """
    path = Path(path)
    with tempfile.TemporaryDirectory(prefix="fuzzy-vessel-") as folder:
        copy = Path(folder) / path.name
        try:
            with zipfile.ZipFile(path) as bundle:
                _check_parts(path, bundle.infolist(), shutil.disk_usage(folder).free)
                _copy(bundle, copy)
        except OSError as error:
            raise InputError(
                f"{path}: the scene cannot be read: {error.strerror or error}."
            ) from error
        except InputError:
            raise
        except DAMAGED as error:
            raise InputError(f"{path}: this is no scene in one file, or it is damaged.") from error
        yield copy


def _check_parts(path, parts, free):
    """Refuse names that lead elsewhere, links, and more than the disk can hold twice."""
    if len(parts) > MAX_PARTS:
        raise InputError(
            f"{path}: the scene has {len(parts):,} parts, at most {MAX_PARTS:,} are read."
        )
    for part in parts:
        name = PurePosixPath(part.filename)
        steps = name.parts
        kind = part.external_attr >> 16 & TYPE_MASK if part.create_system == 3 else UNKNOWN
        if (
            name.is_absolute()
            or ".." in steps
            or "\\" in part.filename
            or ":" in part.filename
            or not part.filename.isprintable()
            or max(map(len, steps), default=0) > MAX_NAME
            or kind not in (REGULAR, FOLDER, UNKNOWN)
        ):
            raise InputError(
                f"{path}: the scene was not loaded: its part {part.filename[:80]!r} would lie "
                "outside of it. Ask where the file comes from."
            )
    size = sum(part.file_size for part in parts)
    if 2 * size > free:
        raise InputError(
            f"{path}: unpacked, the scene has {size / 2**20:,.0f} MiB, and {free / 2**20:,.0f} MiB "
            "are free on the disk for temporary files."
        )


def _copy(bundle, copy):
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED, strict_timestamps=False) as target:
        for part in bundle.infolist():
            if part.is_dir():
                continue
            # No more is unpacked than the part's entry declares: zipfile stops there.
            with (
                bundle.open(part) as source,
                target.open(part.filename, "w", force_zip64=True) as to,
            ):
                shutil.copyfileobj(source, to, CHUNK)
