"""Texts are translated where Slicer runs, in the context of the file that says them."""

import sys
import types

import pytest

from FuzzyVesselCoreLib.translation import tr

TEXT = "The mask {mask} is empty."


@pytest.fixture
def language(monkeypatch):
    """A made-up `slicer.i18n` that translates what the test puts in, by context and text."""
    known = {}
    module = types.ModuleType("slicer.i18n")
    module.getContext = lambda path: path.rpartition("/")[2]
    module.translate = lambda context, text: known.get((context, text), text)
    monkeypatch.setitem(sys.modules, "slicer", types.ModuleType("slicer"))
    monkeypatch.setitem(sys.modules, "slicer.i18n", module)
    return known


def test_a_text_is_translated_for_the_file_that_says_it(language):
    language["other.py", TEXT] = "La máscara {mask} de otro archivo."
    assert tr(TEXT) == TEXT
    language["test_translation.py", TEXT] = "La máscara {mask} está vacía."
    assert tr(TEXT).format(mask="'liver'") == "La máscara 'liver' está vacía."


@pytest.mark.parametrize("wrong", ["La máscara {máscara}.", "La máscara.", "La máscara {mask"])
def test_a_translation_without_the_placeholders_is_not_used(language, wrong):
    language["test_translation.py", TEXT] = wrong
    assert tr(TEXT) == TEXT


@pytest.mark.parametrize(
    ("text", "translated"),
    [(TEXT, "Vacía: {mask}"), ("Empty: {mask}", "{mask} está vacía."), ("Empty: {mask}", "{mask}")],
)
def test_a_translation_may_end_as_it_likes(language, text, translated):
    language["test_translation.py", text] = translated
    assert tr(text) == translated


@pytest.mark.parametrize("wrong", ["{volume:.2d} ml", "{volume!q} ml", "{volume} ml", "{volume"])
def test_a_translation_in_another_format_is_not_used(language, wrong):
    text = "{volume:.2f} ml"
    language["test_translation.py", text] = wrong
    assert tr(text).format(volume=1.5) == "1.50 ml"


def test_without_slicer_a_text_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "slicer", None)
    monkeypatch.setitem(sys.modules, "slicer.i18n", None)
    assert tr(TEXT) == TEXT
