"""What comes from the library reads in the panel's words, and names points by their labels."""

import ast
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.places import ROOT

PANELS = [
    ROOT / "FuzzyConnectedGPU" / "FuzzyConnectedGPUPanel",
    ROOT / "PotentialSkeleton" / "PotentialSkeletonPanel",
    ROOT / "FuzzyVesselCore" / "FuzzyVesselCoreLib" / "widgets",
]
# Of the library and the console, not of a clinic.
JARGON = re.compile(
    r"seed|I, ?J, ?K|\bcard\b|fuzzy scene|\btold\b|\bpieces?\b|lower cut",
    re.IGNORECASE,
)


def translated(path):
    """The texts of a file's calls of `_`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_":
            texts = (each.value for each in node.args if isinstance(each, ast.Constant))
            yield from (re.sub(r"{.*?}", "", text) for text in texts)


@pytest.mark.parametrize("folder", PANELS, ids=lambda folder: folder.name)
def test_panels_say_nothing_in_the_words_of_the_library(folder):
    found = [
        (path.name, text)
        for path in folder.rglob("*.py")
        for text in translated(path)
        if JARGON.search(text)
    ]
    assert found == []


@pytest.mark.parametrize("module", ["FuzzyConnectedGPU", "PotentialSkeleton"])
def test_forms_say_nothing_in_the_words_of_the_library(module):
    path = ROOT / module / "Resources" / "UI" / f"{module}.ui"
    texts = [
        node.findtext("string") or ""
        for node in ElementTree.parse(path).iter("property")
        if node.get("name") in ("text", "toolTip", "title", "placeholderText", "label")
    ]
    assert len(texts) > 30
    assert [text for text in texts if JARGON.search(text)] == []


def test_a_gpu_that_fails_is_said_without_commands(slicer_scene):
    from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceMemoryError
    from FuzzyVesselCoreLib.widgets.wording import common_sentence

    text = common_sentence(
        CpuUsedNote(DeviceMemoryError("cuda:0 (Card) has too little memory: raise the cut"))
    )
    assert text.startswith("It ran on the CPU. The GPU has too little memory for this volume:")
    assert "cuda:0" not in text


def test_every_error_with_fields_has_its_sentence(slicer_scene):
    from FuzzyConnectedGPULib import input_validation
    from FuzzyConnectedGPUPanel.wording import SENTENCES

    types = [each for each in vars(input_validation).values() if isinstance(each, type)]
    own = {each for each in types if each.__module__ == input_validation.__name__}
    said_by_a_run = {input_validation.SameVoxelError}  # with the labels of the points
    assert own - said_by_a_run <= set(SENTENCES)
