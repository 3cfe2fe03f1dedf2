"""numba's log: in Slicer the root logger lets everything through, 53 MB in the first session."""

import logging

import numpy as np
import pytest

TUBE = np.zeros((9, 9, 20), np.uint8)
TUBE[3:6, 3:6, 2:18] = 1


@pytest.fixture
def slicer_like_log():
    """The root logger as Slicer sets it, and numba's as it is at first."""
    root, numba = logging.getLogger(), logging.getLogger("numba")
    levels = root.level, numba.level
    root.setLevel(logging.DEBUG)
    numba.setLevel(logging.NOTSET)
    yield numba
    root.setLevel(levels[0])
    numba.setLevel(levels[1])


def segment():
    from FuzzyConnectedGPULib import GaussianAffinity, connectedness

    connectedness(TUBE, [(4, 4, 5)], affinity=GaussianAffinity(1, 1, 1), device="cpu")


def skeletonize():
    from PotentialSkeletonLib import skeletonize

    skeletonize(TUBE, device="cpu")


@pytest.mark.parametrize("work", [segment, skeletonize])
def test_numba_logs_warnings_only(slicer_like_log, work):
    work()
    assert slicer_like_log.getEffectiveLevel() == logging.WARNING


@pytest.mark.parametrize("work", [segment, skeletonize])
def test_a_level_that_somebody_chose_stays(slicer_like_log, work):
    slicer_like_log.setLevel(logging.INFO)
    work()
    assert slicer_like_log.level == logging.INFO
