"""The first result of a process and the same once more, as a process of its own measures them.

Arguments: the work ("connectedness" or "skeleton"), the folder of the real scan or an empty text,
and the phantom's shape (K, J, I). One line of JSON goes to standard output.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any


def main(work: str, folder: str, *shape: str) -> None:
    """Run twice, and print the seconds of both and the functions compiled."""
    make = WORKS[work]
    run = make(Path(folder) if folder else None, tuple(map(int, shape)))
    begin = perf_counter(), process_time()
    from .compile_clock import CompileClock  # imports numba, as a run does

    with CompileClock() as clock:
        run()
        first = perf_counter() - begin[0], process_time() - begin[1]
        begin = perf_counter(), process_time()
        result = run()
    again = perf_counter() - begin[0], process_time() - begin[1]
    found = {"first": first, "again": again, "functions": clock.functions, "result": result}
    print(json.dumps(found))


def _connectedness(folder: Path | None, shape: tuple[int, ...]) -> Callable[[], str]:
    """A run by the default model from a click in the portal vein, or in the phantom's."""
    volume, seed, spacing = _scan(folder, shape)

    def run() -> str:
        from FuzzyConnectedGPULib.segmentation import segment

        found = segment(volume, [seed], spacing=spacing, device="cpu", progress=lambda share: True)
        return f"{int(found.labels.sum()):,} voxels"

    return run


def _skeleton(folder: Path | None, shape: tuple[int, ...]) -> Callable[[], str]:
    """A run on the mask of the portal vein, or of the phantom's vessels."""
    mask, spacing = _mask(folder, shape)

    def run() -> str:
        from PotentialSkeletonLib.extraction import skeletonize

        found = skeletonize(mask, spacing, device="cpu", progress=lambda share: True)
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


WORKS = {"connectedness": _connectedness, "skeleton": _skeleton}

if __name__ == "__main__":
    main(*sys.argv[1:])
