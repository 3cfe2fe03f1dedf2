"""The first result of a process and the same once more, as a process of its own measures them.

Arguments: the work ("connectedness" or "skeleton"), when it is begun ("alone": nothing compiles but
the run itself; else seconds after the module was entered), the folder of the real scan or an empty
text, and the phantom's shape (K, J, I). One line of JSON goes to standard output.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

Run = Callable[[], str]


ALONE = "alone"


def main(work: str, when: str, folder: str, *shape: str) -> None:
    """Run twice, and print the seconds of both and the functions compiled."""
    make, prepare = WORKS[work]
    progress = None if when == ALONE else lambda share: True
    run = make(Path(folder) if folder else None, tuple(map(int, shape)), progress)
    if when != ALONE and float(when):
        prepare()
        sleep(float(when))
    begin = _clocks()
    from .compile_clock import CompileClock  # imports numba, as a run does

    with CompileClock() as clock:
        run()
        first = _since(begin)
        begin = _clocks()
        result = run()
    again = _since(begin)
    found = {"first": first, "again": again, "functions": clock.functions, "result": result}
    print(json.dumps(found))


def _clocks() -> tuple[float, float]:
    """Seconds, and processor seconds of this process and of those that it has waited for."""
    times = os.times()
    return perf_counter(), times.user + times.system + times.children_user + times.children_system


def _since(begin: tuple[float, float]) -> list[float]:
    return [now - then for now, then in zip(_clocks(), begin)]


def _connectedness(folder: Path | None, shape: tuple[int, ...], progress: Any) -> Run:
    """A run by the default model from a click in the portal vein, or in the phantom's."""
    volume, seed, spacing = _scan(folder, shape)

    def run() -> str:
        from FuzzyConnectedGPULib.segmentation import segment

        found = segment(volume, [seed], spacing=spacing, device="cpu", progress=progress)
        return f"{int(found.labels.sum()):,} voxels"

    return run


def _skeleton(folder: Path | None, shape: tuple[int, ...], progress: Any) -> Run:
    """A run on the mask of the portal vein, or of the phantom's vessels."""
    mask, spacing = _mask(folder, shape)

    def run() -> str:
        from PotentialSkeletonLib.extraction import skeletonize

        found = skeletonize(mask, spacing, device="cpu", progress=progress)
        return f"{len(found.branches):,} branches"

    return run


def _scan(folder: Path | None, shape: tuple[int, ...]) -> tuple[Any, list[int], Any]:
    """Read without what a run compiles or imports."""
    from ...reading.formats.nrrd import read_voxels
    from ..volumes import SCAN

    if folder is None:
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        phantom = liver_phantom(shape)
        return phantom.volume, phantom.seeds[0].tolist(), phantom.spacing
    volume, spacing = read_voxels(folder / SCAN)
    seeds = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))[SCAN]["seeds"]
    return volume, seeds[0]["ijk"][::-1], spacing


def _mask(folder: Path | None, shape: tuple[int, ...]) -> tuple[Any, Any]:
    from ...reading.formats.nrrd import read_voxels
    from ..volumes import SCAN_VESSELS

    if folder is None:
        from FuzzyVesselCoreLib.phantom.liver import liver_phantom

        phantom = liver_phantom(shape)
        return phantom.mask > 0, phantom.spacing
    labels, spacing = read_voxels(folder / SCAN_VESSELS)
    return labels > 0, spacing


def _prepare_connectedness() -> None:
    from FuzzyConnectedGPULib.contrast.warm_up import prepare

    prepare()


def _prepare_skeleton() -> None:
    from PotentialSkeletonLib.jit_warmup import prepare

    prepare()


WORKS = {
    "connectedness": (_connectedness, _prepare_connectedness),
    "skeleton": (_skeleton, _prepare_skeleton),
}

if __name__ == "__main__":
    main(*sys.argv[1:])
