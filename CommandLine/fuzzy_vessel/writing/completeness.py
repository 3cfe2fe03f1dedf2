"""Whether a file was written to its end."""

import json
import shutil
import zipfile
from pathlib import Path

from ..reading import formats


def is_whole(path: Path) -> bool:
    """Whether a file was written to its end: a full disk does not always show as an error."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    try:
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".mrb":
            with zipfile.ZipFile(path) as bundle:
                return bundle.testzip() is None
        elif path.suffix == ".vtp":
            return path.read_bytes()[-64:].rstrip().endswith(b"</VTKFile>")
        else:
            return formats.read_header(path).missing_bytes() == 0
    except (ValueError, zipfile.BadZipFile):
        return False
    return True


def not_written(path: Path) -> OSError:
    """Return the error of a file that could not be written, with the reason if it is known."""
    free = shutil.disk_usage(path.parent).free
    reason = f"{path.name} could not be written"
    if free < 1 << 20:
        reason += " (the disk is full)"
    return OSError(reason)
