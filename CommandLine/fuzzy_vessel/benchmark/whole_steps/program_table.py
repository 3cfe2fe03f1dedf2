"""Seconds of the steps that a person waits for, by ours and by other programs, in one run."""

from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.segmentation import segment
from FuzzyVesselCoreLib.voxels.surface.closed_surface import closed_surface
from PotentialSkeletonLib import skeletonize

from .. import volumes
from ..clicks.peers import grow_cut
from ..results import Table
from ..setting import Setting
from ..timing import measure, measure_once
from . import centrelines

REPEATS = 3
COLUMNS = {
    "step": "step",
    "program": "program",
    "device": "device",
    "seconds": "seconds",
    "check": "result",
}
PLOT = {"kind": "bars", "label": "program", "group": "step", "value": "seconds", "unit": "s"}
NOTE = (
    "Warm: ours in the median of repeated runs, the others once. Other programs make something "
    "else of the same input: GrowCut labels every voxel, TEASAR keeps less than the topology, "
    "VMTK's lines lead from one end to the others, which it was told."
)
SEGMENT, SURFACE, LINES = "clicks to segment", "segment to surface", "segment to centrelines"


def by_programs(setting: Setting) -> Table:
    """Ours beside the others, step by step."""
    rows = [*_segments(setting), *_surfaces(setting), *_centrelines(setting)]
    notes = [NOTE] if setting.gpu else [NOTE, f"Nothing ran on a GPU: {setting.no_gpu}."]
    return Table("From clicks to centrelines, step by step", COLUMNS, rows, PLOT, notes)


def _segments(setting: Setting) -> Iterator[dict]:
    case = volumes.scan(setting.data) or volumes.liver(setting.sizes.liver)[0]
    for device in _devices(setting):
        yield _ours(
            setting,
            (SEGMENT, device),
            lambda device=device: segment(case.volume, case.seeds, device=device),
            lambda found: f"{np.count_nonzero(found.labels):,} voxels",
        )
    yield _other(
        setting,
        (SEGMENT, "itk-growcut"),
        "itk",
        lambda: grow_cut.segment(case.volume, list(map(tuple, case.seeds)), [], None, (1, 1, 1)),
        lambda found: f"{np.count_nonzero(found):,} voxels",
    )


def _surfaces(setting: Setting) -> Iterator[dict]:
    _, mask, spacing = volumes.vessels(setting.data, setting.sizes.liver)
    geometry = np.diag([*spacing[::-1], 1.0])
    yield _ours(
        setting,
        (SURFACE, "cpu"),
        lambda: closed_surface(mask, True, geometry),
        lambda found: f"{len(found.triangles):,} triangles",
    )


def _centrelines(setting: Setting) -> Iterator[dict]:
    _, mask, spacing = volumes.vessels(setting.data, setting.sizes.liver)
    skeleton = skeletonize(mask, spacing, device="cpu")
    for device in _devices(setting):
        yield _ours(
            setting,
            (LINES, device),
            lambda device=device: skeletonize(mask, spacing, device=device),
            lambda found: f"{len(found.branches)} branches",
        )
    for package, program, on_gpu in (
        ("kimimaro", "kimimaro", False),
        ("brook", "brook-cu12", True),
    ):
        if on_gpu and not setting.gpu:
            yield _row((LINES, program, ""), None, setting.no_gpu)
            continue
        yield _other(
            setting,
            (LINES, program),
            package,
            lambda package=package: centrelines.by_teasar(package, mask, spacing),
            str,
            warm=on_gpu,
        )
    number, ends = centrelines.ends_of_largest(skeleton)
    part = centrelines.component_of(skeleton, number, mask)
    yield _other(
        setting,
        (LINES, "vmtk"),
        "vmtk",
        lambda: centrelines.by_vmtk(part, spacing, ends),
        str,
    )


def _devices(setting: Setting) -> list[str]:
    return ["cpu", *(["auto"] if setting.gpu else [])]  # as users have it


def _ours(setting: Setting, what: tuple, run: Callable, told: Callable[[Any], str]) -> dict:
    step, device = what
    setting.tell(f"{step}, {device}")
    measured = measure(run, min(setting.repeats, REPEATS))
    name = setting.cpu if device == "cpu" else setting.gpu.name
    return _row((step, "ours", name), measured.seconds, told(measured.result))


def _other(
    setting: Setting,
    what: tuple,
    module: str,
    run: Callable,
    told: Callable[[Any], str],
    warm: bool = False,
) -> dict:
    step, program = what
    if not _installed(module):
        return _row((step, program, ""), None, "not installed")
    setting.tell(f"{step}, {program}")
    measured = measure(run, 1) if warm else measure_once(run)
    named = f"{program} {metadata.version(program)}"
    device = setting.gpu.name if warm else setting.cpu
    return _row((step, named, device), measured.seconds, told(measured.result))


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it would be in
        return False


def _row(what: tuple[str, str, str], seconds: float | None, check: str) -> dict:
    step, program, device = what
    return {"step": step, "program": program, "device": device, "seconds": seconds, "check": check}
