"""Models and curves on the scene that SlicerVMTK's modules take."""

import numpy as np
import pytest

from PotentialSkeletonMRML.run_nodes import SkeletonResult
from support.trees import OBLIQUE, OBLIQUE_SPACING, fork

pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture
def result(slicer_scene):
    return SkeletonResult(fork(OBLIQUE_SPACING), OBLIQUE)


def to_ras(points):
    return points[:, ::-1] @ OBLIQUE[:3, :3].T + OBLIQUE[:3, 3]


@pytest.mark.parametrize(
    ("view", "cells", "arrays"),
    [
        ("rooted", 2, {"CenterlineIds", "Length"}),
        ("split", 6, {"GroupIds", "CenterlineIds", "TractIds", "Blanking"}),
        ("network", 3, {"Topology", "BranchId"}),
    ],
)
def test_a_model_has_vmtks_arrays_and_lies_in_the_object(result, view, cells, arrays):
    import slicer

    from PotentialSkeletonMRML.interchange import addCentrelineModel

    model = addCentrelineModel(result, "lines", view)
    data = model.GetPolyData()
    assert data.GetNumberOfCells() == cells
    assert all(data.GetCellData().HasArray(name) for name in arrays)
    assert data.GetPointData().HasArray("Radius")
    points = slicer.util.arrayFromModelPoints(model)
    expected = to_ras(np.concatenate([branch.points for branch in result.skeleton.branches]))
    away = np.linalg.norm(points[:, None] - expected[None], axis=2).min(axis=1)
    assert away.max() < 1.5  # mm, half a step; split points lie between the skeleton's
