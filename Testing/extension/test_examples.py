"""The examples in docstrings run and give what they show."""

import doctest
import importlib
import re

import pytest

from support.places import ROOT

FOLDERS = (
    ROOT / "FuzzyVesselCore" / "FuzzyVesselCoreLib",
    ROOT / "FuzzyConnectedGPU" / "FuzzyConnectedGPULib",
    ROOT / "PotentialSkeleton" / "PotentialSkeletonLib",
)
# Need Slicer's application, or slicer-core; their examples are for Slicer's Python console.
NEED_SLICER = ("mrml", "widgets")
MODULES = sorted(
    path.relative_to(folder.parent).with_suffix("").as_posix().replace("/", ".")
    for folder in FOLDERS
    for path in folder.rglob("*.py")
    if re.search(r">>> (?!.*\+SKIP)", path.read_text(encoding="utf-8"))
    and path.parent.name not in NEED_SLICER
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    module = importlib.import_module(name.removesuffix(".__init__"))
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


def test_there_are_examples():
    assert len(MODULES) > 3
