"""The module's logic on the MRML scene: outputs, refusals, several vessels, saved scenes."""

import inspect
import textwrap

import numpy as np
import pytest

from fuzzy_vessel import headless
from FuzzyConnectedGPULib import connectedness, estimate_affinity
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, voxel_volume
from support import panel_cases
from support.crossing_vessels import crossing
from support.mrml_cases import (
    OBLIQUE_LEFT_HANDED,
    TRANSFORMS,
    add_seeds,
    add_volume,
    array,
    linear_transform,
    scene_text,
    segment_array,
    world_of,
)
from support.panel_cases import POINTS as SEEDS
from support.panel_cases import SHAPE


@pytest.fixture
def vessel():
    return panel_cases.vessel()


@pytest.fixture
def volume(slicer_scene, vessel):
    return add_volume(vessel)


@pytest.fixture
def seeds(volume):
    return add_seeds(volume, SEEDS)


# --- what comes out


@pytest.mark.parametrize("under", TRANSFORMS)
def test_outputs_are_the_algorithm_on_the_same_grid(slicer_scene, logic, vessel, under):
    volume = add_volume(vessel, transform=TRANSFORMS[under]())
    result = logic.segment(
        volumeNode=volume, seedsNode=add_seeds(volume, SEEDS), threshold=0.3, model="affinity"
    )
    affinity = logic.estimateAffinity(volume, add_seeds(volume, SEEDS))
    assert affinity == estimate_affinity(vessel, SEEDS)
    expected = connectedness(vessel, SEEDS, affinity).values
    assert array(result.sceneNode).dtype == np.float32
    assert np.array_equal(array(result.sceneNode), expected)
    assert array(result.labelmapNode).dtype == np.uint8
    assert np.array_equal(array(result.labelmapNode), expected >= np.float32(0.3))
    for node in (result.labelmapNode, result.sceneNode):
        np.testing.assert_allclose(ijk_to_ras(node), OBLIQUE_LEFT_HANDED, atol=1e-12)
        assert node.GetParentTransformNode() is volume.GetParentTransformNode()
    count = np.count_nonzero(expected >= np.float32(0.3))
    millilitres = count * voxel_volume(OBLIQUE_LEFT_HANDED) / 1000
    assert result.volumeMl == pytest.approx(millilitres)
    assert 100 < count < vessel.size / 2


def test_mask_and_region_bound_the_paths(slicer_scene, logic, vessel, volume, seeds):
    import slicer

    from FuzzyConnectedGPUMRML.fuzzy_scene import fingerprint_of
    from FuzzyConnectedGPUMRML.segmenting import NodeOptions

    inside = np.zeros(SHAPE, np.uint8)
    inside[:, :, :9] = 1
    mask = add_volume(inside, kind="vtkMRMLLabelMapVolumeNode")
    result = logic.segment(volume, seeds, maskNode=mask, threshold=0.2, model="affinity")
    expected = connectedness(vessel, SEEDS[:1], mask=inside).values
    assert np.array_equal(array(result.sceneNode), expected)
    assert any("seeds-2" in warning for warning in result.warnings)

    roi = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsROINode")
    roi.SetSize(2.0, 2.0, 2.0)
    roi.SetCenterWorld(world_of(volume, SEEDS[0]))
    scene = array(logic.segment(volume, seeds, roiNode=roi, threshold=0.2).sceneNode)
    assert scene[7, 8, 3] == 1
    assert 1 < np.count_nonzero(scene) < 150
    text, moved = fingerprint_of(volume, [seeds], NodeOptions(roiNode=roi)), linear_transform()
    for node in (volume, seeds):  # the box stays where it is
        node.SetAndObserveTransformNodeID(moved.GetID())
    assert fingerprint_of(volume, [seeds], NodeOptions(roiNode=roi)) != text


# --- segments


def test_segment_joins_a_segmentation_elsewhere(slicer_scene, logic, vessel):
    """Another parent transform and a segment that overlaps: both keep their voxels."""
    import slicer

    volume = add_volume(vessel, transform=linear_transform())
    seeds = add_seeds(volume, SEEDS)
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode")
    block = np.ones(SHAPE, np.uint8)
    labelmap = add_volume(block, transform=None, kind="vtkMRMLLabelMapVolumeNode")
    slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, segmentation)
    (earlier,) = segmentation.GetSegmentation().GetSegmentIDs()
    segmentation.CreateClosedSurfaceRepresentation()
    result = logic.segment(volume, seeds, threshold=0.3, segmentationNode=segmentation)
    assert segmentation.GetParentTransformNode() is None
    found = segment_array(segmentation, result.segmentID, volume)
    assert np.array_equal(found, array(result.labelmapNode))
    assert np.array_equal(segment_array(segmentation, earlier, labelmap), block)
    surface = segmentation.GetClosedSurfaceInternalRepresentation(result.segmentID)
    assert surface.GetNumberOfPoints() > 50


# --- a scene that stays as it was


def refusals():
    """Calls that fail: name -> (arguments, part of the message)."""
    return {
        "no volume": (lambda v, s: ((None, s), {}), "No volume"),
        "no seeds": (lambda v, s: ((v, None), {}), "No list of seeds"),
        "seeds outside": (lambda v, s: ((v, add_seeds(v, [(99, 9, 9)], "far")), {}), "far-1"),
        "threshold": (lambda v, s: ((v, s), {"threshold": 1.5}), r"1\.5"),
        "below cut": (lambda v, s: ((v, s), {"threshold": 0.1, "cut": 0.4}), r"cut 0\.4"),
        "solver": (lambda v, s: ((v, s), {"solver": "magic"}), "magic"),
        "device": (lambda v, s: ((v, s), {"device": "abacus"}), "abacus"),
        "input as output": (lambda v, s: ((v, s), {"sceneVolumeNode": v}), "'scan' is the input"),
        "output of another kind": (lambda v, s: ((v, s), {"labelmapNode": v}), "labelmap volume"),
        "mask of another kind": (lambda v, s: ((v, s), {"maskNode": s}), "'seeds' is neither"),
        "region of another kind": (lambda v, s: ((v, s), {"roiNode": v}), "'scan' is not a region"),
        "seed and background": (
            lambda v, s: ((v, s), {"backgroundSeedsNode": add_seeds(v, SEEDS[1:], "not")}),
            r"'seeds-2' \(vessel\) and 'not-1' \(not vessel\) are at the same place",
        ),
    }


@pytest.mark.parametrize("case", refusals())
def test_refused_input_changes_nothing(logic, volume, seeds, case):
    make, message = refusals()[case]
    arguments, options = make(volume, seeds)
    before = scene_text()
    with pytest.raises(InputError, match=message):
        logic.segment(*arguments, **options)
    assert scene_text() == before


def test_segmentation_of_surfaces_is_refused_as_output(slicer_scene, logic, volume, seeds):
    import vtk

    ball = vtk.vtkSphereSource()
    ball.Update()
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "shell")
    segmentation.GetSegmentation().SetSourceRepresentationName("Closed surface")
    segmentation.AddSegmentFromClosedSurfaceRepresentation(ball.GetOutput(), "b", [1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="'shell' is made of 'Closed surface'"):
        logic.segment(volume, seeds, segmentationNode=segmentation)


# --- the whole


def test_everything_comes_back_from_an_mrb(slicer_scene, logic, vessel, tmp_path):
    import slicer

    right_handed = OBLIQUE_LEFT_HANDED @ np.diag([1, 1, -1, 1])
    volume = add_volume(vessel, right_handed, linear_transform())
    seeds = add_seeds(volume, SEEDS)
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    result = logic.segment(volume, seeds, threshold=0.3, segmentationNode=segmentation)
    labels, scene = (array(node).copy() for node in result)
    assert slicer.util.saveScene(str(tmp_path / "s.mrb"), {})
    headless.start().clear()
    slicer.util.loadScene(str(tmp_path / "s.mrb"), {})

    labelmap = slicer.util.getNode("scan vessels")
    scene_node = slicer.util.getNode("scan connectedness")
    assert np.array_equal(array(labelmap), labels)
    assert np.array_equal(array(scene_node), scene)
    np.testing.assert_allclose(ijk_to_ras(labelmap), right_handed, atol=1e-6)
    assert labelmap.GetParentTransformNode() is not None
    assert scene_node.GetDisplayNode().GetColorNodeID() == "vtkMRMLColorTableNodeIron"
    found = segment_array(slicer.util.getNode("parts"), result.segmentID, labelmap)
    assert np.array_equal(found, labels)


def test_example_of_the_documentation_runs(slicer_scene, logic, capsys):
    import slicer

    example = inspect.getdoc(type(logic)).split("::\n\n")[1].split("\n\nWith")[0]
    lines = textwrap.dedent(example)
    exec(compile(lines, "example", "exec"), {"slicer": slicer})
    assert " ml at threshold 0." in capsys.readouterr().out
    assert slicer_scene.GetFirstNodeByClass("vtkMRMLSegmentationNode") is not None


def test_parameters_of_an_earlier_version_keep_the_affinity(slicer_scene):
    import slicer

    from FuzzyConnectedGPU import FuzzyConnectedGPULogic
    from FuzzyConnectedGPUMRML.parameters import Model

    parameters = FuzzyConnectedGPULogic().getParameterNode()
    assert parameters.model is Model.CONTRAST
    node = parameters.parameterNode
    del parameters  # Slicer's wrapper writes defaults as long as it is there
    node.UnsetParameter("model")
    node.SetParameter("cut", "0.0")
    assert FuzzyConnectedGPULogic().getParameterNode().model is Model.AFFINITY
    assert node.GetParameter("model") == "AFFINITY"
    again = FuzzyConnectedGPULogic().getParameterNode()
    again.model = Model.CONTRAST
    assert FuzzyConnectedGPULogic().getParameterNode().model is Model.CONTRAST
    slicer.mrmlScene.Clear(False)
    assert FuzzyConnectedGPULogic().getParameterNode().model is Model.CONTRAST


# --- several vessels


@pytest.fixture
def two(slicer_scene):
    """A volume of two vessels that cross, and a list of the points at the ends of each."""
    from FuzzyConnectedGPUMRML.vessel_lists import set_kind

    volume = add_volume(crossing())
    portal = add_seeds(volume, [(6, 6, 2), (6, 6, 37)], "Portal vein")
    hepatic = add_seeds(volume, [(6, 15, 2), (6, 15, 37)], "Hepatic vein")
    set_kind(portal, "portal vein")
    set_kind(hepatic, "hepatic vein")
    return volume, [portal, hepatic]


def test_lists_of_one_name_stay_apart(logic, two):
    volume, lists = two
    third = add_seeds(volume, [(1, 1, 1)], "A (2)")
    for node in lists:
        node.SetName("A")
    labels = array(logic.segment(volume, [*lists, third], device="cpu").labelmapNode)
    assert [labels[6, 6, 2], labels[6, 15, 2], labels[1, 1, 1]] == [1, 2, 3]


def test_one_segment_each_with_name_colour_and_terminology(logic, two):
    volume, lists = two
    result = logic.segmentSeveral(volume, lists, segmentationNode=True, device="cpu")
    labels = array(result.labelmapNode)
    inner = result.segmentationNode.GetSegmentation()
    assert inner.GetNumberOfSegments() == 2
    for number, (vessel, node) in enumerate(zip(result.vessels, lists)):
        found = segment_array(result.segmentationNode, vessel.segmentID, result.labelmapNode)
        assert np.array_equal(found > 0, labels == number + 1)
        segment = inner.GetSegment(vessel.segmentID)
        assert segment.GetName() == vessel.name == node.GetName()
        assert segment.GetColor() == pytest.approx(node.GetDisplayNode().GetSelectedColor())
        assert f"^{node.GetName()}~" in segment.GetTerminology()
        voxel_ml = voxel_volume(ijk_to_ras(volume)) / 1000
        assert vessel.volumeMl == pytest.approx((labels == number + 1).sum() * voxel_ml)
    assert labels[6, 6, 2] == labels[6, 6, 37] == 1
    assert labels[6, 15, 2] == labels[6, 15, 37] == 2
    assert result.volumeMl == pytest.approx(sum(each.volumeMl for each in result.vessels))


def test_a_point_hands_a_branch_over(logic, two):
    volume, lists = two
    from FuzzyConnectedGPUMRML.vessel_lists import is_hand_over, mark_hand_over

    portal = lists[0]
    portal.RemoveNthControlPoint(1)
    plain = array(logic.segmentSeveral(volume, lists, device="cpu").labelmapNode).copy()
    assert plain[6, 6, 30] == 2  # behind the crossing it follows the other vessel
    index = portal.AddControlPointWorld(world_of(volume, (6, 6, 28)), "branch")
    mark_hand_over(lists, portal, index)
    assert [is_hand_over(portal, n) for n in range(2)] == [False, True]
    result = logic.segmentSeveral(volume, lists, segmentationNode=True, device="cpu")
    labels = array(result.labelmapNode).copy()
    assert (labels[6, 6, 30:38] == 1).all()
    assert np.array_equal(labels > 0, plain > 0)
    assert (labels[:, 13:] == plain[:, 13:]).all()
    cut = logic.thresholdScene(result.sceneNode, labelmapNode=result.labelmapNode)
    assert np.array_equal(array(cut.labelmapNode), labels)
    portal.SetNthControlPointPositionWorld(index, world_of(volume, (0, 0, 0)))
    warnings = logic.segmentSeveral(volume, lists, device="cpu").warnings
    assert "no vessel at branch" in " ".join(warnings)
    portal.SetNthControlPointPositionWorld(index, (1e4, 0, 0))
    warnings = logic.segmentSeveral(volume, lists, device="cpu").warnings
    assert "outside the volume" in " ".join(warnings)


def test_a_removed_list_asks_for_another_run(logic, two):
    volume, lists = two
    import slicer

    result = logic.segmentSeveral(volume, lists, device="cpu")
    slicer.mrmlScene.RemoveNode(lists[0])
    with pytest.raises(InputError, match="press Apply"):
        logic.thresholdScene(result.sceneNode, 0.4)
