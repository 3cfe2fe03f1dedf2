"""Labels of a scene larger than memory, exact, block by block.

*Object.* Whether a voxel reaches the threshold depends on it alone; a round of filling gaps looks
one voxel far, so a block with a margin of as many voxels as there are rounds has the volume's.
*Components.* Each block is labelled; labels of object voxels on faces between blocks that touch are
joined. Sizes, boxes and first voxels are sums, minima and maxima over a component's parts, so every
partition gives the labels of the whole, numbered by first voxels in the order K, J, I.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import StepFolder
from FuzzyVesselCoreLib.files.zarr_guard import attributes_of, image_of
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..input_validation import checked_seeds
from ..scene import (
    TOP_LEVEL,
    check_rounds,
    check_threshold,
    curve_of,
    fill_gaps,
    level_histogram,
    level_values,
    lowest_value,
)
from ..thresholds import next_above, raised, threshold_of_curve
from .blocks import Box, Partition, Volume, create, run_tasks, said
from .connectedness import RunOptions, output, refuse_missing

SCENE_TYPES = ("uint16", "float32")
MASK_TYPES = ("bool", "uint8", "uint32", "uint64", "int8", "int32", "int64")
COMPONENTS = ("all", "largest", "seeds")
IMAGE_SUFFIX, NGFF_VERSION = ".ome.zarr", "0.5"
NEIGHBOURS = np.ones((3, 3, 3), bool)  # 26-connected
NOWHERE = np.empty((0, 3), np.int64)


@dataclass(frozen=True, kw_only=True)
class LabelOptions(RunOptions):
    """How to make labels over blocks; more in `RunOptions`, whose cut is that of the scene.

    Attributes
    ----------
    components : {"all", "largest", "seeds"}
        Which 26-connected components are taken: all, the largest (of several as large the first),
        or those in which a seed lies.
    min_voxels : int
        Smaller components are left out.
    numbered : bool
        Whether each component has a number of its own (uint32, from 1, by first voxels), and the
        run lists them; else the object is 1 (uint8).
    fill_gaps : int
        Rounds in which gaps are filled, as in `SegmentOptions`.

    Examples
    --------
    >>> LabelOptions(components="largest", block=64).target_type
    'uint8'
    """

    components: str = "all"
    min_voxels: int = 1
    numbered: bool = False
    fill_gaps: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components not in COMPONENTS:
            raise InputError(
                f"The components are {self.components!r}; choose {', '.join(COMPONENTS)}."
            )
        if not isinstance(self.min_voxels, int) or self.min_voxels < 1:
            raise InputError(f"min_voxels is {self.min_voxels!r}, but must be an integer > 0.")
        check_rounds(self.fill_gaps)

    @property
    def target_type(self) -> str:
        """Of the target's voxels."""
        return "uint32" if self.numbered else "uint8"


class ComponentTable(NamedTuple):
    """Components in the order of their numbers: voxels (n,), first voxel and the one after the
    last of each box (n, 3), K, J, I."""

    sizes: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class LabelRun:
    """What labels over blocks consist of, and how they were made.

    Attributes
    ----------
    threshold : AutomaticThreshold, float or None
        None for a labelmap.
    components, voxels : int
        Of the result.
    table : ComponentTable or None
        Of numbered components.
    blocks : int
    seconds : dict of str to float
        Of the phases "threshold", "label" and "write".
    found, largest : int
        Components of the object before any was left out, and voxels of the largest.
    missing_chunks : int
        Chunks of the scene that have no file and count as the fill value.
    """

    threshold: float | None
    components: int
    voxels: int
    table: ComponentTable | None
    blocks: int
    seconds: dict[str, float]
    found: int
    largest: int
    missing_chunks: int = 0


class LabelFolder(StepFolder):
    """The parts of each block, and which blocks are written."""

    KINDS: ClassVar[tuple[str, ...]] = ("parts", "done")


@dataclass(frozen=True)
class LabelJob:
    """What all tasks of a run share; `lowest` is the lowest value of the object."""

    scene: Volume
    mask: Volume | None
    target: Volume
    partition: Partition
    folder: LabelFolder
    lowest: float
    rounds: int
    background: np.ndarray
    seeds: np.ndarray

    def numbered(self, box: Box) -> tuple[np.ndarray, int]:
        """The labels of the object in a box, and how many there are."""
        grown = tuple(
            slice(max(s.start - self.rounds, 0), min(s.stop + self.rounds, n))
            for s, n in zip(box, self.scene.shape)
        )
        values = self.scene.read(grown)
        if values.dtype.kind == "f" and not ((values >= 0) & (values <= 1)).all():
            raise InputError(
                f"The scene has voxels that are not within 0..1 in the block {said(box)}: give the "
                "connectedness itself."
            )
        found = (values != 0 if is_labelmap(self.scene) else values >= self.lowest).view(np.uint8)
        if self.rounds:
            region = None if self.mask is None else self.mask.read(grown)
            start = [s.start for s in grown]
            barred = _inside(self.background, start, found.shape) - start
            found = fill_gaps(found, self.rounds, region, barred)
        inner = tuple(slice(s.start - g.start, s.stop - g.start) for s, g in zip(box, grown))
        return ndimage.label(found[inner], NEIGHBOURS)


def _inside(points: Any, start: Any, shape: Sequence[int]) -> np.ndarray:
    stop = np.add(start, shape)
    return points[((points >= start) & (points < stop)).all(axis=1)]


def labels(
    scene: Any,
    threshold: float | None,
    target: Any,
    *,
    seeds: np.ndarray | Sequence | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
    mask: Any = None,
    spacing: Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    client: Any = None,
    progress: Progress | ProgressCallback | None = None,
    options: LabelOptions | None = None,
    **keywords: Any,
) -> LabelRun:
    """Labels of a scene that need not fit in memory, written to a target.

    They equal, bit for bit and for every partition, those of `binarize`, `fill_gaps` and a filter
    of components on the whole. An interrupted run is resumed as in `connectedness`.

    Parameters
    ----------
    scene : path or array, shape (K, J, I)
        What `connectedness` over blocks has written: levels (uint16) or values (float32). Or a
        labelmap, whose object is where it is not 0: of bool, uint8, int8 or integers of 32 and 64
        bits; of 16 bits if it is an OME-NGFF image with "image-label".
    threshold : float or None
        Above 0 and at most 1. None: automatic, from the volume curve and the background seeds; or
        for a labelmap.
    target : path or array
        A path must not exist; it is made: an OME-Zarr label image (.ome.zarr), a zarr array or a
        .npy file. Or an array of NumPy or zarr, of uint8, or uint32 for numbered components.
    seeds : array_like, shape (n, 3), integers K, J, I, optional
        Needed for ``components="seeds"``.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        They raise an automatic threshold, and no gap is filled there.
    mask : path or array, optional
        No gap is filled where it is 0.
    spacing, origin : sequence of 3 float, optional
        Distance of voxels and place of the first one along K, J, I in mm, for an OME-Zarr image.
    client, progress, options, **keywords
        As of `connectedness` over blocks, with the fields of `LabelOptions`.

    Returns
    -------
    LabelRun

    Raises
    ------
    InputError, Cancelled
        As `connectedness` over blocks.

    Examples
    --------
    >>> scene = np.array([[[1, 0.9, 0.2, 0.9]]], np.float32)
    >>> found = np.empty(scene.shape, np.uint8)
    >>> labels(scene, 0.5, found, block=(1, 1, 2), components="largest").voxels
    2
    >>> found
    array([[[1, 1, 0, 0]]], dtype=uint8)
    """
    options = LabelOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    store = checked_scene(scene)
    region = None if mask is None else Volume(mask, "mask")
    points = NOWHERE if seeds is None else checked_seeds(seeds, store.shape)
    barred = NOWHERE
    if background_seeds is not None:
        barred = checked_seeds(background_seeds, store.shape, "background seed")
    _check(store, threshold, region, seeds, options)
    missing = refuse_missing(store, options)
    partition = options.partition_of(store.shape, store.dtype.itemsize)
    manifest = {
        "scene": store.fingerprint(), "mask": region and region.fingerprint(),
        "threshold": None if threshold is None else float(threshold), "seeds": points.tolist(),
        "background seeds": barred.tolist(), "block": list(partition.block),
        "components": options.components, "smallest component": options.min_voxels,
        "filled gaps": options.fill_gaps,
    }  # fmt: skip
    make = partial(create_image, spacing=spacing, origin=origin)
    where = target, partition, options, (options.target_type,), LabelFolder, manifest, make
    with output(*where) as (written, folder):
        times = [perf_counter()]
        if threshold is None and not is_labelmap(store):
            tasks = [(store, box) for box in partition.boxes]
            counts = run_tasks(count_block, tasks, client, progress.part(0.0, 0.2))
            threshold = _automatic(np.sum(counts, axis=0), store, barred, options.cut)
        lowest = 1 if threshold is None else _lowest(store, threshold)
        times.append(perf_counter())
        job = LabelJob(
            store, region, written, partition, folder, lowest, options.fill_gaps, barred, points
        )
        found = find_components(job, client, progress.part(0.2, 0.6))
        numbers, table = _chosen(found, options)
        times.append(perf_counter())
        own = (numbers if options.numbered else numbers > 0)[found.component]
        parts = np.split(own, found.firsts[1:-1])
        left = [n for n in range(len(parts)) if not folder.has("done", n)]
        run_tasks(write_block, [(job, n, parts[n]) for n in left], client, progress.part(0.6, 1.0))
        times.append(perf_counter())
    progress.advance(1.0)
    seconds = dict(zip(("threshold", "label", "write"), np.diff(times).tolist()))
    largest = int(found.sizes.max(initial=0))
    return LabelRun(
        threshold, len(table.sizes), int(table.sizes.sum()), table if options.numbered else None,
        len(partition.boxes), seconds, len(found.sizes), largest, missing,
    )  # fmt: skip


def checked_scene(scene: Any) -> Volume:
    """The volume of a scene or a labelmap; `InputError` if it is of neither's type."""
    volume = Volume(scene, "scene")
    if volume.dtype.name not in SCENE_TYPES and not is_labelmap(volume):
        raise InputError(
            f"The scene's type is {volume.dtype.name}, but must be {' or '.join(SCENE_TYPES)} "
            f"(levels or values of connectedness), or a labelmap's, {', '.join(MASK_TYPES)}: "
            "compute the connectedness of a volume first (by --affinity on the command line)."
        )
    return volume


def is_labelmap(volume: Volume) -> bool:
    """Whether values are numbers of objects: by the type, or because the image says so."""
    if volume.dtype.name in MASK_TYPES:
        return True
    if volume.dtype.kind not in "iu" or not isinstance(volume.place, str):
        return False
    folder = Path(volume.place)
    return folder.is_dir() and "image-label" in image_of(attributes_of(folder))


def _check(
    scene: Volume, threshold: float | None, region: Volume | None, seeds: Any, options: LabelOptions
) -> None:
    check_threshold(threshold, options.cut)
    if threshold is not None and is_labelmap(scene):
        raise InputError(
            f"The threshold is {threshold:g}, but the scene is a labelmap ({scene.dtype}), whose "
            "object is where it is not 0: give None."
        )
    if options.components == "seeds" and seeds is None:
        raise InputError('components is "seeds", but no seeds are given: give seeds, too.')
    if region is not None and region.shape != scene.shape:
        raise InputError(
            f"The mask has shape {region.shape}, the scene {scene.shape}; they must agree."
        )


def _lowest(scene: Volume, threshold: float) -> float:
    lowest = lowest_value(threshold)
    if scene.dtype.kind == "f":
        return float(lowest)
    return int(np.searchsorted(level_values(np.arange(TOP_LEVEL + 1)), lowest))


def create_image(
    path: Path,
    partition: Partition,
    dtype: Any,
    spacing: Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
) -> None:
    """As `create`; an OME-Zarr label image (OME-NGFF 0.5, one resolution) for *.ome.zarr."""
    if not path.name.endswith(IMAGE_SUFFIX):
        create(path, partition, dtype)
        return
    import zarr

    group = zarr.create_group(str(path))
    create(path / "0", partition, dtype)
    scale, at = (
        [float(mm) for mm in given or usual]
        for given, usual in ((spacing, (1, 1, 1)), (origin, (0, 0, 0)))
    )
    placed = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": at}]
    image: dict[str, Any] = {
        "name": path.name.removesuffix(IMAGE_SUFFIX),
        "axes": [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"],
        "datasets": [{"path": "0", "coordinateTransformations": placed}],
    }
    group.attrs["ome"] = {"version": NGFF_VERSION, "multiscales": [image], "image-label": {}}


@dataclass(frozen=True)
class Found:
    """All components of an object: sizes, boxes, first voxels, seeds, and the number (from 0) of
    each part; part n of block b is ``component[firsts[b] + n]``."""

    sizes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first_voxels: np.ndarray
    seeded: np.ndarray
    component: np.ndarray
    firsts: np.ndarray


def find_components(job: LabelJob, client: Any, progress: Progress) -> Found:
    """Label every block, and join the parts over the faces."""
    numbers = range(len(job.partition.boxes))
    wanted = [(job, n) for n in numbers if not job.folder.has("parts", n)]
    run_tasks(label_block, wanted, client, progress)
    records = [job.folder.get("parts", n) for n in numbers]
    firsts = np.cumsum([0] + [record["sizes"].size for record in records])
    total = int(firsts[-1])
    voxels = np.concatenate([record["voxels"] for record in records])
    parts = np.concatenate([r["of"] + first for r, first in zip(records, firsts)])
    pairs = _touching(voxels, parts, job.scene.shape)
    graph = coo_array((np.ones(len(pairs), bool), tuple(pairs.T)), shape=(total, total))
    count, component = connected_components(graph, directed=False) if total else (0, firsts[:0])

    def gathered(name: str, combine: np.ufunc, start: Any) -> np.ndarray:
        every = np.concatenate([record[name] for record in records])
        result = np.full((count, *every.shape[1:]), start, every.dtype)
        combine.at(result, component, every)
        return result

    most = np.iinfo(np.int64).max
    return Found(
        gathered("sizes", np.add, 0), gathered("low", np.minimum, most),
        gathered("high", np.maximum, 0), gathered("first", np.minimum, most),
        gathered("seeded", np.logical_or, False), component, firsts,
    )  # fmt: skip


def label_block(job: LabelJob, number: int) -> None:
    """The parts of a block: sizes, boxes, first voxels, seeds; and the part of each face voxel."""
    box = job.partition.boxes[number]
    start = np.array([s.start for s in box])
    found, count = job.numbered(box)
    boxes = ndimage.find_objects(found)
    low = np.array([[s.start for s in b] for b in boxes], np.int64).reshape(-1, 3) + start
    high = np.array([[s.stop for s in b] for b in boxes], np.int64).reshape(-1, 3) + start
    flat = found.ravel()
    there = np.flatnonzero(flat)
    _, first = np.unique(flat[there], return_index=True)
    seeds = _inside(job.seeds, start, found.shape) - start
    seeded = np.zeros(count + 1, bool)
    seeded[found[tuple(seeds.T)]] = True
    faces = np.flatnonzero(job.partition.faces(box) & (found > 0))
    job.folder.put(
        "parts", number, sizes=np.bincount(flat, minlength=count + 1)[1:], low=low, high=high,
        first=_flat(there[first], box, job.scene.shape), seeded=seeded[1:],
        voxels=_flat(faces, box, job.scene.shape), of=flat[faces].astype(np.int64) - 1,
    )  # fmt: skip


def _flat(inside: np.ndarray, box: Box, shape: tuple[int, ...]) -> np.ndarray:
    """Flat indices in the volume from those in a box."""
    places = np.unravel_index(inside, [s.stop - s.start for s in box])
    return np.ravel_multi_index([place + s.start for place, s in zip(places, box)], shape)


def _touching(voxels: np.ndarray, parts: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Pairs of parts (n, 2) of which face voxels, given by flat indices, are neighbours."""
    order = np.argsort(voxels)
    voxels, parts = voxels[order], parts[order]
    places = np.unravel_index(voxels, shape)
    found = [np.empty((0, 2), np.int64)]
    for step in product((0, 1), (-1, 0, 1), (-1, 0, 1)):
        if step <= (0, 0, 0):
            continue
        there = [place + n for place, n in zip(places, step)]
        ok = np.all([(at >= 0) & (at < n) for at, n in zip(there, shape)], axis=0)
        wanted = np.ravel_multi_index([at[ok] for at in there], shape)
        at = np.searchsorted(voxels[:-1], wanted)
        hit = voxels[at] == wanted
        found.append(np.unique(np.stack([parts[ok][hit], parts[at[hit]]], axis=1), axis=0))
    return np.concatenate(found)


def _chosen(found: Found, options: LabelOptions) -> tuple[np.ndarray, ComponentTable]:
    """The number of each component (0: left out), by first voxels, and the table of the others."""
    kept = found.sizes >= options.min_voxels
    if options.components == "seeds":
        kept &= found.seeded
    chosen = np.flatnonzero(kept)
    if options.components == "largest":
        chosen = chosen[np.lexsort((found.first_voxels[chosen], -found.sizes[chosen]))][:1]
    chosen = chosen[np.argsort(found.first_voxels[chosen])]
    numbers = np.zeros(found.sizes.size, np.int64)
    numbers[chosen] = np.arange(1, chosen.size + 1)
    return numbers, ComponentTable(found.sizes[chosen], found.low[chosen], found.high[chosen])


def write_block(job: LabelJob, number: int, numbers: np.ndarray) -> None:
    """Write the numbers of a block's parts."""
    box = job.partition.boxes[number]
    by_part = np.concatenate([[0], numbers]).astype(job.target.dtype)
    job.target.write(box, by_part[job.numbered(box)[0]])
    job.folder.put("done", number)


def count_block(scene: Volume, box: Box) -> np.ndarray:
    """Numbers of a block's voxels of each level above 0; int64 (65536,)."""
    values = scene.read(box)
    if values.dtype.kind == "f":
        return level_histogram(values)
    return np.bincount(values[values > 0], minlength=TOP_LEVEL + 1)


def _automatic(histogram: np.ndarray, scene: Volume, background: np.ndarray, cut: float) -> float:
    automatic = threshold_of_curve(*curve_of(histogram), math.prod(scene.shape))
    if not background.size:
        return automatic
    voxels = [scene.read(tuple(slice(n, n + 1) for n in seed)) for seed in background.tolist()]  # type: ignore[arg-type]
    found = np.concatenate([voxel.reshape(-1) for voxel in voxels])
    connected = found if found.dtype.kind == "f" else level_values(found)
    return raised(automatic, next_above(connected, background), cut)
