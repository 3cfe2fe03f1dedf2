"""Single runs of labels and skeletons, as rows: the whole in memory, over blocks, by components."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.distributed import ComponentTable, labels
from FuzzyVesselCoreLib.voxels.components.labels import component_sizes, label_components
from PotentialSkeletonLib import CurveSkeleton, SkeletonOptions, skeletonize
from PotentialSkeletonLib.by_component import skeletonize_components

from .hashed_target import HashedTarget
from .memory_peak import MemoryPeak
from .repeated_vessels import RepeatedVessels

LABEL_PHASES = ("label", "join", "spread", "write")
MIN_VOXELS, SMALL, LABEL_BLOCK = 27, 100, 192
LEVEL = SkeletonOptions(level=2, device="cpu")
Shape = tuple[int, int, int]
Row = tuple[dict[str, Any], int]


def labels_in_memory(shape: Shape) -> Row:
    """Numbered components of the whole, and the hash of the labels."""
    _labels_of_the_whole(RepeatedVessels((SMALL,) * 3).whole)
    whole = RepeatedVessels(shape).whole
    with MemoryPeak() as peak:
        begin = perf_counter()
        found = _labels_of_the_whole(whole)
        seconds = perf_counter() - begin
    target = HashedTarget(shape, np.uint32)
    for k in range(shape[0]):
        target[k : k + 1, 0 : shape[1], 0 : shape[2]] = found[k : k + 1].astype(np.uint32)
    more = {"components": int(found.max())}
    return row(shape, "labels, whole in memory", seconds, peak, **more), target.hash


def _labels_of_the_whole(whole: np.ndarray) -> np.ndarray:
    found, count = label_components(whole.view(bool))
    kept = component_sizes(found, count) >= MIN_VOXELS
    kept[0] = False
    return (np.cumsum(kept) * kept).astype(np.int32)[found]


def labels_by_blocks(shape: Shape, block: Shape, workers: int = 1) -> Row:
    """The same over blocks, without a voxel in memory or on disk but of the blocks at work."""
    options: dict[str, Any] = {"numbered": True, "min_voxels": MIN_VOXELS}
    small = (SMALL,) * 3
    labels(
        RepeatedVessels(small), None, HashedTarget(small, np.uint32), block=SMALL // 2, **options
    )
    target, volume = HashedTarget(shape, np.uint32), RepeatedVessels(shape)
    with MemoryPeak() as peak, ThreadPoolExecutor(workers) as pool:
        begin = perf_counter()
        run = labels(volume, None, target, block=block, client=pool, **options)
        seconds = perf_counter() - begin
    work = f"labels, blocks {'x'.join(map(str, block))}"
    work += "" if workers == 1 else f", {workers} at a time"
    more = {"blocks": run.blocks, "components": run.components, **run.seconds}
    more["estimated"] = workers * run.need.task_memory / 1e6
    return row(shape, work, seconds, peak, **more), target.hash


def skeleton_in_memory(shape: Shape) -> Row:
    """The skeleton of the whole, and its hash."""
    found = _labels_of_the_whole(RepeatedVessels(shape).whole) > 0
    _warm_up()
    with MemoryPeak() as peak:
        begin = perf_counter()
        skeleton = skeletonize(found, options=LEVEL)
        seconds = perf_counter() - begin
    more = {"components": skeleton.report["components"]}
    return row(shape, "skeleton, whole in memory", seconds, peak, **more), hash_of(skeleton)


def labels_on_disk(shape: Shape, place: Path) -> ComponentTable | None:
    """Write numbered labels to a file; the table of components."""
    volume, block = RepeatedVessels(shape), min(LABEL_BLOCK, *shape)
    return labels(volume, None, place, block=block, numbered=True, min_voxels=MIN_VOXELS).table


def skeleton_by_components(shape: Shape, place: Path, table: ComponentTable) -> Row:
    """The same from numbered labels in a file, with one component in memory at a time."""
    _warm_up()
    found = _LabelsOnDisk(place, shape)
    with MemoryPeak() as peak:
        begin = perf_counter()
        skeleton = skeletonize_components(found, *table, options=LEVEL)
        seconds = perf_counter() - begin
    more = {"components": skeleton.report["components"]}
    return row(shape, "skeleton, by components", seconds, peak, **more), hash_of(skeleton)


class _LabelsOnDisk:
    """A file that is mapped only while a box is read: mapped pages would count as memory."""

    dtype = np.dtype(np.uint32)

    def __init__(self, place: Path, shape: Shape) -> None:
        self._place, self.shape = place, shape

    def __getitem__(self, box: tuple[slice, ...]) -> np.ndarray:
        return np.array(np.load(self._place, mmap_mode="r")[box])


def _warm_up() -> None:
    ball = np.zeros((24, 24, 60), bool)
    ball[4:20, 4:20, 4:56] = True
    skeletonize(ball, options=LEVEL)


def hash_of(skeleton: CurveSkeleton) -> int:
    """Of all voxels, points and radii, to the last bit."""
    digest = hashlib.blake2b(skeleton.voxels.astype(np.int64).tobytes(), digest_size=8)
    for node in skeleton.nodes:
        digest.update(np.array([*node.position, node.radius, node.component]).tobytes())
    for branch in skeleton.branches:
        digest.update(np.column_stack([branch.points, branch.radius]).tobytes())
        digest.update(np.array([branch.start, branch.end, branch.component]).tobytes())
    return int(digest.hexdigest(), 16)


def row(shape: Shape, work: str, seconds: float, peak: MemoryPeak, **more: Any) -> dict[str, Any]:
    """A row of the table of labels."""
    return {
        "volume": "x".join(map(str, shape)),
        "work": work,
        "seconds": seconds,
        "speed": float(np.prod(shape)) / 1e6 / seconds,
        "peak": peak.bytes / 1e6 if peak.bytes is not None else None,
        **more,
    }
