"""Components, cavities and cycles over blocks are those of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib.distributed import LabelOptions, Topology, topology
from FuzzyConnectedGPULib.distributed.labelling import label_steps
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.labels import count_components, fill_cavities
from FuzzyVesselCoreLib.voxels.topology import euler_characteristic
from support.ended_runs import fail_at


def of_the_whole(mask):
    components, characteristic = count_components(mask), euler_characteristic(mask)
    cavities = fill_cavities(mask)[1]
    return Topology(components, cavities, components + cavities - characteristic, characteristic)


@settings(max_examples=15)
@given(
    st.tuples(*3 * [st.integers(1, 9)]),
    st.tuples(*3 * [st.integers(2, 5)]),
    st.floats(0.2, 0.95),
    st.integers(0, 2**32 - 1),
)
def test_random_objects(shape, block, density, number):
    mask = np.random.default_rng(number).random(shape) < density
    found = topology(mask, options=LabelOptions(block=block))
    assert found == of_the_whole(mask)


def test_a_hollow_ball_with_a_handle_in_other_types():
    k, j, i = np.ogrid[:20, :20, :26]
    away = (k - 10) ** 2 + (j - 10) ** 2 + (i - 10) ** 2
    mask = (away < 64) & (away > 30)
    mask[10, 10, 16:24] = mask[10, 10:18, 23] = mask[10, 17, 10:24] = True
    for labelmap in (mask, mask.astype(np.uint8) * 3, mask.astype(np.uint32)):
        found = topology(labelmap, options=LabelOptions(block=(7, 8, 9)))
        assert found == of_the_whole(mask)
        assert (found.components, found.cavities, found.cycles) == (1, 1, 1)


def test_a_run_that_was_ended_goes_on(tmp_path, monkeypatch):
    mask = np.random.default_rng(0).random((8, 9, 10)) < 0.7
    options = LabelOptions(block=5, folder=tmp_path / "run")
    repair = fail_at(monkeypatch, label_steps, "measure_block", 3)
    with pytest.raises(KeyboardInterrupt):
        topology(mask, options=options)
    repair()
    with pytest.raises(InputError, match="unfinished run whose block differed"):
        topology(mask, options=LabelOptions(block=4, folder=tmp_path / "run"))
    assert topology(mask, options=options) == of_the_whole(mask)
    assert not (tmp_path / "run").exists()
    with pytest.raises(
        InputError, match="labelmap's type is float32, but must be one of bool, uint8"
    ):
        topology(mask.astype(np.float32))
