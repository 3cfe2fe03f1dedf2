"""The quick form of the tests of trust: some cases of each part; `run.py` is the long form."""

from types import SimpleNamespace

import pytest

from .run import PARTS, part_of
from .tally import Tally

# How many cases of each part. Those of a list of faults are taken evenly from it.
QUICK = {
    "exactness": 200,
    "relative": 32,
    "skeletons": 25,
    "faults": 30,
    "memory": 200,
    "repeatability": 3,
    "hostile-files": 120,
}
NEEDS_SLICER = {"hostile-files"}


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_found(name):
    if name in NEEDS_SLICER:
        pytest.importorskip("slicer", reason="slicer-core is not installed")
    tally = Tally()
    with part_of(name)(SimpleNamespace(seed=1, device="cpu")) as part:
        step = max(1, getattr(part, "count", 0) // QUICK[name])
        for number in range(QUICK[name]):
            tally.try_case(part.check, number * step)
    assert not tally.findings, "\n".join(tally.lines())
