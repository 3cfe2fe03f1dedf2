"""A run's nodes find each other again, and the lines in the scene are the whole skeleton."""

import numpy as np
import pytest

from support.mrml_cases import add_volume, linear_transform

pytest.importorskip("slicer", reason="slicer-core is not installed")

LABELMAP = "vtkMRMLLabelMapVolumeNode"
STRAIGHT = np.diag([-0.5, -0.5, 0.8, 1.0])


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()


def add_frame(matrix=STRAIGHT, transform=None):
    """A frame, which is a loop, with a bar through one corner, and a bar apart from it."""
    array = np.zeros((30, 30, 10), np.uint8)
    array[4:24, 4:24, 3:7] = 1
    array[8:20, 8:20] = 0
    array[20:29, 20:24, 3:7] = 1
    array[1:3, 2:20, 3:6] = 1
    return add_volume(array, matrix, transform, LABELMAP)


def extract(logic, labelmap, **options):
    options = {"curveNodes": False, "labelmapNode": False, "tableNode": False, **options}
    return logic.extract(labelmap, **options)


def same(columns, others):
    assert list(columns) == list(others)
    for name, values in columns.items():
        if isinstance(values[0], float):
            assert others[name] == pytest.approx(values, rel=1e-6), name
        else:
            assert others[name] == values, name


# --- the lines are the skeleton


def test_the_lines_tell_the_whole_graph(logic):
    from PotentialSkeletonMRML.lines import stored_skeleton

    result = extract(logic, add_frame())
    stored = stored_skeleton(result.modelNode)
    same(result.skeleton.to_table(), stored.to_table())
    assert len(set(stored.to_table()["component"])) == 2
    to_ras = result.ijkToRAS
    for branch, again in zip(result.skeleton.branches, stored.branches, strict=True):
        ijk = branch.points[:, ::-1]
        assert again.points[:, ::-1] == pytest.approx(ijk @ to_ras[:3, :3].T + to_ras[:3, 3])
        assert again.radius == pytest.approx(branch.radius)


def test_positions_in_the_world_are_those_that_are_seen(logic):
    from PotentialSkeletonMRML.lines import stored_skeleton

    result = extract(logic, add_frame(transform=linear_transform()))
    model, world = result.modelNode, [0.0] * 3
    first = model.GetPolyData().GetPoint(0)
    model.TransformPointToWorld(first, world)
    assert stored_skeleton(model).branches[0].points[0, ::-1] == pytest.approx(first)
    assert stored_skeleton(model, True).branches[0].points[0, ::-1] == pytest.approx(world)


# --- what belongs together


def keep_all(logic, labelmap, **options):
    from PotentialSkeletonMRML.run_nodes import keep

    result = extract(logic, labelmap, **options)
    keep(result, labelmap, "", ["note; one", "two = 2"])
    return result


def test_a_result_is_found_by_its_object(logic):
    from PotentialSkeletonMRML.run_nodes import kept_model, kept_nodes, kept_notes

    first, second = add_frame(), add_frame()
    result = keep_all(logic, first, curveNodes=True, tubesNode=True, criticalPointsNodes=True)
    assert kept_model(first, "") is result.modelNode
    assert kept_model(first, "Segment_1") is None
    assert kept_model(second, "") is None
    assert kept_model(None, "") is None
    nodes = kept_nodes(result.modelNode)
    assert nodes["curveNodes"] == result.curveNodes
    assert nodes["tubesNode"] is result.tubesNode
    assert nodes["criticalPointsNodes"] == result.criticalPointsNodes
    assert "tableNode" not in nodes
    assert kept_notes(result.modelNode) == ["note; one", "two = 2"]


# --- colours
