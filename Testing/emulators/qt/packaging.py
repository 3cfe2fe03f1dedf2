"""Stand-in for `slicer.packaging`: it checks versions, and never installs anything."""

import importlib.metadata

from packaging.requirements import Requirement


def pip_check(requirements):
    """Whether these are installed in the versions that were asked for, without extras."""
    requirements = [requirements] if isinstance(requirements, str) else requirements
    return all(_satisfied(Requirement(each)) for each in requirements)


def _satisfied(requirement):
    try:
        return importlib.metadata.version(requirement.name) in requirement.specifier
    except importlib.metadata.PackageNotFoundError:
        return False


def pip_ensure(requirements, requester=None):
    """As Slicer under test: nothing is asked for, nothing is installed."""
