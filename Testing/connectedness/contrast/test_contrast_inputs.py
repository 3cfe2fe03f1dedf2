"""Inputs of the contrast model: whatever volume there is, and what is refused."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.errors import Cancelled, InputError

SHAPE = (12, 20, 22)
FIRST, OTHER = (6, 10, 5), (6, 10, 15)


@pytest.fixture(scope="module")
def volume():
    """A noisy tube along I."""
    k, j, _i = np.indices(SHAPE)
    tube = (k - 6) ** 2 + (j - 10) ** 2 <= 4
    return (100 + 60 * tube + np.random.default_rng(8).normal(0, 8, SHAPE)).astype(np.int16)


def labels_of(volume, seeds, background=None, **options):
    found = segment(volume, seeds, background_seeds=background, **options)
    assert found.scene.values.min() >= 0
    assert found.scene.values.max() == 1
    assert found.labels[tuple(np.transpose(seeds))].all()
    if background is not None:
        assert not found.labels[tuple(np.transpose(background))].any()
    return found.labels > 0


@pytest.mark.parametrize("number", range(40))
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


def test_an_image_of_one_slice_takes_two_distances(volume):
    found = segment(volume[6], [FIRST[1:]], spacing=(0.5, 0.5))
    deep = segment(volume[6:7], [(0, *FIRST[1:])], spacing=(0.5, 0.5, 0.5))
    assert found.labels.shape == SHAPE[1:]
    assert np.array_equal(found.labels, deep.labels[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(seeds=[FIRST], background_seeds=[FIRST]), "the same voxel, I,J,K = 5,10,6"),
        (dict(seeds=[(0, 0, 99)]), "1 of 1 seeds lie outside"),
        (dict(seeds=[]), "There is no seed"),
        (dict(seeds=[FIRST], background_seeds=[(-1, 0, 0)]), "background seeds lie outside"),
        (dict(seeds=[FIRST], spacing=(1, 0, 1)), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], spacing=(1, np.nan, 1)), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], spacing=(1, 1)), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], spacing="wide"), "spacing is three positive numbers"),
        (dict(seeds=[FIRST], mask=np.zeros(SHAPE)), "mask is empty"),
        (dict(seeds=[FIRST], mask=np.indices(SHAPE)[0] > 9), "Every seed lies outside the mask"),
        (dict(seeds=[FIRST], threshold=0.0), "threshold"),
        (dict(seeds=[FIRST], model="magic"), "Unknown model 'magic'; one of contrast, affinity"),
    ],
)
def test_what_cannot_be_used_is_named(volume, arguments, message):
    with pytest.raises(InputError, match=message):
        segment(volume, **arguments)


def test_a_run_can_be_cancelled_at_any_time(volume):
    segment(volume, [FIRST], progress=lambda f: True)  # a first run waits for compiled code, too
    fractions = []
    segment(
        volume, [FIRST], background_seeds=[OTHER], progress=lambda f: fractions.append(f) or True
    )
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0, 1)
    for stop in range(len(fractions)):
        left = [False] + [True] * stop
        with pytest.raises(Cancelled):
            segment(
                volume,
                [FIRST],
                background_seeds=[OTHER],
                progress=lambda _f, left=left: left.pop(),
            )
