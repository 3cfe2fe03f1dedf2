"""The examples in README.md run as they stand there."""

import re

import numpy as np
import pytest

import readme_figures
from support.places import ROOT

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def example_with(word):
    (code,) = (example for example in EXAMPLES if word in example)
    return code


def test_the_console_example_segments_the_phantom(slicer_scene, capsys):
    import slicer

    space = {"slicer": slicer}
    exec(example_with("FuzzyConnectedGPULogic"), space)
    assert re.fullmatch(r"[\d.]+ ml at threshold 0\.\d+\n", capsys.readouterr().out)
    assert slicer.util.arrayFromVolume(space["result"].labelmapNode).any()


def test_the_array_example_finds_vessels():
    space = {}
    exec(example_with("import segment"), space)
    phantom, labels = space["phantom"], space["found"].labels
    found = np.count_nonzero(labels & phantom.mask)
    assert found > 0.5 * np.count_nonzero(labels & phantom.liver)


def test_the_block_example_writes_levels(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr", minversion="3")
    monkeypatch.chdir(tmp_path)
    volume = np.full((12, 44, 44), 220, np.int16)
    zarr.create_array("brain.zarr", data=volume, chunks=(8, 16, 16))
    exec(example_with("distributed"), {})
    assert (zarr.open("levels.zarr", mode="r")[:] == 65535).all()


def test_the_figures_are_those_of_the_benchmarks():
    text = readme_figures.README.read_text()
    assert readme_figures.with_figures(text) == text, "python Testing/readme_figures.py"


def test_a_figure_that_changed_is_written_and_an_unknown_one_refused():
    text = readme_figures.README.read_text()
    first = text.index("| clicks |")
    assert readme_figures.with_figures(text[:first] + "| old |\n" + text[first:]) == text
    with pytest.raises(SystemExit, match="other"):
        readme_figures.with_figures(text.replace("figures: clicks -->", "figures: other -->"))
