"""Python packages that a run needs and Slicer does not bring: installed, replaced and removed.

`../Resources/requirements.txt` names those of every run; CuPy, with what it needs of CUDA, comes
only at a person's wish. What was installed is kept in the user's settings, so that it can be
removed again: packages outlive the scene and the session.
"""

import importlib
import importlib.metadata
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from ..gpu.availability import cuda_status, cupy_wheel, driver_version, reset_cuda_status

_TEXT = (Path(__file__).parents[1] / "Resources" / "requirements.txt").read_text(encoding="utf-8")
REQUIREMENTS = tuple(line for line in _TEXT.splitlines() if line and not line.startswith("#"))
IMPORTED_AS = {"connected-components-3d": "cc3d", "scikit-image": "skimage"}  # others: their name
MIN_DRIVER = 12000  # CUDA 12.0: there is no wheel of CuPy for an older one
KEY = "FuzzyVesselGPU/InstalledPackages"  # of the user's settings


def install_missing(requirements: Iterable[str], requester: str) -> str:
    """Install what is missing or of another version, after asking.

    Parameters
    ----------
    requirements : iterable of str
        As pip takes them.
    requester : str
        The module's title, for the question.

    Returns
    -------
    str
        Why something was not installed, as a sentence; empty where nothing is missing any more.
    """
    import slicer.packaging

    missing = [each for each in requirements if not slicer.packaging.pip_check(each)]
    if not missing:
        return ""
    names = ", ".join(map(_name_in, missing))
    try:
        with _remembered():
            slicer.packaging.pip_ensure(missing, requester=requester)
    except RuntimeError:  # how Slicer says "no"
        return _("{packages} was not installed.").format(packages=names)
    except Exception as error:  # pip's, of several kinds
        return _("{packages} could not be installed ({error}).").format(packages=names, error=error)
    importlib.invalidate_caches()
    return ""


def requirement_behind(error: BaseException | None) -> str:
    """Return the requirement whose absence caused an error; an empty text for other errors."""
    known = {IMPORTED_AS.get(_name_in(each), _name_in(each)): each for each in REQUIREMENTS}
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name in known:
            return known[error.name]
        error = error.__cause__
    return ""


def cupy_requirement() -> str:
    """Return the requirement of the CuPy that suits this computer's NVIDIA driver."""
    return f"{cupy_wheel()}[ctk]>=14,<15"


def cuda_requirements() -> tuple[str, ...]:
    """Return all that a GPU needs: CuPy, and NVIDIA's compiler and launcher of kernels."""
    version = re.sub(r"\D", "", cupy_wheel())
    return (cupy_requirement(), "cuda-core>=1.2,<2", f"cuda-bindings=={version}.*")


def cupy_remedy() -> str:
    """Return what would make the GPU usable: "install", "repair", or an empty text for nothing.

    A repair replaces an installed CuPy that cannot be imported, is for another driver, too old, or
    lacks the compiler of kernels. No other fault of a GPU is cured by it.
    """
    if sys.platform == "darwin" or (driver_version() or 0) < MIN_DRIVER or cuda_status() is None:
        return ""
    import slicer.packaging

    installed = installed_cupy()
    if not installed:
        return "install"
    try:
        importlib.import_module("cupy")
    except ImportError:
        return "repair"
    fits = len(installed) == 1 and all(map(slicer.packaging.pip_check, cuda_requirements()))
    return "" if fits else "repair"


def installed_cupy() -> list[str]:
    """Return the names of the installed distributions of CuPy: cupy, cupy-cuda12x, ..."""
    return sorted(name for name in _present() if name == "cupy" or name.startswith("cupy-cuda"))


def install_cupy(requester: str) -> str:
    """Install what a GPU needs, after asking; returns as `install_missing`."""
    said = install_missing(cuda_requirements(), requester)
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

    question = _(
        "CuPy, the package that runs on NVIDIA GPUs, does not work: {reason}\n\n"
        "Remove {old} and install {new}? Slicer must be restarted afterwards."
    ).format(reason=reason, old=", ".join(installed_cupy()), new=cupy_requirement())
    if not slicer.util.confirmOkCancelDisplay(question, windowTitle=requester):
        return ""
    try:
        slicer.packaging.pip_uninstall(installed_cupy())
        with _remembered():
            slicer.packaging.pip_install(list(cuda_requirements()), requester=requester)
    except Exception as error:  # pip's, of several kinds
        return _("CuPy could not be replaced ({error}).").format(error=error)
    reset_cuda_status()
    return _("CuPy was replaced. Restart Slicer to use the GPU.")


# --- removal


def installed_by_us() -> list[str]:
    """Names of the packages that the modules installed and that are still there, sorted."""
    stored = _stored()  # panels ask as they open: without any, no package is looked at
    return sorted(stored & _present()) if stored else []


def needed_by_others(names: Iterable[str]) -> list[str]:
    """Those of some packages that a package needs which is not among them; sorted."""
    names, needs = set(names), _needs()
    kept: set[str] = set()
    while True:
        users = [needed for name, needed in needs.items() if name not in names or name in kept]
        more = names.intersection(*[set().union(*users)])
        if more <= kept:
            return sorted(kept)
        kept |= more


def remove(requester: str) -> str:
    """Remove what the modules installed and nobody else needs, after asking.

    Returns
    -------
    str
        What happened, as a sentence; empty after "no".
    """
    import slicer.packaging

    ours = installed_by_us()
    kept = needed_by_others(ours)
    wanted = [name for name in ours if name not in kept]
    if not wanted:
        return _("There is nothing to remove: other packages need {packages}.").format(
            packages=", ".join(kept)
        )
    question = _(
        "Remove the Python packages that these modules installed?\n\n{packages}\n\n"
        "The modules ask before they install them again. Restart Slicer afterwards."
    ).format(packages=", ".join(wanted))
    if kept:
        question += "\n\n" + _("These stay, as other packages need them: {packages}.").format(
            packages=", ".join(kept)
        )
    if not slicer.util.confirmOkCancelDisplay(question, windowTitle=requester):
        return ""
    reason: Any = _("still installed")
    try:
        slicer.packaging.pip_uninstall(wanted)
    except Exception as error:  # pip's, of several kinds
        reason = error
    left = [name for name in wanted if name in _present()]
    _store(_stored() & _present())
    if left:
        return _(
            "{packages} could not be removed ({error}). Restart Slicer and remove them before "
            "anything is run."
        ).format(packages=", ".join(left), error=reason)
    return _("Removed: {packages}. Restart Slicer.").format(packages=", ".join(wanted))


class RemovalButton:
    """The button for `remove`, in a section *Advanced*; hidden while there is nothing to remove.

    Parameters
    ----------
    section : ctkCollapsibleButton
    requester : str
        The module's title, for the question.
    say : callable
        Shows a sentence.
    busy : callable
        Why no package may be removed now; an empty text where it may.
    """

    def __init__(
        self, section: Any, requester: str, say: Callable[[str], None], busy: Callable[[], str]
    ) -> None:
        self._requester, self._say, self._busy = requester, say, busy
        self.button = qt.QPushButton(_("Remove installed packages ..."))
        self.button.toolTip = _("Removes the Python packages that these modules installed.")
        section.layout().addWidget(self.button)
        self.button.connect("clicked()", self.remove)
        section.connect("contentsCollapsed(bool)", lambda _collapsed: self.show())
        self.show()

    def show(self) -> None:
        """Show the button where there is something to remove."""
        self.button.setVisible(bool(installed_by_us()))

    def remove(self) -> None:
        """Remove the packages, after asking."""
        said = self._busy() or remove(self._requester)
        self.show()
        if said:
            self._say(said)


@contextmanager
def _remembered() -> Iterator[None]:
    """Remember what is installed in the block, with the packages that pip brings along."""
    before = _present()
    try:
        yield
    finally:
        _store(_stored() | (_present() - before))


def _present() -> set[str]:
    """Names of all installed packages, spelled as pip compares them."""
    return {_plain(each.metadata["Name"] or "") for each in importlib.metadata.distributions()}


def _needs() -> dict[str, set[str]]:
    """What each installed package needs, without its extras."""
    from packaging.requirements import InvalidRequirement, Requirement

    found: dict[str, set[str]] = {}
    for each in importlib.metadata.distributions():
        needed = found.setdefault(_plain(each.metadata["Name"] or ""), set())
        for text in each.requires or ():
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed.add(_plain(requirement.name))
    return found


def _name_in(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _stored() -> set[str]:
    text = str(slicer.app.userSettings().value(KEY) or "")
    return {name for name in text.split(";") if name}


def _store(names: Iterable[str]) -> None:
    slicer.app.userSettings().setValue(KEY, ";".join(sorted(names)))
