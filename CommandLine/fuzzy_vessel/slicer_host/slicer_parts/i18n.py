"""Stand-in for Slicer's `slicer.i18n`: without the application nothing is translated."""

from pathlib import Path


def tr(text: str) -> str:
    return text


def translate(_context: str, text: str) -> str:
    return text


def getContext(sourceFile: str) -> str:
    """The name under which translators find the texts of a file, as Slicer makes it."""
    path = Path(sourceFile)
    package = f"{path.parent.name}." if (path.parent / "__init__.py").is_file() else ""
    return package + path.stem
