"""What the panel shows of intensities and memory, against numbers worked out by hand."""

import numpy as np
import pytest

from FuzzyConnectedGPULib.affinity import seed_statistics
from FuzzyVesselCoreLib.errors import InputError


def test_statistics_of_a_ramp():
    volume = np.arange(5 * 6 * 7, dtype=np.int16).reshape(5, 6, 7)
    found = seed_statistics(volume, [[2, 2, 2], [0, 0, 0]], radius=1)
    assert found.intensity.tolist() == [2 * 42 + 2 * 7 + 2, 0]
    assert found.mean.tolist() == [100, (42 + 7 + 1) / 2]
    corner = [42 * k + 7 * j + i for k in (0, 1) for j in (0, 1) for i in (0, 1)]
    assert found.deviation[1] == pytest.approx(np.std(corner))


def test_statistics_need_seeds_inside_and_a_radius():
    volume = np.zeros((4, 4, 4), np.int16)
    with pytest.raises(InputError, match="lie outside"):
        seed_statistics(volume, [[4, 0, 0]])
    with pytest.raises(InputError, match="radius is 0"):
        seed_statistics(volume, [[1, 1, 1]], radius=0)
