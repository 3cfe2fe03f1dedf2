"""Inscribed balls: which voxels they hold, asked of many at a time."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from PotentialSkeletonLib.field.tiles import Tiles
from PotentialSkeletonLib.thinning import inscribed_balls as balls_module
from PotentialSkeletonLib.thinning.inscribed_balls import Balls

SPACING = (2.0, 1.0, 0.5)
SHAPE = (8, 12, 20)


def some_balls(count):
    """Balls, and their centres and radii in mm."""
    rng = np.random.default_rng(1)
    depth = rng.uniform(0.5, 3, SHAPE).astype(np.float32)
    centres = rng.integers(0, SHAPE, (count, 3))
    balls = Balls(Tiles.whole(depth), SPACING, 1.3, 2.0)
    balls.add(centres)
    return balls, centres * np.array(SPACING), 1.3 * depth[tuple(centres.T)] + 2.0 * 0.5


@pytest.mark.parametrize("pairs", [1, 500, 1 << 24])
@pytest.mark.parametrize("count", [0, 5, 70])
def test_a_ball_holds_what_is_no_further_than_its_radius(count, pairs, monkeypatch):
    monkeypatch.setattr(balls_module, "PAIRS_A_SLICE", pairs)
    balls, centres, radii = some_balls(count)
    voxels = np.argwhere(np.ones(SHAPE, bool))
    away = np.linalg.norm((voxels * np.array(SPACING))[:, None] - centres, axis=2)
    held = balls.hold(voxels)
    np.testing.assert_array_equal(held, (away <= radii).any(axis=1))
    assert not count or held.sum() > 0
    assert len(balls.hold(voxels[:0])) == 0


def test_a_long_search_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(balls_module, "PAIRS_A_SLICE", 70 * 10)
    balls, _, _ = some_balls(70)
    calls = []

    def report():
        calls.append(1)
        if len(calls) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        balls.hold(np.zeros((100, 3), int), report)
    assert len(calls) == 3
