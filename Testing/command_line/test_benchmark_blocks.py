"""The benchmark's runs over blocks: what they compare, and that a difference shows."""

import numpy as np
import pytest

from fuzzy_vessel.benchmark.blocks import card_rows
from fuzzy_vessel.benchmark.blocks.block_runs import by_blocks, hash_of
from fuzzy_vessel.benchmark.blocks.procedural_volume import AFFINITY, ProceduralVolume
from fuzzy_vessel.benchmark.blocks.sampled_target import SampledTarget
from fuzzy_vessel.benchmark.setting import Setting
from FuzzyConnectedGPULib import connectedness

SHAPE = (110, 100, 96)


@pytest.fixture(scope="module")
def levels():
    volume = ProceduralVolume(SHAPE)
    voxels = volume[tuple(map(slice, (0, 0, 0), SHAPE))]
    values = connectedness(voxels, volume.seeds, AFFINITY, device="cpu").values
    return np.rint(values * np.float32(65535)).astype(np.uint16)


def sampled(levels, cut):
    """A target that got the levels in two boxes."""
    target, (nk, nj, ni) = SampledTarget(SHAPE, 4), SHAPE
    target[cut:nk, 0:nj, 0:ni] = levels[cut:]
    target[0:cut, 0:nj, 0:ni] = levels[:cut]
    return target


def test_a_wrong_level_in_a_sampled_box_is_told(levels):
    volume = ProceduralVolume(SHAPE)
    right = sampled(levels, 47)
    assert right.compared(volume) == "4 sampled boxes equal to dial, bit for bit"
    wrong = levels.copy()
    wrong[tuple(volume.seeds[0] + 1)] += 1
    other = sampled(wrong, 47)
    assert other.compared(volume).endswith("voxels of sampled boxes differ from dial")
    assert "differ" in card_rows.compared(other.hash, right.hash)


def test_a_run_is_told_with_its_parts(levels):
    row, found = by_blocks(SHAPE, (60, 100, 48), samples=2)
    assert found == hash_of(levels.astype(np.float32) / np.float32(65535))
    assert (row["blocks"], row["workers"], row["device"]) == (4, 1, "CPU")
    assert row["seconds"] >= row["contract"] + row["solve"] + row["finish"]
    assert 0 < row["disk"] < 28 * 4 * (60 * 100 + 100 * 48) / 1e6
    assert "equal to dial" in row["check"]


@pytest.mark.parametrize(("count", "sets"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4])])
def test_sets_of_cards(monkeypatch, count, sets):
    class Gpu:
        ordinal = 0

    names = [f"cuda:{n}" for n in range(count)]
    monkeypatch.setattr(card_rows, "card_words", lambda word: names)
    assert [len(cards) for cards in card_rows.card_sets(Setting(gpu=Gpu))] == sets
    Gpu.ordinal = 1
    assert card_rows.card_sets(Setting(gpu=Gpu)) == [["cuda:1"]]
