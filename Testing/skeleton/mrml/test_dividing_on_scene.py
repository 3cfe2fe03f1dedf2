"""Cross-sections, vessels split by branch, and territories in an organ, on a real scene."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.mrml.images import array_from_image
from support.mrml_cases import OBLIQUE_LEFT_HANDED, linear_transform, scene_text
from support.vessel_scene import add_segmentation, vessels

pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()


def tree_of(logic, node, segment="Portal"):
    from PotentialSkeletonMRML.run_nodes import keep

    result = logic.extract(node, segment, device="cpu")
    keep(result, node, node.GetSegmentation().GetSegmentIdBySegmentName(segment), [])
    return logic.tree(result.modelNode)


def scene(logic, **options):
    """The tree, and the segmentation of vessels and organ that it was found in."""
    mask = vessels()
    organ = ndimage.binary_dilation(mask, iterations=6)
    node = add_segmentation({"Portal": mask, "Liver": organ}, **options)
    return tree_of(logic, node), node, organ


def segments(node):
    """Name of each segment to its voxels' number."""
    segmentation = node.GetSegmentation()
    found = {}
    for each in segmentation.GetSegmentIDs():
        segment = segmentation.GetSegment(each)
        image = array_from_image(segment.GetRepresentation("Binary labelmap"))
        found[segment.GetName()] = int((image == segment.GetLabelValue()).sum())
    return found


@pytest.mark.parametrize("matrix", [None, OBLIQUE_LEFT_HANDED])
def test_every_voxel_of_the_vessels_belongs_to_a_branch(logic, matrix):
    options = {} if matrix is None else {"matrix": matrix, "transform": linear_transform()}
    tree, node, _ = scene(logic, **options)
    tree.rename(0, "Trunk, main")
    before = segments(node)
    parts = segments(tree.split())
    assert sum(parts.values()) == before["Portal"] == int(vessels().sum())
    assert len(parts) == len(tree.skeleton.branches)
    assert "Trunk, main" in parts
    assert segments(node) == before
    generations = segments(tree.split("generation"))
    assert next(iter(generations)) == "Generation 0"
    assert sum(generations.values()) == before["Portal"]


@pytest.mark.parametrize("distance", ["straight", "geodesic"])
def test_the_territories_make_up_the_organ(logic, distance):
    tree, node, organ = scene(logic)
    found = tree.divideOrgan(node, "Liver", distance=distance)
    voxels = segments(found.segmentationNode)
    assert sum(voxels.values()) + round(1000 * found.unreached) == int(organ.sum())
    for name, volume in found.volumes.items():
        assert volume == pytest.approx(voxels.get(name, 0) / 1000)
    table = found.tableNode
    assert [table.GetColumnName(n) for n in range(3)] == [
        "territory", "volume_ml", "share_percent",
    ]  # fmt: skip
    assert table.GetColumnUnitLabel("volume_ml") == "ml"


def test_an_organ_on_other_voxels_under_another_transform(logic, slicer_scene):
    """The organ is sampled more coarsely, and lies under a transform of its own."""
    tree, node, organ = scene(logic)
    exact = tree.divideOrgan(node, "Liver").volumes
    from support.vessel_scene import MATRIX

    turned = linear_transform(scales=(1, 1, 1))
    back = np.linalg.inv(_matrix_of(turned)) @ MATRIX @ np.diag([2, 2, 2, 1])
    coarse = add_segmentation({"Liver": organ[::2, ::2, ::2]}, back, turned, "Organ")
    again = tree.divideOrgan(coarse, "Liver").volumes
    assert again.keys() == exact.keys()
    assert sum(again.values()) == pytest.approx(sum(exact.values()), rel=0.1)
    largest = max(exact, key=exact.get)
    assert again[largest] == pytest.approx(exact[largest], rel=0.15)


def _matrix_of(transform):
    import vtk

    from FuzzyVesselCoreLib.mrml.reading import array_from_matrix

    matrix = vtk.vtkMatrix4x4()
    transform.GetMatrixTransformToParent(matrix)
    return array_from_matrix(matrix)


def test_what_cannot_be_divided_is_said_and_nothing_is_added(logic):
    tree, node, organ = scene(logic)
    away = np.diag([1.0, 1, 1, 1])
    away[:3, 3] = 500
    elsewhere = add_segmentation({"Liver": organ}, away, name="Elsewhere")
    elsewhere.GetSegmentation().AddEmptySegment("", "Spleen")
    before = scene_text()
    for act, error, message in (
        (lambda: tree.divideOrgan(elsewhere, "Liver"), InputError, "mm away from 'Liver'"),
        (lambda: tree.divideOrgan(elsewhere, "Spleen"), InputError, "'Spleen' of .* is empty"),
        (lambda: tree.divideOrgan(None), InputError, "No input was given"),
        (lambda: tree.divideOrgan(node, "Liver", distance="far"), InputError, "unknown"),
        (lambda: tree.split(progress=lambda _share: False), Cancelled, "nothing was changed"),
        (lambda: tree.measureSections(lambda _share: False), Cancelled, "nothing was changed"),
    ):
        with pytest.raises(error, match=message):
            act()
        assert scene_text() == before
