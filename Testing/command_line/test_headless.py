"""The host of slicer-core: slicer.util and the logics without the application."""

import subprocess
import sys

import numpy as np
import pytest

from fuzzy_vessel import headless
from support.mrml_cases import add_volume, linear_transform


def python(code, *arguments):
    """Run Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def numbers():
    return np.random.default_rng(3).integers(-900, 1200, (5, 6, 7)).astype(np.int16)


def test_mrb_brings_everything_back(slicer_scene, numbers, tmp_path):
    import slicer

    volume = add_volume(numbers, np.diag([-0.5, -0.5, 2.0, 1.0]), linear_transform())
    points = slicer_scene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", "clicks")
    points.AddControlPointWorld([1.5, 2.5, -3.5], "here")
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    labelmap = add_volume((numbers > 0).astype(np.uint8), kind="vtkMRMLLabelMapVolumeNode")
    labelmap.SetName("labels")
    segmentations = slicer.modules.segmentations.logic()
    assert segmentations.ImportLabelmapToSegmentationNode(labelmap, segmentation)
    path = tmp_path / "scene.mrb"
    assert slicer.util.saveScene(str(path), {})
    headless.start().clear()
    assert slicer_scene.GetFirstNodeByClass("vtkMRMLScalarVolumeNode") is None

    slicer.util.loadScene(str(path), {})
    volume = slicer_scene.GetFirstNode("scan", "vtkMRMLScalarVolumeNode")
    assert np.array_equal(slicer.util.arrayFromVolume(volume), numbers)
    assert volume.GetParentTransformNode() is not None
    assert slicer.util.getNode("clicks").GetNthControlPointLabel(0) == "here"
    assert slicer.util.getNode("parts").GetSegmentation().GetNumberOfSegments() == 1


@pytest.mark.parametrize(
    ("found", "message"),
    [("None", "needs slicer-core"), ("types.ModuleType('slicer')", "not 3D Slicer's")],
)
def test_missing_slicer_core_names_the_extra(found, message):
    run = python(
        f"import sys, types; sys.modules['slicer'] = {found}\n"
        "from fuzzy_vessel import headless\n"
        "from FuzzyVesselCoreLib.errors import InputError\n"
        "try: headless.start()\n"
        "except InputError as error: print(error)"
    )
    assert message in run.stdout
    assert "fuzzy-vessel-gpu[mrml]" in run.stdout
