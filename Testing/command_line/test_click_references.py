"""Documented clicks, and the calibration of a confidence."""

import numpy as np
import pytest

from fuzzy_vessel.benchmark.clicks import calibration
from fuzzy_vessel.benchmark.clicks.measures import dice
from fuzzy_vessel.benchmark.clicks.reference_cases import inside_surface, reference_cases


def test_voxels_inside_a_surface(tmp_path):
    vtk = pytest.importorskip("vtk")
    sphere = vtk.vtkSphereSource()
    sphere.SetCenter(10.0, 12.0, 6.0)
    sphere.SetRadius(4.0)
    sphere.SetThetaResolution(64)
    sphere.SetPhiResolution(64)
    writer = vtk.vtkXMLPolyDataWriter()
    writer.SetFileName(str(tmp_path / "sphere.vtp"))
    writer.SetInputConnection(sphere.GetOutputPort())
    writer.Write()
    spacing, origin, shape = (1.0, 0.5, 2.0), (2.0, 5.0, 0.0), (8, 30, 20)
    found = inside_surface(tmp_path / "sphere.vtp", shape, spacing, origin)
    k, j, i = np.ogrid[tuple(slice(n) for n in shape)]
    distance = (i * 1.0 + 2 - 10) ** 2 + (j * 0.5 + 5 - 12) ** 2 + (k * 2.0 - 6) ** 2
    assert dice(found, distance <= 16) > 0.97


def test_the_phantom_needs_no_folder():
    reference, unmasked = reference_cases(None, (40, 40, 40))
    assert reference.case.truth[reference.case.mask].any()
    assert unmasked.case.mask is None
    np.testing.assert_array_equal(unmasked.counted, reference.case.mask)
    assert len(reference.clicks) > 1


def test_dice_by_threshold_follows_the_definition():
    random = np.random.default_rng(0)
    scene = random.random((5, 6, 7)).astype(np.float32)
    truth = random.random(scene.shape) < 0.3
    found = calibration.dice_by_threshold(scene, truth)
    for step in (0, 100, 200, 399):
        expected = dice(scene >= step / calibration.STEPS, truth)
        assert found[step] == pytest.approx(expected, abs=1e-6)
    assert calibration.loss(np.where(truth, np.float32(0.9), np.float32(0.2)), truth) == 0


def test_features_tell_a_leak_from_a_clear_vessel():
    clear = np.zeros((20, 20, 20), np.float32)
    clear[5:15, 5:15, 5:15] = 1
    leaking = np.maximum(clear, np.float32(0.45))
    ratio, growth, shrinkage, compactness = calibration.features(clear, 40.0, 2.0)
    assert ratio == pytest.approx(np.log(20))
    assert growth == shrinkage == 0
    assert compactness == pytest.approx(np.log(1000 / 488))
    assert calibration.features(leaking, 40.0, 2.0)[1] == pytest.approx(np.log(8))


def test_a_feature_that_tells_is_calibrated_and_one_of_single_scans_is_not():
    random = np.random.default_rng(1)
    scans = [f"scan {n % 6}" for n in range(600)]
    known = random.normal(0, 1, (600, 1))
    near = random.random(600) < 1 / (1 + np.exp(-2 * known[:, 0]))
    said = calibration.predicted(known, near, scans)
    assert calibration.calibration_error(said, near) < 0.1
    # One scan of which all results are bad, and nothing known that shows it.
    near = np.array([name != "scan 3" for name in scans])
    said = calibration.predicted(known, near, scans)
    assert said[~near].mean() > 0.9
    assert calibration.calibration_error(said, near) > 0.1
