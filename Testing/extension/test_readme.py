"""The examples in README.md run as they stand there."""

import re

import numpy as np

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
