"""The line that names the device in use, and the button that installs CuPy."""

import importlib
import sys

import qt
from slicer.i18n import tr as _

from ..gpu.device import CudaDevice, cuda_status, cupy_wheel, driver_version, forget_cuda_status

OLDEST_DRIVER = 12000  # CUDA 12.0: there is no wheel of CuPy for an older one


class DeviceLine:
    """Says which device "auto" means; looks for it when the panel is shown for the first time.

    Parameters
    ----------
    label : QLabel
    button : QPushButton
        Shown only where CuPy is missing and could be installed.
    requester : str
        The module's title, for the question before anything is installed.
    """

    def __init__(self, label, button, requester):
        self._label, self._button, self._requester = label, button, requester
        self._looked = self._left = False
        self._label.text = _("Looking for a graphics card ...")
        self._button.setVisible(False)
        self._button.connect("clicked()", self.install)

    def enter(self):
        """Look after the panel is on the screen: the first look loads CuPy, if it is there."""
        qt.QTimer.singleShot(0, self.look)

    def leave(self):
        """The widgets are about to end."""
        self._left = True

    def look(self):
        """Show what there is now."""
        if self._left:
            return
        text, reason = device_text()
        self._label.text, self._label.toolTip = text, reason
        self._button.setVisible(can_install())

    def install(self):
        """Install the wheel of CuPy for this driver, after asking, and try it."""
        import slicer.packaging

        with slicer.util.tryWithErrorDisplay(_("CuPy was not installed.")):
            requirement = f"{cupy_wheel()}[ctk]>=14,<15"
            slicer.packaging.pip_ensure(requirement, requester=self._requester)
        importlib.invalidate_caches()
        forget_cuda_status()
        self.look()


def device_text():
    """What the line says, and the whole reason where no card is used."""
    reason = cuda_status()
    if reason is None:
        try:
            device = CudaDevice(0)
            total = device.properties["totalGlobalMem"]
            text = _("GPU: {name}, {free:.1f} of {total:.1f} GB free").format(
                name=device.properties["name"].decode(),
                free=device.free_memory() / 1e9,
                total=total / 1e9,
            )
            return text, _("Results are the same on the CPU, only slower.")
        except Exception as error:  # the card was lost since the first look
            reason = str(error)
    if driver_version() is None and sys.platform != "darwin":
        short = _("there is no NVIDIA driver")
    else:
        short = reason.split(". ")[0].rstrip(".")
    return _("CPU: {reason}").format(reason=short), reason


def can_install():
    """Whether CuPy is missing and the driver is one that it can work with."""
    if sys.platform == "darwin" or (driver_version() or 0) < OLDEST_DRIVER:
        return False
    return importlib.util.find_spec("cupy") is None
