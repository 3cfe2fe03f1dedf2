"""The part that knows no Slicer: thresholds, masks, and cached evidence, on card and CPU."""

from contextlib import nullcontext

import numpy as np
import pytest

from FuzzyConnectedGPULib.contrast import contrast_model
from SegmentEditorVesselFromClicksMRML.growing import CachedEvidence, both, grow, threshold_of

SHAPE, SEED, SPACING = (17, 19, 23), (8, 9, 11), (1.0, 1.0, 1.0)


def volume():
    voxels = np.random.default_rng(0).normal(100, 10, SHAPE)
    voxels[:, 7:11, 9:13] += 80
    return voxels.astype(np.int16)


def test_more_lowers_the_threshold():
    assert [threshold_of(more) for more in (-1, 0, 1)] == [0.9, 0.5, pytest.approx(0.1)]
    assert threshold_of(7) == threshold_of(1)


def test_both():
    one, other = np.array([True, True, False]), np.array([True, False, False])
    assert both(None, None) is None
    assert both(one, None) is one
    assert both(None, other) is other
    assert both(one, other).tolist() == [True, False, False]


def test_vessels_and_paths_stay_in_area_and_range():
    voxels = volume()
    area, in_range = np.ones(SHAPE, bool), voxels >= 140
    area[12:] = False
    labels = grow(voxels, SPACING, np.array([SEED]), [], area, in_range, device="cpu").labels()
    assert labels[SEED]
    assert not labels[12:].any()
    assert not labels[voxels < 140].any()
    assert labels.sum() > 0.8 * np.count_nonzero((area & in_range)[:, 7:11, 9:13])


def test_what_is_cached_stays_on_the_card_and_gives_the_same_scene(cpu_cuda, monkeypatch):
    voxels, area = volume(), np.ones(SHAPE, bool)
    area[12:] = False

    def scene(cached, device):
        vessel = grow(
            voxels,
            SPACING,
            np.array([SEED]),
            [],
            area,
            voxels >= 140,
            device=device,
            cached=cached,
        )
        return vessel.scene.values

    on_cpu = scene(None, "cpu")
    monkeypatch.setattr(contrast_model, "choose_device", lambda _: nullcontext(cpu_cuda))
    cached = CachedEvidence()
    first = scene(cached, "cuda")
    assert cached._kept.on_device
    assert np.array_equal(scene(cached, "cuda"), first)
    np.testing.assert_allclose(first, on_cpu, rtol=0, atol=1e-3)
