"""Python packages that a run needs and Slicer does not bring, and the line about the GPU.

`../Resources/requirements.txt` names those of every run; CuPy, with what it needs of CUDA, comes
only at a person's wish.
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import qt
from slicer.i18n import tr as _

from ..gpu.device import CudaDevice, cuda_packages, cuda_status, driver_version, reset_cuda_status
from .wording import short_reason


class DeviceLine:
    """Says which device "auto" means; looks for it when the panel is shown for the first time.

    The button is shown only where installing CuPy would make a GPU usable; `requester` is the
    module's title, for the question before.
    """

    def __init__(self, label: Any, button: Any, requester: str) -> None:
        self._label, self._button, self._requester = label, button, requester
        self._left = False
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
        """Show the current state."""
        if not self._left:
            self._label.text, self._label.toolTip = device_text()
            self._button.setVisible(cupy_would_help())

    def install(self) -> None:
        """Install CuPy, after asking; a sentence says where that did not work."""
        said = install_missing(cuda_packages(), self._requester)
        reset_cuda_status()
        self.look()
        if said and not self._left:
            self._label.text = said  # until the next look


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


_TEXT = (Path(__file__).parents[1] / "Resources" / "requirements.txt").read_text(encoding="utf-8")
REQUIREMENTS = tuple(line for line in _TEXT.splitlines() if line and not line.startswith("#"))
MIN_DRIVER = 12000  # CUDA 12.0: there is no wheel of CuPy for an older one


def install_missing(requirements: Iterable[str], requester: str) -> str:
    """Install what is missing or of another version, after asking.

    `requester` is the module's title, for the question. Returns why something was not installed, as
    a sentence; empty where nothing is missing any more.
    """
    import slicer.packaging

    missing = [each for each in requirements if not slicer.packaging.pip_check(each)]
    if not missing:
        return ""
    names = ", ".join(re.split(r"[^\w.-]", each)[0] for each in missing)
    try:
        slicer.packaging.pip_ensure(missing, requester=requester)  # noqa: TID251
    except RuntimeError:  # how Slicer says "no"
        return _("{packages} was not installed.").format(packages=names)
    except Exception as error:  # pip's, of several kinds
        return _("{packages} could not be installed ({error}).").format(packages=names, error=error)
    importlib.invalidate_caches()
    return ""


def lacks_package(error: BaseException | None) -> bool:
    """Whether an error was caused by the absence of a package."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__
    return error is not None


def cupy_would_help() -> bool:
    """Whether installing CuPy would make a GPU usable: there is a driver for it, and no CuPy."""
    if sys.platform == "darwin" or (driver_version() or 0) < MIN_DRIVER:
        return False
    return importlib.util.find_spec("cupy") is None
