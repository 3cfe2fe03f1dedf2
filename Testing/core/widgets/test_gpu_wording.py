"""Why no GPU is used, in the panel's words."""

import ast

import pytest

from FuzzyVesselCoreLib.errors import NoCuda, NoCudaError
from support.places import ROOT

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


def test_every_kind_has_words_of_its_own(wording):
    found = [wording.short_reason(NoCuda(kind, "of the console")) for kind in kinds()]
    assert len(set(found)) == len(found) > 8
    assert "of the console" not in found


def test_what_is_not_known_keeps_its_first_sentence(wording):
    assert wording.short_reason("the GPU was lost. Restart the computer.") == "the GPU was lost"


def test_a_gpu_that_was_asked_for_and_is_not_there(wording):
    error = NoCudaError("cuda:3", NoCuda("no such device", "there is no cuda:3; pip install ..."))
    assert "pip" in str(error)
    text = wording.worded(error)
    assert text == "The GPU cannot be used: this computer has fewer GPUs."
