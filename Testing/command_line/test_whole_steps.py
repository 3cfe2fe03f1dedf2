"""Other programs for whole steps: what they are given, and what is told of their results."""

import numpy as np
import pytest

from fuzzy_vessel.benchmark.whole_steps import centrelines
from PotentialSkeletonLib import skeletonize

SPACING = (1.0, 0.8, 0.5)


@pytest.fixture(scope="module")
def fork():
    """A trunk with two branches in a plane, and a bar apart from it."""
    mask = np.zeros((16, 60, 60), bool)
    for n in range(50):
        j, sides = 5 + n, (30,) if n < 25 else (30 - (n - 25), 30 + (n - 25))
        for i in sides:
            mask[4:9, j - 2 : j + 3, i - 2 : i + 3] = True
    mask[12:15, 4:30, 4:8] = True
    return mask


def test_the_largest_component_and_its_ends(fork):
    skeleton = skeletonize(fork, SPACING, device="cpu")
    number, ends = centrelines.ends_of_largest(skeleton)
    part = centrelines.component_of(skeleton, number, fork)
    assert part.sum() < fork.sum()
    assert not part[12:].any()
    assert len(ends) == 3
    voxels = ends[:, ::-1] / SPACING
    assert part[tuple(np.rint(voxels).astype(int).T)].all()


def test_kimimaro_gets_lengths_in_mm(fork):
    pytest.importorskip("kimimaro", reason="kimimaro is not installed: pip install kimimaro")
    told = centrelines.by_teasar("kimimaro", fork, SPACING)
    assert 0.05 < float(told.split()[0]) < 0.15  # about 20 + 2 x 24 + 21 mm
    assert told.endswith("m of lines")


def test_vmtk_leads_from_the_root_to_the_tips(fork):
    pytest.importorskip("vmtk.vmtkscripts", reason="VMTK is not installed: pip install vmtk")
    skeleton = skeletonize(fork, SPACING, device="cpu")
    number, ends = centrelines.ends_of_largest(skeleton)
    part = centrelines.component_of(skeleton, number, fork)
    assert centrelines.by_vmtk(part, SPACING, ends) == "2 of 2 lines reach the root"
