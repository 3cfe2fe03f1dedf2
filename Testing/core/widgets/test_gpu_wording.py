"""Why no GPU is used, in the panel's words."""

import ast

import pytest

from FuzzyVesselCoreLib.errors import NoCuda, NoCudaError
from support.places import ROOT

UNKNOWN = "the GPU does not answer"
FILE = ROOT / "FuzzyVesselCore" / "FuzzyVesselCoreLib" / "gpu" / "availability.py"


def kinds():
    """Every kind that the check of the GPU can report."""
    for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NoCuda":
            yield node.args[0].value


@pytest.fixture
def wording(slicer_scene):
    from FuzzyVesselCoreLib.widgets import wording

    return wording


def test_every_kind_has_plain_words(wording):
    found = [wording.short_reason(NoCuda(kind, "of the console")) for kind in kinds()]
    assert len(found) > 8
    assert not {"of the console", UNKNOWN} & set(found)


def test_of_what_is_not_known_no_more_is_said_than_that(wording):
    assert wording.short_reason("cudaErrorDevicesUnavailable: all are busy. Wait.") == UNKNOWN


def test_a_gpu_that_was_asked_for_and_is_not_there(wording):
    error = NoCudaError("cuda:3", NoCuda("no such device", "there is no cuda:3; pip install ..."))
    assert "pip" in str(error)
    text = wording.worded(error)
    assert text == "The GPU cannot be used: no NVIDIA GPU that can be used."
