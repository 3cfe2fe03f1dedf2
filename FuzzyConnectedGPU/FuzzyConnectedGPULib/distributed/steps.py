"""The steps of a run, one function for each phase; every one reads and writes the run's folder.

A step can be computed by any process that reaches the stores and the folder, and twice.
"""

import errno
import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import prepare_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import thread_count
from FuzzyVesselCoreLib.voxels.masks import mask_voxels

from ..affinity import GaussianAffinity, level_values
from ..problem import SMALL_INTEGERS, Problem
from .blocks import face_forest, finished_levels, forest_in, levels_in
from .face_graph import FaceGraph, join, member_levels, merge
from .partition import Box, Group, Partition
from .run_folder import RunFolder
from .stopping import step_progress
from .stores import Store

NONE, NO_LEVELS = np.empty(0, np.int32), np.empty(0, np.uint16)
FEW_SEEDS = 3000  # coordinates that are sent with every task
PART = 8 << 20  # bytes that one thread hashes at a time


@dataclass(frozen=True)
class Job:
    """What all steps of a run share.

    Attributes
    ----------
    run : str
        Name of the run in this process; see `stopping`.
    source, target : Store
    mask : Store or None
    seeds : ndarray, int64, shape (n, 3)
        K, J, I.
    affinity : GaussianAffinity
    cut_level : int
    partition : Partition
    folder : RunFolder
    device : str
        As in `BlockOptions`.
    """

    run: str
    source: Store
    mask: Store | None
    target: Store
    seeds: np.ndarray
    affinity: GaussianAffinity
    cut_level: int
    partition: Partition
    folder: RunFolder
    device: str

    @property
    def floor(self) -> int:
        """The lowest level that counts."""
        return max(self.cut_level, 1)

    @property
    def progress(self) -> Progress:
        """Raises `Cancelled` in a step whose run was ended, in this process or another."""
        return step_progress(self.run, self.folder)

    def part(self, group: Group) -> "Job":
        """What a step needs of it: of many seeds those of its block."""
        if self.seeds.size < FEW_SEEDS:
            return self
        box = self.partition.box(group)
        inside = ((self.seeds >= box.start) & (self.seeds < box.stop)).all(axis=1)
        return replace(self, seeds=self.seeds[inside] if group.level == 0 else self.seeds[:0])


def do(step: Callable[[Job, Group], None], job: Job, group: Group) -> None:
    """Do a step, unless it is done: Dask repeats what a worker had done before it was lost."""
    if not is_done(step, job, group):
        step(job, group)


def is_done(step: Callable[[Job, Group], None], job: Job, group: Group) -> bool:
    """Whether the folder has what a step finds; what only checks is never done."""
    if step in (contract_block, merge_group):
        return job.folder.has("faces", group)
    if step is solve_group:
        return all(job.folder.has("levels", member) for member in job.partition.members(group))
    return step is finish_block and job.folder.has("done", group)


def contract_block(job: Job, group: Group) -> None:
    """First pass: the face graph of a block."""
    prepare_numba()
    box = job.partition.box(group)
    problem, checksum = _problem(job, box)
    faces, inside = job.partition.faces_inside(box, problem.mask)
    forest = face_forest(problem, inside, job.progress, job.device)
    intensities = problem.voxels.ravel()[inside]
    with naming(f"The faces of block {box}"):
        job.folder.put_faces(group, FaceGraph(faces, intensities, *forest, NONE, checksum))


def merge_group(job: Job, group: Group) -> None:
    """The face graph of a group, from those of its members."""
    members = job.partition.members(group)
    box, boxes = job.partition.box(group), [job.partition.box(member) for member in members]
    graphs = _graphs(job, members)
    given = graphs, boxes, box, job.partition, job.affinity, job.floor
    merged = merge(*given, lambda graph, kept: forest_in(graph, kept, job.device))
    with naming(f"The faces of the blocks in {box}"):
        job.folder.put_faces(group, merged)


def solve_group(job: Job, group: Group) -> None:
    """The final levels of the members' face voxels, from those of the group."""
    members = job.partition.members(group)
    boxes = [job.partition.box(member) for member in members]
    graphs = _graphs(job, members)
    graph = join(graphs, boxes, job.partition, job.affinity, job.floor)
    outer, levels = NONE, NO_LEVELS  # the last group has no faces
    if group.level < job.partition.levels:
        outer, levels = job.folder.faces(group).vertices, job.folder.levels(group)
    found = member_levels(graph, outer, levels, lambda graph: levels_in(graph, job.device))
    with naming(f"The levels of the faces in {job.partition.box(group)}"):
        for member, own in zip(members, found):
            job.folder.put_levels(member, own)


def _graphs(job: Job, members: Sequence[Group]) -> list[FaceGraph]:
    with ThreadPoolExecutor(thread_count()) as pool:
        return list(pool.map(job.folder.faces, members))


def finish_block(job: Job, group: Group) -> None:
    """Second pass: the levels of a block's voxels, written to the target."""
    prepare_numba()
    box = job.partition.box(group)
    problem, checksum = _problem(job, box)
    inside, levels = np.empty(0, np.int64), NO_LEVELS
    if job.partition.levels:
        graph = job.folder.faces(group)
        if not np.array_equal(graph.checksum, checksum):
            raise changed(job, box)
        inside, levels = job.partition.in_box(graph.voxels, box), job.folder.levels(group)
    result = as_target(finished_levels(problem, inside, levels, job.progress, job.device), job)
    with naming(f"Block {box} of the target"):
        job.target.write(box, result)
        job.folder.put_done(group, checksum_of(result))


def check_block(job: Job, group: Group) -> None:
    """Refuse a source that is another than in the first pass."""
    box = job.partition.box(group)
    if not np.array_equal(job.folder.faces(group).checksum, _problem(job, box)[1]):
        raise changed(job, box)


def check_result(job: Job, group: Group) -> None:
    """Have a block finished again whose result is no longer what was written."""
    written = job.target.read(job.partition.box(group))
    if not np.array_equal(job.folder.done(group), checksum_of(written)):
        job.folder.forget("done", group)


def changed(job: Any, box: Box) -> InputError:
    """The error of a source that is not what it was."""
    return InputError(
        f"The {'source or the mask' if job.mask else 'source'} changed during the run, in block "
        f"{box}: begin anew, with a source that stays the same."
    )


def as_target(levels: np.ndarray, job: Job) -> np.ndarray:
    """Levels, or values where the target is of floats."""
    return level_values(levels) if job.target.voxel_type.kind == "f" else levels


def checksum_of(*arrays: np.ndarray | None) -> np.ndarray:
    """Checksum (uint8) of the bytes of arrays: that of the checksums of their parts."""
    given = [array for array in arrays if array is not None]
    flat = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in given]
    parts = [part[n : n + PART] for part in flat for n in range(0, part.size, PART)]
    with ThreadPoolExecutor(thread_count()) as pool:
        found = b"".join(pool.map(_digest, parts))
    return np.frombuffer(_digest(found), np.uint8)


def _digest(data: Any) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _problem(job: Job, box: Box) -> tuple[Problem, np.ndarray]:
    """A block with the seeds in it, and the checksum of what was read."""
    voxels = job.source.read(box)
    mask = None if job.mask is None else mask_voxels(job.mask.read(box)).view(np.uint8)
    checksum = checksum_of(voxels, mask)
    if voxels.dtype.kind == "f":
        _refuse_not_finite(voxels, box)
    if voxels.dtype.type not in (*SMALL_INTEGERS, np.float32):
        voxels = voxels.astype(np.float32)
    seeds = box.flat_indices(job.seeds)
    if mask is not None:
        seeds = seeds[mask.ravel()[seeds] > 0]
    return Problem(voxels, job.affinity, seeds, mask, job.cut_level), checksum


def _refuse_not_finite(voxels: np.ndarray, box: Box) -> None:
    limit = np.finfo(np.float32).max
    with np.errstate(invalid="ignore"):
        if voxels.min() >= -limit and voxels.max() <= limit:  # NaN compares as False
            return
        wrong = ~(np.abs(voxels) <= limit)
    at = np.argwhere(wrong)[0]
    k, j, i = at + box.start
    raise InputError(
        f"The source's block {box} has {np.count_nonzero(wrong)} voxels that are not finite "
        f"float32 numbers, the first {voxels[tuple(at)]} at I,J,K = {i},{j},{k}: replace them."
    )


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Name what could not be written."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        way_out = "free some space and run the same again" if full else "run the same again"
        raise InputError(
            f"{what} cannot be written: {error.strerror or error}; {way_out}, finished blocks "
            "are kept."
        ) from error
