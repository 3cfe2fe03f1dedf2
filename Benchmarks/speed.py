"""Seconds and memory: connectedness, segmenting, skeletons, blocks, first use, other programs."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np

from FuzzyConnectedGPULib import (
    ContrastMapCache,
    connectedness,
    error_voxels,
    segment,
)
from PotentialSkeletonLib import skeletonize

from . import volumes
from .frame import Setting, Table, measure, two_cores
from .papers import on_the_card

COLUMNS = {
    "work": "work", "device": "device", "seconds": "seconds", "check": "result",
    "stages": "stages",
}  # fmt: skip
PLOT = {"kind": "bars", "label": "work", "group": "device", "value": "seconds", "log": True}


def _row(work: str, device: str, seconds: float, check: str = "", **details) -> dict:
    return {"work": work, "device": device, "seconds": seconds, "check": check} | details


def _errors(scene, wanted) -> str:
    count = error_voxels(scene, wanted)
    return "equal to dial" if not count else f"{count:,} voxels differ from dial"


def connected(setting: Setting) -> Table:
    """Exact connectedness of a vessel tree and hard cases, against `dial`; memory on the card."""
    rows = list(_connected_on_cpu(setting))
    if setting.cuda:
        rows += _connected_on_card(setting)
    notes = ["on the card: volume and scene stay there; else from numpy arrays to numpy arrays."]
    return Table("Exact connectedness", COLUMNS, rows, notes, PLOT)


def _connected_on_cpu(setting: Setting) -> Iterator[dict]:
    case = volumes.vessel_tree(setting.size(256, 256, 256))
    inputs = case.volume, case.seeds, case.affinity
    wanted = None
    for solver in ("dial", "exact"):
        seconds, scene = measure(partial(connectedness, *inputs, solver=solver, device="cpu"), 3)
        wanted = wanted or scene
        work = f"{solver}, {case.name}, {case.size}"
        yield _row(work, setting.name("cpu"), seconds, _errors(scene, wanted))


def _connected_on_card(setting: Setting) -> Iterator[dict]:
    tree = volumes.vessel_tree(setting.size(576, 512, 512))
    side = setting.size(256)[0]
    small = volumes.vessel_tree((side,) * 3)
    for case in (tree, small, volumes.serpentine(side), volumes.white_noise(side)):
        inputs = case.volume, case.seeds, case.affinity
        wanted = connectedness(*inputs, solver="dial", device="cpu")
        seconds, values = on_the_card(setting, case, "exact", setting.repeats)
        work = f"on the card: {case.name}, {case.size}"
        yield _row(work, setting.card, seconds, _errors(values, wanted))
        if case is not tree:
            continue
        run = partial(connectedness, *inputs, device=setting.cuda)
        seconds, scene = measure(run, setting.repeats)
        yield _row(
            f"numpy to numpy: {case.name}, {case.size}", setting.card, seconds,
            _errors(scene, wanted), stages=scene.seconds,
            bytes_per_voxel=scene.peak_bytes / case.volume.size,
        )  # fmt: skip


def clicked(setting: Setting) -> Table:
    """The default model: first and further click on the liver CT, and a large phantom on a card."""
    rows: list[dict] = []
    case = volumes.scan(setting)
    with two_cores():
        rows += _clicks(setting, case, "cpu", "CPU, 2 cores")
    if setting.cuda:
        rows += _clicks(setting, case, setting.cuda, setting.card)
        large = volumes.liver(setting.size(576, 512, 512))
        rows += list(_clicks(setting, large, setting.cuda, setting.card))[:1]
    notes = ["From numpy arrays to labels; a further click finds the contrast map of the first."]
    return Table("Segmenting by contrast", COLUMNS, rows, notes, PLOT)


def _clicks(setting: Setting, case: volumes.Case, device: str, name: str) -> Iterator[dict]:
    seeds = case.seeds[1:3] if case.name == "liver CT" else case.seeds[:2]
    options = {"spacing": case.spacing, "device": device}
    for work, count in (("first click", 1), ("further click", 2)):
        cached = ContrastMapCache()
        segment(case.volume, seeds[:1], cached=cached, **options)
        kept = {} if count == 1 else {"cached": cached}
        run = partial(segment, case.volume, seeds[:count], **kept, **options)
        seconds, found = measure(run, setting.repeats)
        wanted = segment(case.volume, seeds[:count], spacing=case.spacing, device="cpu").labels
        wrong = int(np.count_nonzero(found.labels != wanted))
        check = f"{int(wanted.sum()):,} voxels, {wrong or 'none'} unlike the CPU's"
        yield _row(f"{work}, {case.name}, {case.size}", name, seconds, check)


def skeletons(setting: Setting) -> Table:
    """Skeletons of the portal vein and of a large tube, on two cores and on a card."""
    rows: list[dict] = []
    with two_cores():
        rows += _skeletons(setting, "cpu", "CPU, 2 cores")
    if setting.cuda:
        rows += _skeletons(setting, setting.cuda, setting.card)
    return Table("Skeletons", COLUMNS, rows, [], PLOT)


def _skeletons(setting: Setting, device: str, name: str) -> Iterator[dict]:
    title, mask, spacing = volumes.vein(setting)
    tube = volumes.wavy_tube(setting.size(487, 256, 256))
    for work, array, step in ((title, mask, spacing), ("tube", tube, (1.0, 1.0, 1.0))):
        run = partial(skeletonize, array, step, device=device)
        seconds, found = measure(run, min(setting.repeats, 5))
        held = all(found.report["guarantees"].values())
        check = f"{len(found.branches)} branches, " + ("guarantees hold" if held else "NOT HELD")
        size = "x".join(map(str, array.shape[::-1]))
        stages = found.report["seconds"]
        yield _row(f"skeleton: {work}, {size}", name, seconds, check, stages=stages)


FIRST_RUN = """
import json, sys
from time import perf_counter
import numpy as np
with np.load(sys.argv[1]) as a: volume, seeds, mask, spacing = (a[k] for k in a.files)
begin, (work, device) = perf_counter(), sys.argv[2:]
if work == "skeleton":
    from PotentialSkeletonLib import skeletonize
    skeletonize(mask, spacing, device=device)
elif work == "segment":
    from FuzzyConnectedGPULib import segment
    segment(volume, seeds, spacing=spacing, device=device)
else:
    from FuzzyConnectedGPULib import connectedness, estimate_affinity
    volume = volume[:64, :64, :64]
    affinity = estimate_affinity(volume, [[32, 32, 32]])
    connectedness(volume, [[32, 32, 32]], affinity, device=device)
print(json.dumps(perf_counter() - begin))
"""


def first_use(setting: Setting) -> Table:
    """Seconds to the first result of a new process, with empty caches and with those of a run."""
    rows = []
    case, (_, mask, spacing) = volumes.scan(setting), volumes.vein(setting)
    works = [(work, device) for device in setting.devices for work in ("segment", "skeleton")]
    works += [("connectedness", setting.cuda)] if setting.cuda else []
    with tempfile.TemporaryDirectory() as folder, two_cores():
        np.savez(f"{folder}/in.npz", a=case.volume, b=case.seeds[:1], c=mask, d=spacing)
        for work, device in works:
            for state in ("caches empty", "caches of the run before"):
                seconds = _fresh(Path(folder), work, device)
                name = "CPU, 2 cores" if device == "cpu" else setting.card
                rows.append(_row(f"first {work}, {state}", name, seconds))
    return Table("First use in a new process", COLUMNS, rows, [], PLOT)


def _fresh(folder: Path, work: str, device: str) -> float:
    cache = f"{folder}/{work}-{device.replace(':', '')}"
    caches = dict.fromkeys(("NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "XDG_CACHE_HOME"), cache)
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FIRST_RUN, f"{folder}/in.npz", work, device]
    done = subprocess.run(command, env=os.environ | caches | paths, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def blocks(setting: Setting) -> Table:
    """Connectedness over blocks beside the whole in memory: seconds, and the same bits.

    The last row is a model: every voxel is read twice and solved once, faces are joined once, so
    seconds grow as voxels; it says what 1e10 voxels take at the speed of the largest blocks here.
    """
    from FuzzyConnectedGPULib.distributed import connectedness as over_blocks
    from FuzzyConnectedGPULib.scene import level_values

    case = volumes.vessel_tree(setting.size(464, 464, 464))
    inputs = case.volume, case.seeds, case.affinity
    rows = []
    for device in setting.devices:
        seconds, whole = measure(partial(connectedness, *inputs, device=device), 1)
        rows.append(_row(f"whole, {case.size}", setting.name(device), seconds))
        for side in (case.volume.shape[0] // 4, case.volume.shape[0] // 2):
            begin = perf_counter()
            found = np.empty(case.volume.shape, np.uint16)
            with tempfile.TemporaryDirectory() as folder:
                over_blocks(*inputs, found, block=side, device=device, folder=folder)
            seconds = perf_counter() - begin
            check = "the whole's bits" if (level_values(found) == whole.values).all() else "DIFFERS"
            speed = case.volume.size / seconds
            work = f"blocks of {side}, {case.size}"
            rows.append(_row(work, setting.name(device), seconds, check, voxels_per_s=speed))
        rows.append(_row("model: 1e10 voxels", setting.name(device), 1e10 / speed, "predicted"))
    return Table("Exact connectedness over blocks", COLUMNS, rows, [], PLOT)


def peers(setting: Setting) -> Table:
    """Other programs on the same scan: connectedness, clicks to segment, segment to centrelines."""
    rows: list[dict] = []
    case, (title, mask, spacing) = volumes.scan(setting), volumes.vein(setting)
    inputs = case.volume, case.seeds, case.affinity
    for device in setting.devices:
        name = setting.name(device)
        step = {
            "connectedness": partial(connectedness, *inputs, device=device),
            "clicks to segment": partial(
                segment, case.volume, case.seeds, spacing=case.spacing, device=device
            ),
            f"centrelines, {title}": partial(skeletonize, mask, spacing, device=device),
        }
        rows += [_row(f"{key}: ours", name, measure(run, 3)[0]) for key, run in step.items()]
    others: list[tuple[str, str, str, Callable]] = [
        ("connectedness", "scikit-image", "skimage", partial(_reconstruction, case)),
        ("clicks to segment", "itk-growcut", "itk", partial(_growcut, case)),
        (
            f"centrelines, {title}",
            "kimimaro",
            "kimimaro",
            partial(_teasar, "kimimaro", mask, spacing),
        ),
        (f"centrelines, {title}", "brook-cu12", "brook", partial(_teasar, "brook", mask, spacing)),
    ]
    for step_name, package, module, run in others:
        if find_spec(module) is None:
            rows.append(_row(f"{step_name}: {package}", "", None, "not installed"))
            continue
        warm = module == "brook"
        seconds, _ = measure(run, 1, warm)
        named = f"{step_name}: {package} {metadata.version(package)}"
        rows.append(_row(named, setting.card if warm else setting.name("cpu"), seconds))
    notes = [
        "Others ran once. scikit-image's reconstruction knows weights of voxels and none of edges, "
        "a simpler problem; GrowCut labels every voxel; TEASAR keeps less than the topology."
    ]
    return Table("Other programs on the same scan", COLUMNS, rows, notes, PLOT)


def _reconstruction(case: volumes.Case) -> np.ndarray:
    from skimage.morphology import reconstruction

    strength = np.exp(-((case.volume - case.affinity.mean) ** 2) / (2 * case.affinity.sigma**2))
    strength = strength.astype(np.float32)
    marker = np.zeros_like(strength)
    marker[tuple(case.seeds.T)] = strength[tuple(case.seeds.T)]
    return reconstruction(marker, strength)


def _growcut(case: volumes.Case) -> np.ndarray:
    from .clicks import growcut

    return growcut(case, [tuple(seed) for seed in case.seeds], [])


def _teasar(package: str, mask: np.ndarray, spacing) -> dict:
    """TEASAR (Sato et al. 2000); a path takes away 1.5 times the distance to the wall and 2 mm."""
    from importlib import import_module

    limits = {"soma_detection_threshold": np.inf, "soma_acceptance_threshold": np.inf}
    return import_module(package).skeletonize(
        mask.astype(np.uint8), teasar_params={"scale": 1.5, "const": 2.0} | limits,
        anisotropy=tuple(map(float, spacing)), dust_threshold=0, progress=False,
    )  # fmt: skip
