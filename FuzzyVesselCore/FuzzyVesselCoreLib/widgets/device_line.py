"""The line that names the device in use, and the button that installs CuPy."""

import sys
from typing import Any

import qt
from slicer.i18n import tr as _

from ..gpu.availability import cuda_status, driver_version
from ..gpu.device import CudaDevice
from . import packages
from .wording import short_reason


class DeviceLine:
    """Says which device "auto" means; looks for it when the panel is shown for the first time.

    The button is shown only where installing CuPy would make a GPU usable; `requester` is the
    module's title, for the question before.
    """

    def __init__(self, label: Any, button: Any, requester: str) -> None:
        self._label, self._button, self._requester = label, button, requester
        self._left = False
        self._found: tuple[str, str] | None = None
        self._label.text = _("Looking for a GPU ...")
        self._button.setVisible(False)
        self._button.connect("clicked()", self.install)

    def enter(self) -> None:
        """Look after the panel is on the screen: the first look loads CuPy, if it is there."""
        qt.QTimer.singleShot(0, self.look)

    def leave(self) -> None:
        """The widgets are about to end."""
        self._left = True

    def look(self) -> None:
        """Show what there is now."""
        if self._left:
            return
        found = device_text()
        if found == self._found:
            return  # as most runs leave it; to look at all packages takes a tenth of a second
        self._found = self._label.text, self._label.toolTip = found
        self._button.setVisible(packages.cupy_would_help())

    def install(self) -> None:
        """Install CuPy, after asking; a sentence says where that did not work."""
        said = packages.install_cupy(self._requester)
        self._found = None
        self.look()
        if said and not self._left:
            self._label.text, self._found = said, None  # until the next look


def device_text() -> tuple[str, str]:
    """Return what the line says, and the whole reason where no GPU is used."""
    reason: str | None = cuda_status()
    if reason is None:
        try:
            name = CudaDevice(0).properties["name"].decode()
            text = _("Computes on the GPU ({name})").format(name=name)
            return text, _("Results are the same on the CPU, only slower.")
        except Exception as error:  # the GPU was lost since the first look
            reason = str(error)
    if driver_version() is None and sys.platform != "darwin":
        short = _("no NVIDIA GPU")
    else:
        short = short_reason(reason)
    return _("Computes on the CPU: {reason}").format(reason=short), reason
