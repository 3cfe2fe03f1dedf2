"""Which Python packages the modules installed, so that they can be removed again.

The names are kept in the user's settings: packages outlive the scene and the session. What was
there before, and what was only updated, is not among them.
"""

import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import slicer
from slicer.i18n import tr as _

KEY = "FuzzyVesselGPU/InstalledPackages"


@contextmanager
def remembered() -> Iterator[None]:
    """Remember what is installed in the block, with the packages that pip brings along."""
    before = _present()
    try:
        yield
    finally:
        _store({*_stored(), *(_present() - before)})


def installed_by_us() -> list[str]:
    """Names of the packages that the modules installed and that are still there, sorted."""
    return sorted(name for name in _stored() if _is_present(name))


def needed_by_others(names: Iterable[str]) -> list[str]:
    """Those of some packages that a package needs which is not among them; sorted."""
    names = set(names)
    needs = _needs()
    kept: set[str] = set()
    while True:
        more = {
            need
            for name, needed in needs.items()
            if name not in names or name in kept
            for need in needed
            if need in names
        }
        if more <= kept:
            return sorted(kept)
        kept |= more


def remove(requester: str) -> str:
    """Remove what the modules installed and nobody else needs, after asking.

    Parameters
    ----------
    requester : str
        The module's title, for the question.

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
    error = None
    try:
        slicer.packaging.pip_uninstall(wanted)
    except Exception as reason:  # pip's, of several kinds
        error = reason
    left = [name for name in wanted if name in _present()]
    _store(_stored() & _present())
    if left or error:
        return _(
            "{packages} could not be removed ({error}). Restart Slicer and remove them before "
            "anything is run."
        ).format(packages=", ".join(left or wanted), error=error or _("still installed"))
    return _("Removed: {packages}. Restart Slicer.").format(packages=", ".join(wanted))


def _present() -> set[str]:
    """Names of all installed packages, spelled as pip compares them."""
    return {_plain(each.metadata["Name"] or "") for each in importlib.metadata.distributions()}


def _is_present(name: str) -> bool:
    """Whether a package is installed, without a look into all others: panels ask as they open."""
    found = importlib.metadata.distributions(name=name)
    return any(_plain(each.metadata["Name"] or "") == name for each in found)


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


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _stored() -> set[str]:
    text = str(slicer.app.userSettings().value(KEY) or "")
    return {name for name in text.split(";") if name}


def _store(names: Iterable[str]) -> None:
    slicer.app.userSettings().setValue(KEY, ";".join(sorted(names)))
