"""Single runs on a procedural volume, as rows: the whole in memory, and over blocks."""

import tempfile
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import connectedness as on_the_whole
from FuzzyConnectedGPULib.distributed import CardProcesses, connectedness

from .hashed_target import HashedFolder, HashedTarget
from .memory_peak import MemoryPeak
from .procedural_volume import AFFINITY, ProceduralVolume
from .sampled_target import SampledTarget

PHASES = ("contract", "merge", "solve", "finish")
WARM_SIDE = 84  # voxels along each axis of the volume that loads all compiled code
SLAB = 64  # planes that are converted to levels at a time
ALMOST = 0.99  # share of the progress at which all intermediate results are in the folder
Shape = tuple[int, int, int]


def in_memory(shape: Shape) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Rows of generating the voxels and of the whole on the CPU, and the hash of its levels."""
    warm_up("cpu")
    volume = ProceduralVolume(shape)
    with MemoryPeak() as peak:
        first, voxels = generated(volume)
        begin = perf_counter()
        scene = on_the_whole(voxels, volume.seeds, AFFINITY, device="cpu")
        seconds = perf_counter() - begin
    found = hash_of(scene.values)
    check = f"hash {found:016x}"
    return first, row(volume, "whole in memory", seconds, "CPU", peak, check=check), found


def generated(volume: ProceduralVolume) -> tuple[dict[str, Any], np.ndarray]:
    """The row of generating the voxels once, and these."""
    begin = perf_counter()
    voxels = volume[tuple(slice(0, n) for n in volume.shape)]
    return row(volume, "voxels generated once", perf_counter() - begin, "CPU"), voxels


def hash_of(values: np.ndarray) -> int:
    """`HashedTarget`'s hash of a scene's values."""
    target = HashedTarget(values.shape)
    for k in range(0, values.shape[0], SLAB):
        levels = np.rint(values[k : k + SLAB] * np.float32(65535)).astype(np.uint16)
        target[k : k + len(levels), 0 : values.shape[1], 0 : values.shape[2]] = levels
    return target.hash


def by_blocks(
    shape: Shape, block: Shape, device: str = "cpu", workers: int = 1, samples: int = 0
) -> tuple[dict[str, Any], int]:
    """The row of a partition, and the hash of its levels.

    Parameters
    ----------
    shape, block : tuple of int, K, J, I
    device : str
        As in `BlockOptions`; the row says "CPU" or how many cards.
    workers : int
        Cards, or 1.
    samples : int
        So many boxes are solved again by `dial`, with the levels on their borders as seeds.
    """
    warm_up(device, min(*shape, WARM_SIDE))
    volume, target = ProceduralVolume(shape), SampledTarget(shape, samples)
    with MemoryPeak() as peak, tempfile.TemporaryDirectory() as place:
        written = _Written(Path(place) / "run")
        options: dict[str, Any] = {"block": block, "device": device, "folder": written.folder}
        begin = perf_counter()
        run = connectedness(
            volume, volume.seeds, AFFINITY, target, progress=written.look, **options
        )
        seconds = perf_counter() - begin
    cards = "" if workers == 1 else f", {workers} cards"
    name = f"blocks {'x'.join(map(str, block))}{cards}"
    found: dict[str, Any] = {"estimated": run.need.task_memory / 1e6}
    found["disk"] = written.bytes / 1e6
    found |= run.seconds | {
        "shape": shape,
        "block": block,
        "workers": workers,
        "processes": 1,
        "blocks": run.blocks,
    }
    found["check"] = target.compared(volume) if samples else None
    return row(volume, name, seconds, device_name(device, workers), peak, **found), target.hash


def by_processes(
    shape: Shape, block: Shape, device: str, workers: int
) -> tuple[dict[str, Any], int]:
    """The same with a process for each of several cards; the row has no memory.

    A small volume's 27 blocks reach every process before.
    """
    volume = ProceduralVolume(shape)
    with tempfile.TemporaryDirectory() as place, CardProcesses(device) as client:
        side = min(*shape, WARM_SIDE)
        small = ProceduralVolume((side,) * 3)
        target = HashedFolder(small.shape, _made(Path(place) / "small"))
        options: dict[str, Any] = {"client": client, "device": device}
        connectedness(small, small.seeds, AFFINITY, target, block=-(-side // 3), **options)
        target = HashedFolder(shape, _made(Path(place) / "hashes"))
        written = _Written(Path(place) / "run")
        options |= {"progress": written.look, "folder": written.folder, "block": block}
        begin = perf_counter()
        run = connectedness(volume, volume.seeds, AFFINITY, target, **options)
        seconds = perf_counter() - begin
        found: dict[str, Any] = {"disk": written.bytes / 1e6, "blocks": run.blocks, **run.seconds}
        found |= {"shape": shape, "block": block, "workers": workers, "processes": workers}
        name = f"blocks {'x'.join(map(str, block))}, {workers} cards, a process each"
        return row(volume, name, seconds, device_name(device, workers), **found), target.hash


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


class _Written:
    """How many bytes of intermediate results a run has in its folder in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bytes = folder, 0

    def look(self, share: float) -> bool:
        if share >= ALMOST and self.folder.is_dir():
            files = [place for place in self.folder.iterdir() if not place.name.startswith(".")]
            self.bytes = max(self.bytes, sum(place.stat().st_size for place in files))
        return True


def device_name(device: str, workers: int) -> str:
    """As rows name it."""
    if device == "cpu":
        return "CPU"
    return "1 card" if workers == 1 else f"{workers} cards"


@cache
def warm_up(device: str, side: int = WARM_SIDE) -> None:
    """Load all compiled code, also of a volume that is too large for the CPU's bucket queue."""
    small = ProceduralVolume((side,) * 3)
    if device == "cpu":
        on_the_whole(small[0:side, 0:side, 0:side], small.seeds, AFFINITY, device="cpu")
    block = (max(side - 2, 1), max(side - 2, 1), side)
    target = HashedTarget(small.shape)
    connectedness(small, small.seeds, AFFINITY, target, block=block, device=device)


def row(
    volume: ProceduralVolume,
    work: str,
    seconds: float,
    device: str,
    peak: MemoryPeak | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A row of the tables of blocks."""
    return {
        "volume": "x".join(map(str, volume.shape)),
        "work": work,
        "device": device,
        "seconds": seconds,
        "speed": float(np.prod(volume.shape)) / 1e6 / seconds,
        "peak": peak.bytes / 1e6 if peak and peak.bytes is not None else None,
        **more,
    }
