"""Stand-in for Slicer's `slicer.i18n`: without the application nothing is translated."""


def tr(text: str) -> str:
    return text


def translate(_context: str, text: str) -> str:
    return text
