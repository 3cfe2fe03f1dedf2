"""Public entry point: fuzzy connectedness over blocks."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import StepFolder, folder_lock
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity import GaussianAffinity
from ..fuzzy_connectedness import SolverOptions, solve_problem
from ..input_validation import VOXEL_TYPES, checked_seeds
from ..problem import SMALL_INTEGERS, Problem, level_of_cut
from ..scene import level_values
from ..solvers.blocks import node_values, sorted_by_level
from .blocks import Box, Partition, Volume, cannot_write, create, face_forest, run_tasks, said

TARGET_TYPES = ("uint16", "float32")
UNFINISHED = ".unfinished"
BLOCK_BYTES = 28  # of a voxel of a block
CONTRACTED, JOINED = 0.5, 0.55  # shares of the progress


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What all runs over blocks can be told.

    Attributes
    ----------
    block : int or three of them
        Voxels of a block along each axis, or along K, J, I. The result does not depend on it.
    cut : float
        Affinities below it count as 0; an automatic threshold is not below it.
    folder : str, Path or None
        Where intermediate results are kept, and those of an interrupted run are found; all workers
        must reach it. By default beside the target's path, else a temporary folder.
    missing_chunks : {"fill", "error"}
        zarr stores no chunk that holds the fill value alone: "fill" takes one without a file as
        such (the run says how many), "error" refuses it.
    memory_limit : int or None
        Bytes that one task may need; a run that needs more is refused before it begins.

    Raises
    ------
    InputError
        An option is invalid.
    """

    block: int | Sequence[int] = 256
    cut: float = 0.0
    folder: str | Path | None = None
    missing_chunks: str = "fill"
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        block = self.block_shape
        if len(block) != 3 or any(not isinstance(n, Integral) or n < 1 for n in block):
            raise InputError(f"The block is {self.block!r}, but must be one or three integers > 0.")
        if self.missing_chunks not in ("fill", "error"):
            raise InputError(f"missing_chunks is {self.missing_chunks!r}; choose fill or error.")

    @property
    def block_shape(self) -> tuple[int, ...]:
        """K, J, I."""
        return (self.block,) * 3 if not isinstance(self.block, Sequence) else tuple(self.block)

    def partition_of(self, shape: tuple[int, ...], voxel_bytes: int) -> Partition:
        """The blocks of a volume; `InputError` if a task would need more than the limit."""
        block = tuple(min(int(b), n) for b, n in zip(self.block_shape, shape))
        need = int(np.prod(block, dtype=object)) * (BLOCK_BYTES + voxel_bytes)
        if self.memory_limit is not None and need > self.memory_limit:
            raise InputError(
                f"A block of {block} voxels needs up to {need / 1e9:.3g} GB, above the limit of "
                f"{self.memory_limit / 1e9:.3g} GB: give smaller blocks."
            )
        return Partition(shape, block)


@dataclass(frozen=True, kw_only=True)
class BlockOptions(RunOptions):
    """How to compute connectedness over blocks; more in `RunOptions`.

    Attributes
    ----------
    target_type : {"uint16", "float32"}
        Of a target that is a path: levels 0..65535, or values 0..1 (``level / 65535``).
    device : str
        "auto", "cpu", "cuda" or "cuda:1": of the exact solver, block by block.

    Examples
    --------
    >>> BlockOptions(block=64).block_shape
    (64, 64, 64)
    """

    target_type: str = "uint16"
    device: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target_type not in TARGET_TYPES:
            raise InputError(f"The target's type {self.target_type!r} is not uint16 or float32.")


@dataclass(frozen=True)
class BlockRun:
    """How connectedness over blocks was computed.

    Attributes
    ----------
    blocks : int
    seconds : dict of str to float
        Of the phases "forests", "join" and "finish".
    computed : dict of str to int
        Blocks that a phase computed; fewer than there are in a run that was resumed.
    missing_chunks : int
        Chunks of the source that have no file and count as the fill value.
    """

    blocks: int
    seconds: dict[str, float]
    computed: dict[str, int]
    missing_chunks: int = 0


class RunFolder(StepFolder):
    """The forest of each block, the levels of its face voxels, and which blocks are written."""

    KINDS: ClassVar[tuple[str, ...]] = ("forest", "faces", "done")


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share."""

    source: Volume
    mask: Volume | None
    target: Volume
    seeds: np.ndarray
    affinity: GaussianAffinity
    cut_level: int
    partition: Partition
    folder: RunFolder
    device: str

    def problem(self, box: Box) -> tuple[Problem, str]:
        """A block with the seeds in it, and a checksum of what was read."""
        voxels = self.source.read(box)
        mask = None if self.mask is None else (self.mask.read(box) != 0).view(np.uint8)
        digest = hashlib.blake2b(voxels.data, digest_size=16)
        if mask is not None:
            digest.update(mask)
        if voxels.dtype.kind == "f" and not (np.abs(voxels) <= np.finfo(np.float32).max).all():
            raise InputError(
                f"The source has voxels that are not finite float32 numbers in the block "
                f"{said(box)}: replace them."
            )
        if voxels.dtype.type not in (*SMALL_INTEGERS, np.float32):
            voxels = voxels.astype(np.float32)
        start, stop = ([getattr(s, end) for s in box] for end in ("start", "stop"))
        own = self.seeds[((self.seeds >= start) & (self.seeds < stop)).all(axis=1)]
        flat = np.unique(np.ravel_multi_index((own - start).T, voxels.shape)).astype(np.int64)
        if mask is not None:
            flat = flat[mask.ravel()[flat] > 0]
        return Problem(voxels, self.affinity, flat, mask, self.cut_level), digest.hexdigest()

    def face_voxels(self, box: Box, mask: np.ndarray | None) -> np.ndarray:
        """Flat indices in a block of its face voxels inside the mask, sorted."""
        faces = self.partition.faces(box)
        return np.flatnonzero(faces if mask is None else faces & (mask > 0))


def connectedness(
    source: Any,
    seeds: np.ndarray | Sequence,
    affinity: GaussianAffinity,
    target: Any,
    *,
    mask: Any = None,
    client: Any = None,
    progress: Progress | ProgressCallback | None = None,
    options: BlockOptions | None = None,
    **keywords: Any,
) -> BlockRun:
    """Connectedness of a volume that need not fit in memory, written to a target.

    Equals `FuzzyConnectedGPULib.connectedness` bit for bit, whatever the blocks; see the package's
    docstring. An interrupted run is resumed if it is called again with the same inputs and a
    target that is a path, or with ``folder``.

    Parameters
    ----------
    source : path or array, shape (K, J, I)
        zarr array, OME-NGFF image or .npy file; or an array of NumPy, zarr or Dask.
    seeds : array_like, shape (n, 3), integers K, J, I
    affinity : GaussianAffinity
    target : path or array
        A path must not exist; it is made, as zarr array or .npy file. Or an array of NumPy or
        zarr, of uint16 (levels, 65535 for the seeds) or float32 (values).
    mask : path or array, optional
        As `source`; paths stay where it is not 0.
    client : optional
        What Dask takes as scheduler: a client, an executor, `CardProcesses`, "threads". By default
        one block after the other. A block uses all cores or a card, so few tasks at a time do.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.
    options : BlockOptions, optional
    **keywords
        Fields of `BlockOptions`.

    Returns
    -------
    BlockRun

    Raises
    ------
    InputError
        An input is invalid; the message names the block.
    Cancelled
        `progress` returned False; finished blocks are kept as after an error.

    Examples
    --------
    >>> volume = np.array([[[100, 100, 0, 100]]], np.int16)
    >>> affinity = GaussianAffinity(mean=100, sigma=10, gradient_sigma=10)
    >>> values = np.empty(volume.shape, np.float32)
    >>> connectedness(volume, [[0, 0, 0]], affinity, values, block=(1, 1, 2)).blocks
    2
    >>> values
    array([[[1., 1., 0., 0.]]], dtype=float32)
    """
    options = BlockOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    volume, region = Volume(source, "source"), None if mask is None else Volume(mask, "mask")
    points, missing = _checked(volume, region, seeds, affinity, options)
    partition = options.partition_of(volume.shape, volume.dtype.itemsize)
    cut_level = level_of_cut(options.cut)
    manifest = {
        "source": volume.fingerprint(), "mask": region and region.fingerprint(),
        "seeds": np.unique(points, axis=0).tolist(), "affinity": asdict(affinity),
        "cut": cut_level, "block": list(partition.block),
    }  # fmt: skip
    with output(target, partition, options, TARGET_TYPES, RunFolder, manifest) as (written, folder):
        job = Job(
            volume, region, written, points, affinity, cut_level, partition, folder, options.device
        )
        seconds, computed = _run(job, client, progress)
    progress.advance(1.0)
    return BlockRun(len(partition.boxes), seconds, computed, missing)


def _checked(
    volume: Volume, region: Volume | None, seeds: Any, affinity: Any, options: RunOptions
) -> tuple[np.ndarray, int]:
    """The seeds, if all inputs are valid, and how many chunks of the source have no file."""
    if volume.dtype.name not in VOXEL_TYPES:
        raise InputError(
            f"The source has voxels of {volume.dtype.name}; convert it to one of "
            f"{', '.join(VOXEL_TYPES)}."
        )
    if not isinstance(affinity, GaussianAffinity):
        raise InputError(f"The affinity is {affinity!r}, but must be a GaussianAffinity.")
    points = checked_seeds(seeds, volume.shape)
    if region is not None:
        if region.shape != volume.shape:
            raise InputError(
                f"The mask has shape {region.shape}, the volume {volume.shape}; they must agree."
            )
        voxels = [tuple(slice(n, n + 1) for n in seed) for seed in points.tolist()]
        if not any(region.read(voxel).any() for voxel in voxels):
            raise InputError(
                "Every seed lies outside the mask: place a seed inside it, or choose another mask."
            )
    return points, refuse_missing(volume, options)


def refuse_missing(volume: Volume, options: RunOptions) -> int:
    """How many chunks have no file; `InputError` where that is an error."""
    missing = volume.missing_chunks()
    if missing and options.missing_chunks == "error":
        raise InputError(
            f"The {volume.name} has no file for {len(missing)} chunks, the first {missing[0]}: "
            "copy it again, or take them as the fill value (missing_chunks='fill')."
        )
    return len(missing)


@contextmanager
def output(
    target: Any,
    partition: Partition,
    options: Any,
    types: Sequence[str],
    kind: type,
    manifest: dict,
    make: Any = create,
) -> Iterator[tuple[Volume, Any]]:
    """Where a run writes, and its folder, which belongs to it alone.

    A target that is a path is written in the folder and moved at the end: complete or absent.
    """
    final = Path(target).absolute() if isinstance(target, str | Path) else None
    if final is not None and final.exists():
        raise InputError(f"The target {final} exists: name another, or delete it first.")
    given = None if final is not None else _given_target(target, partition, types)
    place = options.folder or (final and final.with_name(final.name + UNFINISHED))
    temporary = "" if place else tempfile.mkdtemp(prefix="connectedness-")
    folder = kind(Path(place or temporary).absolute())
    dtype = options.target_type if given is None else given.dtype.name
    try:
        with folder_lock(folder.path):
            folder.begin(manifest | {"target": dtype})
            if given is not None:
                yield given, folder
            elif final is not None:
                array = folder.path / final.name
                _begin_array(array, folder, partition, dtype, make)
                yield Volume(array, "target", writable=True), folder
                if final.exists():
                    raise InputError(
                        f"The target {final} was made by another program during the run; the "
                        f"result is {array}."
                    )
                array.rename(final)
            folder.remove()
    except OSError as error:
        raise cannot_write(f"The folder {folder.path}", error) from error
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


def _given_target(target: Any, partition: Partition, types: Sequence[str]) -> Volume:
    written = Volume(target, "target", writable=True)
    if written.shape != partition.shape or written.dtype.name not in types:
        raise InputError(
            f"The target has shape {written.shape} and type {written.dtype.name}; the shape of the "
            f"source, {partition.shape}, and {' or '.join(types)} are needed."
        )
    chunks: Any = getattr(target, "shards", None) or getattr(target, "chunks", None)
    if hasattr(target, "metadata") and any(
        b % c and b < n for b, c, n in zip(partition.block, chunks[-3:], partition.shape)
    ):
        raise InputError(
            f"Blocks of {partition.block} voxels do not consist of whole chunks of the target, "
            f"{chunks}: two tasks would write one chunk. Give a multiple as the block."
        )
    return written


def _begin_array(path: Path, folder: Any, partition: Partition, dtype: str, make: Any) -> None:
    """Make the array, unless an interrupted run has written blocks of it."""
    done = list(folder.path.glob("done-*"))
    if path.exists() and done:
        return
    for each in done:
        each.unlink()
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    make(path, partition, dtype)


def _run(job: Job, client: Any, progress: Progress) -> tuple[dict[str, float], dict[str, int]]:
    """The three phases; what an interrupted run has finished is not done again."""
    times, computed = [perf_counter()], {}
    numbers = range(len(job.partition.boxes))
    if len(numbers) > 1 and not job.folder.has("faces", "all"):
        wanted = [(job, n) for n in numbers if not job.folder.has("forest", n)]
        run_tasks(contract_block, wanted, client, progress.part(0.0, CONTRACTED))
        computed["forests"] = len(wanted)
        times.append(perf_counter())
        levels, firsts = join_forests(job)
        job.folder.put("faces", "all", levels=levels, firsts=firsts)
        times.append(perf_counter())
    wanted = [(job, n) for n in numbers if not job.folder.has("done", n)]
    begin = JOINED if len(numbers) > 1 else 0.0
    run_tasks(finish_block, wanted, client, progress.part(begin, 1.0))
    computed["finish"] = len(wanted)
    times.append(perf_counter())
    names = ("forests", "join", "finish") if len(times) > 2 else ("finish",)
    return dict(zip(names, np.diff(times).tolist())), computed


def contract_block(job: Job, number: int) -> None:
    """First pass: the spanning forest of a block's face voxels."""
    box = job.partition.boxes[number]
    problem, checksum = job.problem(box)
    inside = job.face_voxels(box, problem.mask)
    ends, found = face_forest(problem, inside)
    job.folder.put(
        "forest", number, inside=inside, values=problem.voxels.ravel()[inside], ends=ends,
        levels=found, checksum=np.array(checksum),
    )  # fmt: skip


def join_forests(job: Job) -> tuple[np.ndarray, np.ndarray]:
    """The levels of all face voxels, and the number of each block's first one."""
    boxes = job.partition.boxes
    records = [job.folder.get("forest", n) for n in range(len(boxes))]
    firsts = np.cumsum([0] + [record["inside"].size for record in records])
    source = int(firsts[-1])
    edges = []
    for first, record in zip(firsts, records):
        ends = record["ends"].astype(firsts.dtype)
        ends = np.where(ends == record["inside"].size, source, ends + first)
        edges.append((*ends.T, record["levels"]))
    floor = max(job.cut_level, 1)
    for one, other, axis in job.partition.neighbours():
        pair = [
            _plane(records[n], boxes[n], axis, last) for n, last in ((one, True), (other, False))
        ]
        (places, at), (others, there) = pair
        _, mine, its = np.intersect1d(places, others, assume_unique=True, return_indices=True)
        mine, its = at[mine], there[its]
        found = job.affinity.levels(records[one]["values"][mine], records[other]["values"][its])
        strong = found >= floor
        mine, its = mine[strong] + firsts[one], its[strong] + firsts[other]
        edges.append((mine, its, found[strong].astype(np.uint16)))
    return node_values(sorted_by_level(edges), source, Progress())[:-1], firsts


def _plane(record: dict, box: Box, axis: int, last: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places in the common plane of a block's face voxels on one side, and their numbers."""
    shape = [s.stop - s.start for s in box]
    places = list(np.unravel_index(record["inside"], shape))
    own = np.flatnonzero(places.pop(axis) == (shape[axis] - 1 if last else 0))
    del shape[axis]
    return places[0][own] * shape[1] + places[1][own], own


def finish_block(job: Job, number: int) -> None:
    """Second pass: the levels of a block's voxels, written to the target."""
    box = job.partition.boxes[number]
    problem, checksum = job.problem(box)
    if len(job.partition.boxes) > 1:
        record = job.folder.get("forest", number)
        if str(record["checksum"]) != checksum:
            raise InputError(
                f"The source or the mask changed during the run, in the block {said(box)}: begin "
                "again, with a source that does not change."
            )
        faces = job.folder.get("faces", "all")
        inside, first = record["inside"], faces["firsts"][number]
        levels = faces["levels"][first : first + inside.size]
        new = (levels > 0) & ~np.isin(inside, problem.seeds)
        seeds = np.concatenate([problem.seeds, inside[new]])
        levels = np.concatenate([problem.first_seed_levels, levels[new]])
        order = np.argsort(seeds)
        problem = replace(problem, seeds=seeds[order], seed_levels=levels[order])
    shape = problem.voxels.shape
    found = np.zeros(shape, np.uint16)
    if problem.seeds.size:
        scene, *_rest = solve_problem(problem, SolverOptions(device=job.device), Progress.of(None))
        found = scene.levels
    job.target.write(box, level_values(found) if job.target.dtype.kind == "f" else found)
    job.folder.put("done", number)


class CardProcesses(ProcessPoolExecutor):
    """An executor for `connectedness`: a process for each card, one task at a time in each.

    The processes are spawned: a script that uses it needs ``if __name__ == "__main__":``.

    Parameters
    ----------
    cards : sequence of int, optional
        Ordinals; by default all.

    Examples
    --------
    >>> with CardProcesses() as client:  # doctest: +SKIP
    ...     connectedness("scan.zarr", seeds, affinity, "scene.zarr", client=client)
    """

    def __init__(self, cards: Sequence[int] | None = None) -> None:
        if cards is None:
            from FuzzyVesselCoreLib.gpu.device import cuda_status

            if reason := cuda_status():
                raise InputError(f"There is no card to start a process for: {reason}")
            import cupy

            cards = range(cupy.cuda.runtime.getDeviceCount())
        context = get_context("spawn")
        queue = context.Queue()
        for card in cards:
            queue.put(card)
        super().__init__(len(cards), context, _use_card, (queue,))


def _use_card(queue: Any) -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = str(queue.get())
