"""The quick form of the tests of trust: some cases of each part; `run.py` is the long form."""

from types import SimpleNamespace

import pytest

from trust.run import PARTS, part_of
from trust.tally import Tally

# How many cases of each part; the long form goes on from there.
QUICK = {"exactness": 120, "skeletons": 12, "hostile-files": 60}
NEEDS_SLICER = {"hostile-files"}


@pytest.mark.parametrize("name", PARTS)
def test_nothing_is_found(name):
    if name in NEEDS_SLICER:
        pytest.importorskip("slicer", reason="slicer-core is not installed")
    tally = Tally()
    with part_of(name)(SimpleNamespace(seed=1, device="cpu")) as part:
        for number in range(min(QUICK[name], getattr(part, "count", QUICK[name]))):
            tally.try_case(part.check, number)
    assert not tally.findings, "\n".join(tally.lines())
