"""Install service: Python packages that a run needs and Slicer does not bring."""

import importlib
import importlib.metadata
import sys

from slicer.i18n import tr as _

from ..gpu.availability import cuda_status, cupy_wheel, driver_version, reset_cuda_status
from .installed_packages import remembered

NUMBA = "numba>=0.61,<1"
# Import name -> requirement, of packages whose absence a run can end with.
REQUIREMENTS = {"numba": NUMBA}
MIN_DRIVER = 12000  # CUDA 12.0: there is no wheel of CuPy for an older one


def install_missing(requirements: tuple[str, ...], requester: str) -> str:
    """Install what is missing or of another version, after asking.

    Parameters
    ----------
    requirements : tuple of str
        As pip takes them.
    requester : str
        The module's title, for the question.

    Returns
    -------
    str
        Why something was not installed, as a sentence; empty where nothing is missing any more.
    """
    if not requirements:
        return ""
    import slicer.packaging

    missing = [each for each in requirements if not slicer.packaging.pip_check(each)]
    if not missing:
        return ""
    try:
        with remembered():
            slicer.packaging.pip_ensure(missing, requester=requester)
    except RuntimeError:  # how Slicer says "no"
        return _("{packages} was not installed.").format(packages=_names(missing))
    except Exception as error:  # pip's, of several kinds
        return _("{packages} could not be installed ({error}).").format(
            packages=_names(missing), error=error
        )
    importlib.invalidate_caches()
    return ""


def requirement_behind(error: BaseException | None) -> str:
    """Return the requirement whose absence caused an error; an empty text for other errors."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name in REQUIREMENTS:
            return REQUIREMENTS[error.name]
        error = error.__cause__
    return ""


def cupy_requirement() -> str:
    """Return the requirement of the CuPy that suits this computer's NVIDIA driver."""
    return f"{cupy_wheel()}[ctk]>=14,<15"


def cupy_remedy() -> str:
    """Return what would make the GPU usable: "install", "repair", or an empty text for nothing.

    A repair replaces an installed CuPy that cannot be imported, is for another driver, too old, or
    lacks the compiler of kernels. No other fault of a GPU is cured by it.
    """
    if sys.platform == "darwin" or (driver_version() or 0) < MIN_DRIVER:
        return ""
    if cuda_status() is None:
        return ""  # known at once; a look at all installed packages takes a tenth of a second
    if not installed_cupy():
        return "install"
    return "repair" if _cupy_is_wrong() else ""


def _cupy_is_wrong() -> bool:
    import slicer.packaging

    try:
        importlib.import_module("cupy")
    except ImportError:
        return True
    return len(installed_cupy()) > 1 or not slicer.packaging.pip_check(cupy_requirement())


def installed_cupy() -> list[str]:
    """Return the names of the installed distributions of CuPy: cupy, cupy-cuda12x, ..."""
    names = (each.metadata["Name"] or "" for each in importlib.metadata.distributions())
    return sorted({name for name in names if name == "cupy" or name.startswith("cupy-cuda")})


def install_cupy(requester: str) -> str:
    """Install CuPy, after asking; returns as `install_missing`."""
    said = install_missing((cupy_requirement(),), requester)
    reset_cuda_status()
    return said


def repair_cupy(requester: str, reason: str) -> str:
    """Replace the installed CuPy by the one for this driver, after asking.

    Returns
    -------
    str
        A sentence: why it was not replaced, or that Slicer must be restarted; empty after "no".
    """
    import slicer.packaging

    requirement = cupy_requirement()
    question = _(
        "CuPy, the package that runs on NVIDIA GPUs, does not work: {reason}\n\n"
        "Remove {old} and install {new}? Slicer must be restarted afterwards."
    ).format(reason=reason, old=", ".join(installed_cupy()), new=requirement)
    if not slicer.util.confirmOkCancelDisplay(question, windowTitle=requester):
        return ""
    try:
        slicer.packaging.pip_uninstall(installed_cupy())
        with remembered():
            slicer.packaging.pip_install([requirement], requester=requester)
    except Exception as error:  # pip's, of several kinds
        return _("CuPy could not be replaced ({error}).").format(error=error)
    reset_cuda_status()
    return _("CuPy was replaced. Restart Slicer to use the GPU.")


def _names(requirements: list[str]) -> str:
    """Return the packages' names without versions."""
    return ", ".join(each.split(">")[0].split("[")[0] for each in requirements)
