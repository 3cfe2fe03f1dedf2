"""Public entry point: fuzzy connectedness over blocks."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any
from uuid import uuid4

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity import GaussianAffinity
from ..input_errors import VoxelTypeError
from ..input_validation import VOXEL_TYPES, checked_seeds
from ..problem import level_of_cut
from . import steps
from .cuda.cards import TASKS_PER_CARD, card_words
from .needs import RunNeed, require_memory, run_need
from .options import BlockOptions
from .output import Output
from .partition import Box, Group, Partition
from .run_folder import FILES
from .steps import Job
from .stores import Store
from .tasks import run_steps
from .workers import refuse_large, refuse_memory, require_worker_memory

CONTRACTED, MERGED, SOLVED = 0.5, 0.53, 0.56  # shares of the progress when phases are done


@dataclass(frozen=True)
class BlockRun:
    """How connectedness over blocks was computed.

    Attributes
    ----------
    blocks : int
    seconds : dict of str to float
        Of the phases "contract", "merge", "solve" and "finish".
    computed : dict of str to int
        Steps that each phase computed; fewer than there are in a run that went on.
    need : RunNeed
        The estimate of memory and disk space.
    missing_chunks : int
        Chunks of a zarr array that have no file and count as the fill value.
    """

    blocks: int
    seconds: dict[str, float]
    computed: dict[str, int]
    need: RunNeed
    missing_chunks: int = 0


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

    The result equals that of `FuzzyConnectedGPULib.connectedness` bit for bit, for every partition
    into blocks; the package's docstring has the proof. A run that was ended goes on where it
    stopped if it is called again with the same inputs and a target that is a path, or with
    ``folder``.

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
    client : executor, optional
        Client of Dask's scheduler, `CardProcesses`, or an executor of `concurrent.futures`. By
        default one block after the other on the CPU, and two threads for each card. Blocks use all
        cores of a machine, or one card, so one or two tasks for each of them are enough.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.
    options : BlockOptions, optional
    **keywords
        Fields of `BlockOptions`, instead of `options` or to replace some of its fields.

    Returns
    -------
    BlockRun

    Raises
    ------
    InputError
        An input is invalid; the message names the block or the chunk.
    Cancelled
        If `progress` returned False; the blocks that were finished are kept as after an error.

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
    progress.advance(0.0)
    volume = Store.of(source, "source", options.missing_chunks)
    region = None if mask is None else Store.of(mask, "mask")
    partition = options.partition_of(volume.shape)
    points = _checked(volume, region, seeds, affinity, target, client)
    missing_chunks = volume.refuse_missing(points)
    if region is not None:
        region.refuse_missing()
    need = run_need(partition, volume.voxel_type.itemsize)
    require_memory(need, options.memory_limit)
    require_worker_memory(client, need)
    output = Output(target, options, partition)
    with ExitStack() as stack:
        stack.callback(output.close)
        cut_level = level_of_cut(options.cut)
        inputs = volume, region, points, affinity, cut_level, partition
        manifest = _manifest(*inputs, output.type)
        known_files = output.begin(manifest, need) and volume.is_stamped
        volume = volume.begun_in(output.folder)
        region = region and region.begun_in(output.folder)
        job = Job(
            uuid4().hex, volume, region, output.target, *inputs[2:], output.folder, options.device
        )
        refuse_large(client, job)
        if client is None:
            workers = TASKS_PER_CARD * len(card_words(options.device)) or 1
            client = stack.enter_context(ThreadPoolExecutor(workers))
        run = _Run(job, client, need, progress)
        if output.continues:
            run.check(known_files and (region is None or region.is_stamped))
            output.folder.put_manifest(manifest)
        run.work()
        output.finish()
    progress.advance(1.0)
    return BlockRun(len(partition.groups(0)), run.seconds, run.computed, need, missing_chunks)


def _checked(
    volume: Store, region: Store | None, seeds: Any, affinity: Any, target: Any, client: Any
) -> np.ndarray:
    """The seeds, if all inputs are valid."""
    if volume.voxel_type.name not in VOXEL_TYPES:
        raise VoxelTypeError(volume.voxel_type.name, VOXEL_TYPES)
    if not isinstance(affinity, GaussianAffinity):
        raise InputError(f"The affinity is {affinity!r}, but must be a GaussianAffinity.")
    points = checked_seeds(seeds, volume.shape)
    if region is not None:
        _check_mask(region, volume, points)
    inputs = [volume.place] if region is None else [volume.place, region.place]
    refuse_memory(client, [*inputs, target])
    if isinstance(target, np.ndarray) and any(
        isinstance(array, np.ndarray) and np.may_share_memory(array, target) for array in inputs
    ):
        raise InputError("The target is the source or the mask: give another array.")
    return points


def _check_mask(region: Store, volume: Store, seeds: np.ndarray) -> None:
    if region.shape != volume.shape:
        raise InputError(
            f"The mask has shape {region.shape}, the volume {volume.shape}; they must agree."
        )
    for k, j, i in seeds.tolist():
        if region.read(Box((k, j, i), (k + 1, j + 1, i + 1))).any():
            return
    raise InputError(
        "Every seed lies outside the mask: place a seed inside it, or choose another mask."
    )


def _manifest(
    volume: Store,
    region: Store | None,
    seeds: np.ndarray,
    affinity: GaussianAffinity,
    cut_level: int,
    partition: Partition,
    target_type: str,
) -> dict[str, Any]:
    """What a run must agree in with the one that it continues."""
    return {
        "source": [volume.shape, volume.voxel_type.str],
        "mask": region and [region.shape, region.voxel_type.str],
        FILES: [volume.fingerprint(), region and region.fingerprint()],
        "seeds": hashlib.blake2b(np.unique(seeds, axis=0).tobytes(), digest_size=16).hexdigest(),
        "affinity": asdict(affinity),
        "cut": cut_level,
        "block": partition.block,
        "target": target_type,
    }


class _Run:
    """The phases of a run, one after the other."""

    def __init__(self, job: Job, client: Any, need: RunNeed, progress: Progress) -> None:
        self._job, self._client, self._need, self._progress = job, client, need, progress
        self.seconds: dict[str, float] = {}
        self.computed: dict[str, int] = {}

    def work(self) -> None:
        """Do what is not done yet."""
        partition = self._job.partition
        last, blocks = partition.levels, partition.groups(0)
        if last:
            self._do("contract", steps.contract_block, blocks, 0.0, CONTRACTED)
        for level in range(1, last):
            self._do("merge", steps.merge_group, partition.groups(level), CONTRACTED, MERGED)
        for level in range(last, 0, -1):
            self._do("solve", steps.solve_group, partition.groups(level), MERGED, SOLVED)
        self._do("finish", steps.finish_block, blocks, SOLVED if last else 0.0, 1.0)

    def check(self, known_files: bool) -> None:
        """Compare what an earlier run left with the target, and with a source of other files."""
        job, blocks = self._job, self._job.partition.groups(0)
        if not known_files:
            known = [block for block in blocks if job.folder.has("faces", block)]
            self._do("check", steps.check_block, known, 0.0, 0.0)
        known = [block for block in blocks if job.folder.has("done", block)]
        self._do("check", steps.check_result, known, 0.0, 0.0)

    def _do(
        self,
        phase: str,
        step: Callable[[Job, Group], None],
        groups: list[Group],
        start: float,
        end: float,
    ) -> None:
        begin, part = perf_counter(), self._progress.part(start, end)
        missing = [group for group in groups if not steps.is_done(step, self._job, group)]
        run_steps(step, self._job, missing, self._client, part, self._need.task_memory)
        self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - begin
        self.computed[phase] = self.computed.get(phase, 0) + len(missing)
