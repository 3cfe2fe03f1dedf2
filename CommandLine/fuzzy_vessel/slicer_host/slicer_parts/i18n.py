"""Stand-in for Slicer's `slicer.i18n`: without the application nothing is translated."""


def tr(text):
    return text


def translate(_context, text):
    return text
