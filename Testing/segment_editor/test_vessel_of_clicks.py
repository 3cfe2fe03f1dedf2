"""From points, a volume and the editor's settings to labels, on real MRML nodes."""

import numpy as np
import pytest

from support.mrml_cases import (
    OBLIQUE_LEFT_HANDED,
    add_volume,
    linear_transform,
    rotation_about,
    warp_transform,
    world_of,
)

SHAPE = (32, 40, 40)
FIRST, OTHER, BESIDE = (16, 10, 5), (16, 10, 34), (16, 28, 20)
MIDDLE = (20, 20, 16)  # I, J, K
STRAIGHT = np.diag([-1.0, -1.0, 1.0, 1.0])


def tubes():
    """Two parallel tubes (values near 180 in 100): volume, both masks, and all that is near."""
    k, j, _i = np.indices(SHAPE)
    first, second = ((k - 16) ** 2 + (j - centre) ** 2 for centre in (10, 28))
    noise = np.random.default_rng(3).normal(0, 6, SHAPE)
    volume = 100 + 80.0 * ((first <= 5) | (second <= 5)) + noise
    return volume.astype(np.float32), first <= 5, second <= 5, first <= 16


class Case:
    """A volume of tubes, a segmentation with one segment, and an editor's logic and settings."""

    def __init__(self, slicer, ijk_to_ras=STRAIGHT, transform=None):
        from SegmentEditorVesselFromClicksPanel.clicks import Clicks

        voxels, self.first, self.second, self.near_first = tubes()
        self.slicer, self.volume = slicer, add_volume(voxels, ijk_to_ras, transform)
        self.segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode")
        self.segmentation.CreateDefaultDisplayNodes()
        self.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(self.volume)
        self.segment_id = self.segmentation.GetSegmentation().AddEmptySegment("portal", "portal")
        self.node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentEditorNode")
        self.node.SetAndObserveSegmentationNode(self.segmentation)
        self.node.SetAndObserveSourceVolumeNode(self.volume)
        self.node.SetSelectedSegmentID(self.segment_id)
        self.logic = slicer.vtkSlicerSegmentEditorLogic()
        self.logic.SetMRMLScene(slicer.mrmlScene)
        self.logic.SetSegmentEditorNode(self.node)
        self.clicks = Clicks(self.segmentation, self.segment_id)

    def geometry(self, ijk_to_segmentation, extent):
        """Let the segmentation have a geometry of its own."""
        from FuzzyVesselCoreLib.mrml.reading import matrix_from_array

        convert = self.slicer.vtkSegmentationConverter
        image = self.slicer.vtkOrientedImageData()
        image.SetExtent(extent)
        image.SetGeometryFromImageToWorldMatrix(matrix_from_array(ijk_to_segmentation))
        self.segmentation.GetSegmentation().SetConversionParameter(
            convert.GetReferenceImageGeometryParameterName(),
            convert.SerializeImageGeometry(image),
        )

    def source(self):
        assert self.logic.UpdateAlignedSourceVolume()
        return self.logic.GetAlignedSourceVolume()

    def click(self, voxel, background=False):
        self.clicks.add(world_of(self.volume, voxel), background)

    def run(self):
        from SegmentEditorVesselFromClicksPanel.editor_run import EditorRun

        return EditorRun(self.node, self.source(), [self.segment_id])

    def vessel(self, cached=None, more=0.0):
        return self.run().compute(cached=cached, device="cpu").labels(self.segment_id, more)

    def on_volume(self, labels):
        """Labels of the editor's voxels as a mask of the volume, as the preview shows them."""
        from FuzzyConnectedGPUMRML.views import LabelPreview
        from FuzzyVesselCoreLib.mrml.reading import mask_of

        preview, transform_id = LabelPreview("preview"), self.segmentation.GetTransformNodeID()
        labels = labels.astype(np.uint8)
        preview.show(labels, self.run().ijk_to_segmentation, transform_id, [(1, 0, 0)])
        mask = mask_of(preview._node, self.volume, SHAPE)
        preview.drop()
        return mask

    def add_segment(self, name, mask):
        """A further segment, of a mask of the volume."""
        segment_id = self.segmentation.GetSegmentation().AddEmptySegment(name, name)
        self.slicer.util.updateSegmentBinaryLabelmapFromArray(
            mask.astype(np.uint8), self.segmentation, segment_id, self.volume
        )
        return segment_id

    def shows_first(self, labels):
        """Whether labels hold the first tube and nothing far from it."""
        return labels[self.first].mean() > 0.95 and not labels[~self.near_first].any()


def dice(one, other):
    return 2 * np.count_nonzero(one & other) / (one.sum() + other.sum())


@pytest.fixture
def make(slicer_scene):
    import slicer

    return lambda *arguments: Case(slicer, *arguments)


def test_it_is_what_the_module_segments(make):
    """On the volume's own voxels, with nothing masked, the effect and the module agree."""
    from FuzzyConnectedGPULib import segment

    case = make()
    case.click(FIRST)
    case.click(BESIDE, background=True)
    labels = case.vessel()
    voxels = case.slicer.util.arrayFromVolume(case.volume)
    spacing = case.volume.GetSpacing()[::-1]
    found = segment(voxels, [FIRST], background_seeds=[BESIDE], spacing=spacing, device="cpu")
    assert np.array_equal(labels, found.labels)


@pytest.mark.parametrize("transforms", ["none", "volume", "segmentation", "both", "bent"])
@pytest.mark.parametrize("geometry", ["own", "cropped", "turned"])
def test_any_transform_and_any_geometry(make, transforms, geometry):
    """The same vessel, wherever volume and segmentation hang and whatever voxels are edited."""
    of_volume = linear_transform() if transforms in ("volume", "both") else None
    of_volume = warp_transform(2.0) if transforms == "bent" else of_volume
    case = make(OBLIQUE_LEFT_HANDED, of_volume)
    if transforms in ("segmentation", "both"):
        turned = linear_transform(-40, (0.9, 1.2, 1.0), (-4, 3, 8))
        case.segmentation.SetAndObserveTransformNodeID(turned.GetID())
    case.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(case.volume)
    ijk_to_segmentation = frame_of(case)
    if geometry == "cropped":
        case.geometry(ijk_to_segmentation, (3, 36, 2, 33, 5, 27))
    if geometry == "turned":
        middle = np.eye(4)
        middle[:3, 3] = MIDDLE
        turn = middle @ rotation_about((1, 2, 3), 30) @ np.linalg.inv(middle)
        case.geometry(ijk_to_segmentation @ turn, (0, 39, 0, 39, 0, 31))
    case.click(FIRST)
    case.click(OTHER)
    assert case.run().notes == []
    found = case.on_volume(case.vessel())
    inner = np.zeros(SHAPE, bool)
    inner[8:24, 6:34, 12:28] = True  # in all of the geometries
    assert found[case.first & inner].mean() > 0.9
    assert not found[~case.near_first & inner].any()


def frame_of(case):
    """I, J, K of the volume to the segmentation's frame, at the volume's middle."""
    import vtk

    transform = vtk.vtkGeneralTransform()
    case.slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        case.volume.GetParentTransformNode(),
        case.segmentation.GetParentTransformNode(),
        transform,
    )
    from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

    def place(ijk):
        return np.array(transform.TransformPoint((ijk_to_ras(case.volume) @ [*ijk, 1])[:3]))

    middle, matrix = np.array(MIDDLE), np.eye(4)
    for axis in range(3):
        step = np.eye(3)[axis]
        matrix[:3, axis] = (place(middle + step) - place(middle - step)) / 2
    matrix[:3, 3] = place(middle) - matrix[:3, :3] @ middle
    return matrix


def test_paths_stay_inside_the_editable_area(make):
    """A gap in the area ends the vessel: what lies behind it is not reached and then kept."""
    case = make()
    area = np.ones(SHAPE, bool)
    area[:, :, 20:22] = False
    mask = case.add_segment("liver", area)
    case.node.SetMaskMode(case.slicer.vtkMRMLSegmentationNode.EditAllowedInsideSingleSegment)
    case.node.SetMaskSegmentID(mask)
    case.click(FIRST)
    labels = case.vessel()
    assert labels[:, :, :20][case.first[:, :, :20]].mean() > 0.9
    assert not labels[:, :, 20:].any()


def test_an_intensity_range_of_vessels_alone_keeps_their_contrast(make):
    """The range bounds the paths; tissue and noise are still those of the whole area."""
    case = make()
    case.click(FIRST)
    whole = case.vessel() > 0
    case.node.SourceVolumeIntensityMaskOn()
    case.node.SetSourceVolumeIntensityMaskRange(150, 300)
    labels = case.vessel() > 0
    voxels = case.slicer.util.arrayFromVolume(case.volume)
    assert not (labels & (voxels < 150)).any()
    assert dice(labels, whole & (voxels >= 150)) > 0.95


def test_vessels_that_touch_are_divided_among_the_segments_with_points(make):
    from SegmentEditorVesselFromClicksPanel.clicks import Clicks
    from SegmentEditorVesselFromClicksPanel.editor_run import EditorRun
    from support.crossing_vessels import crossing

    case = make()
    case.slicer.util.updateVolumeFromArray(case.volume, crossing().astype(np.float32))
    case.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(case.volume)
    inner = case.segmentation.GetSegmentation()
    other = Clicks(case.segmentation, inner.AddEmptySegment("hepatic", "hepatic"))
    case.click((6, 6, 2))
    together = case.vessel()
    other.add(world_of(case.volume, (6, 15, 38)))
    run = EditorRun(case.node, case.source(), ["portal", "hepatic"])
    found = run.compute(device="cpu")
    portal, hepatic = (found.labels(name) for name in ("portal", "hepatic"))
    assert not (portal & hepatic).any()
    assert portal[6, 6, 2]
    assert hepatic[6, 15, 38]
    assert not portal[6, 15, 38]
    assert together[6, 15, 38]  # alone, the first has both
    assert (portal | hepatic).sum() > 0.7 * together.sum()
    assert 0 < found.labels("portal", -0.5).sum() < portal.sum()
    case.clicks.add(world_of(case.volume, (6, 15, 20)), background=True)
    other.add(world_of(case.volume, (6, 15, 20)))  # a point of the other one is not background
    assert case.vessel()[6, 6, 2]


# ---- The points of a segment in the scene


@pytest.fixture
def segmentation(slicer_scene):
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "vessels")
    for name in ("portal", "hepatic"):
        node.GetSegmentation().AddEmptySegment(name, name)
    return node


def clicks_of(node, segment_id):
    from SegmentEditorVesselFromClicksPanel.clicks import Clicks

    return Clicks(node, segment_id)


def test_each_segment_has_points_of_its_own(segmentation):
    portal, hepatic = (clicks_of(segmentation, each) for each in ("portal", "hepatic"))
    portal.add((1, 2, 3))
    hepatic.add((4, 5, 6), background=True)
    assert portal.points("vessel").world.tolist() == [[1, 2, 3]]
    assert portal.points("background").labels == []
    assert hepatic.points("vessel").labels == []
    assert hepatic.points("background").world.tolist() == [[4, 5, 6]]
    assert {node.GetName() for node in portal.nodes.values()} == {"portal vessel"}


def test_points_and_threshold_are_saved_with_the_scene(segmentation, tmp_path):
    import slicer

    clicks = clicks_of(segmentation, "hepatic")
    clicks.add((1.5, -2.25, 30.125))
    clicks.add((7, 8, 9), background=True)
    clicks.set_more(-0.35)
    path = str(tmp_path / "scene.mrb")
    assert slicer.util.saveScene(path, {})
    slicer.mrmlScene.Clear(False)
    slicer.util.loadScene(path, {})
    (loaded,) = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
    again = clicks_of(loaded, "hepatic")
    assert np.allclose(again.points("vessel").world, [[1.5, -2.25, 30.125]], atol=1e-4)
    assert np.allclose(again.points("background").world, [[7, 8, 9]], atol=1e-4)
    assert again.more == -0.35
    again.remove_last()
    assert again.points("background").labels == []
    assert clicks_of(loaded, "portal").nodes == {}
