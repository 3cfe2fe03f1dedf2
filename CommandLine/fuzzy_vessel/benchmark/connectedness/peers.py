"""Other programs on the same volumes: scikit-image and higra, both optional.

scikit-image's morphological reconstruction knows weights of voxels and none of edges: its seeds
spread under each voxel's own affinity, so it solves a simpler problem of the same size.
higra's binary partition tree solves ours: a voxel's connectedness is that of the smallest region
which holds both the voxel and a seed.
"""

from importlib import metadata
from importlib.util import find_spec

import numpy as np

from FuzzyConnectedGPULib import connectedness
from FuzzyConnectedGPULib.affinity import level_values

from .. import volumes
from ..goals import dial_levels, difference
from ..results import Table
from ..setting import Setting
from ..timing import measure, measure_once
from . import resident

REPEATS = 3
COLUMNS = {
    "volume": "volume",
    "program": "program",
    "device": "device",
    "seconds": "seconds",
    "speed": "Mvoxel/s",
    "check": "result",
}
PLOT = {"kind": "bars", "label": "program", "group": "volume", "value": "speed", "unit": "Mvoxel/s"}
NOTE = (
    "scikit-image's reconstruction knows no edges: it runs under the voxels' own affinities, a "
    "simpler problem of the same size. higra's tree of regions solves ours. Both ran once."
)


def peers(setting: Setting) -> Table:
    """Ours beside the others."""
    side = setting.sizes.cube
    cases = [volumes.vessel_tree((side,) * 3)]
    cases.append(volumes.scan(setting.data) or volumes.liver(setting.sizes.liver)[0])
    rows = []
    for case in cases:
        rows += _rows(setting, case)
    return Table("Other programs on the same volumes", COLUMNS, rows, PLOT, [NOTE])


def _rows(setting, case):
    setting.tell(f"Reference, {case.name}")
    reference = dial_levels(case)
    if setting.gpu:
        measured, levels, _ = resident.time_solver("exact", case, setting.gpu, setting.repeats)
        check = difference(levels, reference)
        yield _row(case, "exact, on the GPU", setting.gpu.name, measured, check)
    for solver in ("exact", "dial"):
        setting.tell(f"{solver}, {case.name}")
        measured = measure(lambda solver=solver: _on_cpu(case, solver), REPEATS)
        check = difference(measured.result.values, level_values(reference))
        yield _row(case, f"{solver}, on the CPU", setting.cpu, measured, check)
    for package, run, checked in (
        ("scikit-image", by_reconstruction, lambda _: "a simpler problem"),
        ("higra", by_partition_tree, lambda levels: difference(levels, reference)),
    ):
        if not find_spec({"scikit-image": "skimage"}.get(package, package)):
            yield _row(case, package, "", None, "not installed")
            continue
        setting.tell(f"{package}, {case.name}")
        measured = measure_once(lambda run=run: run(case))
        named = f"{package} {metadata.version(package)}"
        yield _row(case, named, "CPU, 1 core", measured, checked(measured.result))


def _row(case, program, device, measured, check):
    seconds = measured.seconds if measured else None
    return {
        "volume": volumes.described(case),
        "program": program,
        "device": device,
        "seconds": seconds,
        "speed": case.volume.size / 1e6 / seconds if measured else None,
        "check": check,
    }


def _on_cpu(case, solver):
    return connectedness(case.volume, case.seeds, case.affinity, solver=solver, device="cpu")


def by_reconstruction(case: volumes.Case) -> np.ndarray:
    """Levels (uint16) by scikit-image's reconstruction under the voxels' own affinities."""
    from skimage.morphology import reconstruction

    own = case.affinity(case.volume, case.volume)
    marker = np.zeros_like(own)
    at = tuple(case.seeds.T)
    marker[at] = own[at]
    footprint = np.zeros((3, 3, 3), bool)
    footprint[1, 1, :] = footprint[1, :, 1] = footprint[:, 1, 1] = True
    return reconstruction(marker, own, footprint=footprint)


def by_partition_tree(case: volumes.Case) -> np.ndarray:
    """Levels (uint16) by higra's binary partition tree of the affinities."""
    import higra

    volume, shape = case.volume, case.volume.shape
    numbers = np.arange(volume.size).reshape(shape)
    sources, targets, levels = [], [], []
    for axis in range(3):
        low = tuple(slice(None, -1) if a == axis else slice(None) for a in range(3))
        high = tuple(slice(1, None) if a == axis else slice(None) for a in range(3))
        sources.append(numbers[low].ravel())
        targets.append(numbers[high].ravel())
        levels.append(case.affinity(volume[low], volume[high]).ravel())
    graph = higra.UndirectedGraph(volume.size)
    graph.add_edges(np.concatenate(sources), np.concatenate(targets))
    distances = 65535 - np.concatenate(levels).astype(np.int32)
    tree, altitudes = higra.bpt_canonical(graph, distances.astype(np.float64))
    seeded = np.zeros(volume.size, np.int64)
    seeded[np.ravel_multi_index(case.seeds.T, shape)] = 1
    held = higra.accumulate_sequential(tree, seeded, higra.Accumulators.sum) > 0
    reached = higra.propagate_sequential(tree, 65535 - altitudes, ~held)
    return reached[: volume.size].reshape(shape).astype(np.uint16)
