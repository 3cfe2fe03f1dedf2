"""The examples in README.md run as they stand there."""

import re

import numpy as np
import pytest

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
