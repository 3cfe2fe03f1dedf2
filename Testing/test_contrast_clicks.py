"""Clicks of the contrast model: every one is obeyed, and none does more than it should."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.segmentation import segment


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small volumes are not worth a second thread."""
    numba = pytest.importorskip("numba")
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


SHAPE = (30, 40, 44)
FIRST, SECOND, LEAK, NOWHERE = (8, 20, 10), (22, 20, 30), (8, 31, 24), (27, 4, 4)


def tube(k, j, radius=2.0):
    planes, rows, _columns = np.indices(SHAPE)
    return (planes - k) ** 2 + (rows - j) ** 2 <= radius**2


def leak():
    """A ball beside the first tube that is as bright, and the bridge to it."""
    k, j, i = np.indices(SHAPE)
    ball = (k - 8) ** 2 + (j - 31) ** 2 + (i - 24) ** 2 <= 25
    return ball | ((abs(k - 8) <= 1) & (abs(i - 24) <= 1) & (j >= 20) & (j <= 31))


@pytest.fixture(scope="module")
def volume():
    """Two separate tubes along I, of different brightness, in noise; a leak at the first."""
    rng = np.random.default_rng(8)
    clean = np.where(tube(8, 20) | leak(), 60.0, 0.0) + 40.0 * tube(22, 20)
    return (100 + clean + rng.normal(0, 8, SHAPE)).astype(np.int16)


def labels_of(volume, seeds, background=None, **options):
    found = segment(volume, seeds, background_seeds=background, **options)
    assert found.scene.values.min() >= 0
    assert found.scene.values.max() == 1
    assert found.labels[tuple(np.transpose(seeds))].all()
    if background is not None:
        assert not found.labels[tuple(np.transpose(background))].any()
    return found.labels > 0


@pytest.mark.parametrize("number", range(60))
def test_every_click_is_obeyed_in_whatever_volume(number):
    """A click on a dark voxel among bright ones gave memberships of 2, of infinity and of NaN.

    The order of all clicks but the first does not count; in one volume of eight it did.
    """
    rng = np.random.default_rng(number)
    shape = tuple(rng.integers(1, 9, 3))
    kind = rng.choice(["uint8", "int16", "float32"])
    volume = rng.normal(100, 20, shape) + rng.choice([0, -90, 100], shape, p=[0.8, 0.1, 0.1])
    places = rng.permutation(np.argwhere(np.ones(shape)))
    seeds, background = places[: rng.integers(1, 9)], places[8 : rng.integers(9, 12)]
    spacing = [(1, 1, 1), (5, 1, 1), (0.3, 2, 1)][rng.integers(3)]
    mask = rng.random(shape) < rng.choice([0.5, 2])
    mask[tuple(seeds.T)] = True
    background = background if len(background) else None
    options = dict(spacing=spacing, mask=mask)
    with np.errstate(all="raise"):
        labels = labels_of(volume.astype(kind), seeds, background, **options)
    assert not labels[~mask].any()
    others = np.concatenate([seeds[:1], seeds[:0:-1]])
    assert np.array_equal(labels_of(volume.astype(kind), others, background, **options), labels)
