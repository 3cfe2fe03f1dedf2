"""Inscribed balls: which voxels they contain, many voxels at a time."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib.field.tiles import Tiles
from PotentialSkeletonLib.tracing import inscribed_balls
from PotentialSkeletonLib.tracing.inscribed_balls import InscribedBalls

SPACING = (2.0, 1.0, 0.5)
SHAPE = (8, 12, 20)


def some_balls(count):
    """Balls, and their centres and radii in mm."""
    rng = np.random.default_rng(1)
    depth = rng.uniform(0.5, 3, SHAPE).astype(np.float32)
    centres = rng.integers(0, SHAPE, (count, 3))
    balls = InscribedBalls(Tiles.whole(depth), SPACING, 1.3, 2.0)
    balls.add(centres)
    return balls, centres * np.array(SPACING), 1.3 * depth[tuple(centres.T)] + 2.0 * 0.5


@pytest.mark.parametrize("pairs", [1, 500, 1 << 24])
@pytest.mark.parametrize("count", [0, 5, 70])
def test_a_ball_contains_what_is_no_further_than_its_radius(count, pairs, monkeypatch):
    monkeypatch.setattr(inscribed_balls, "PAIRS_PER_SLICE", pairs)
    balls, centres, radii = some_balls(count)
    voxels = np.argwhere(np.ones(SHAPE, bool))
    away = np.linalg.norm((voxels * np.array(SPACING))[:, None] - centres, axis=2)
    contained = balls.contain(voxels, Progress())
    np.testing.assert_array_equal(contained, (away <= radii).any(axis=1))
    assert not count or contained.sum() > 0
    assert len(balls.contain(voxels[:0], Progress())) == 0


def test_a_long_search_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(inscribed_balls, "PAIRS_PER_SLICE", 70 * 10)
    balls, _, _ = some_balls(70)
    calls = []

    def go_on(share):
        calls.append(share)
        return len(calls) < 3

    with pytest.raises(Cancelled):
        balls.contain(np.zeros((100, 3), int), Progress(go_on))
    assert len(calls) == 3


@pytest.mark.parametrize(("radius", "is_in"), [(5.0, True), (np.nextafter(5, 0), False)])
def test_a_voxel_on_the_surface_of_a_ball_is_in_it(radius, is_in):
    balls = InscribedBalls(Tiles.whole(np.ones(SHAPE, np.float32)), (1, 1, 1), radius)
    balls.add(np.array([[4, 2, 2]]))
    assert balls.contain(np.array([[4, 6, 5], [4, 2, 7]]), Progress()).tolist() == [is_in] * 2
