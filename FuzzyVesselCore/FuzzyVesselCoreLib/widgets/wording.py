"""What a panel says of an error or note that comes from below: the clinic's words, translated.

The library's texts are for the console and the command line. Where an error has fields, the panel
makes a sentence of its own from them; other texts are written for a person already.
"""

from typing import Any

from slicer.i18n import tr as _

from ..errors import (
    Cancelled,
    CpuUsedNote,
    DeviceError,
    DeviceMemoryError,
    InputRemoved,
    NoCudaError,
    PackageMissing,
)


def common_sentence(said: Any) -> str:
    """Return a sentence for an error, or for a note, that both modules know."""
    if isinstance(said, InputRemoved):
        text = _("Cancelled: {name} was removed; nothing was changed.")
        return text.format(name=said.name)
    if type(said) is Cancelled:
        return _("Cancelled; nothing was changed.")
    if isinstance(said, DeviceMemoryError):
        return _(
            "The GPU has too little memory for this volume: close other programs, search in a "
            "smaller region, or choose the CPU as device."
        )
    if isinstance(said, NoCudaError):
        return _("The GPU cannot be used: {reason}").format(reason=short_reason(said.reason)) + "."
    if isinstance(said, DeviceError) and not isinstance(said, PackageMissing):
        return _("The GPU cannot be used: {reason}").format(reason=said)
    if isinstance(said, CpuUsedNote):
        return _("It ran on the CPU. {reason}").format(reason=common_sentence(said.reason))
    return str(said)


def short_reason(reason: str) -> str:
    """The first sentence of why no GPU is used; the rest is how to fix it."""
    return reason.split(". ")[0].rstrip(".")
