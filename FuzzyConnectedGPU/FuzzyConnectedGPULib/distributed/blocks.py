"""The partition of a volume into blocks, arrays that are read and written by blocks, and tasks."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from FuzzyConnectedGPULib.problem import Problem
from FuzzyConnectedGPULib.solvers import blocks
from FuzzyConnectedGPULib.solvers.block_trees import find_root
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.zarr_guard import (
    attributes_of,
    check_chunk,
    image_of,
    open_array,
    path_inside,
    read_json,
)
from FuzzyVesselCoreLib.progress import Progress


def face_forest(problem: Problem, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The forest's edges: ends (int32, n, 2) and levels (uint16); see the package's docstring.

    An end is the place of a face voxel in `inside` (flat indices, sorted), or their count for the
    source.
    """
    trees = blocks.Trees(replace(problem, seeds=np.union1d(inside, problem.seeds)))
    try:
        trees.grow(Progress())
        edges = trees.node_edges(problem.seeds, problem.first_seed_levels, Progress())
    finally:
        trees.shut_down()
    numbers = np.full(trees.node_count + 1, -1, np.int32)
    numbers[trees.nodes_of(inside)] = np.arange(inside.size)
    numbers[-1] = inside.size
    return _spanning_forest(*edges, numbers)


@njit(cache=True, nogil=True)
def _spanning_forest(nodes: Any, others: Any, levels: Any, numbers: Any) -> Any:
    """Edges between numbered nodes (-1: none), from sorted edges between all of them (Kruskal).

    Afterwards `numbers` has those of the components.
    """
    parent = np.arange(numbers.size).astype(np.int32)
    most = np.count_nonzero(numbers >= 0)
    ends, found, count = np.empty((most, 2), np.int32), np.empty(most, np.uint16), 0
    for n in range(levels.size):
        one, other = find_root(parent, nodes[n]), find_root(parent, others[n])
        if one == other:
            continue
        if numbers[one] >= 0 and numbers[other] >= 0:
            ends[count, 0], ends[count, 1], found[count] = numbers[one], numbers[other], levels[n]
            count += 1
        parent[other] = one
        numbers[one] = max(numbers[one], numbers[other])
    return ends[:count], found[:count]


Box = tuple[slice, ...]
MAX_CHUNK = 128  # voxels along an axis of a chunk of a new zarr array
BATCH = 4  # tasks for each worker between two looks at progress


@dataclass(frozen=True)
class Partition:
    """Blocks of `block` voxels (fewer at the end of an axis) of a volume of `shape` (K, J, I)."""

    shape: tuple[int, ...]
    block: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of blocks along K, J, I."""
        return tuple(-(-n // b) for n, b in zip(self.shape, self.block))

    @property
    def boxes(self) -> list[Box]:
        """The blocks, in the order K, J, I."""
        spans = (
            [slice(a, min(a + b, n)) for a in range(0, n, b)]
            for n, b in zip(self.shape, self.block)
        )
        return [(k, j, i) for k, j, i in product(*spans)]

    def faces(self, box: Box) -> np.ndarray:
        """Which voxels of a block (bool, of its shape) have a neighbour in another block."""
        found = np.zeros([s.stop - s.start for s in box], bool)
        for axis, (span, length) in enumerate(zip(box, self.shape)):
            along = np.moveaxis(found, axis, 0)
            along[0] |= span.start > 0
            along[-1] |= span.stop < length
        return found

    def neighbours(self) -> Iterable[tuple[int, int, int]]:
        """Pairs of adjacent blocks, by number, and the axis along which they follow."""
        numbers = np.arange(math.prod(self.counts)).reshape(self.counts)
        for axis in range(3):
            along = np.moveaxis(numbers, axis, 0)
            for one, other in zip(along[:-1].ravel().tolist(), along[1:].ravel().tolist()):
                yield one, other, axis


def said(box: Box) -> str:
    """A box in words."""
    return ", ".join(f"{name} {s.start}:{s.stop}" for name, s in zip("KJI", box))


class Volume:
    """An array of K, J, I that a task opens where it runs.

    `place` is a zarr array, OME-NGFF image (its first resolution) or .npy file by its path, or an
    array of NumPy, zarr or Dask; axes before K have length 1. `name` is what it is in messages.
    `InputError` where it cannot be opened, or is no volume.
    """

    def __init__(self, place: Any, name: str, writable: bool = False) -> None:
        if isinstance(place, str | Path) and "://" not in str(place):
            place = str(Path(place).absolute())  # a worker may run in another folder
        self.place, self.name, self.writable = place, name, writable
        self._array: Any = None
        full = tuple(getattr(self.array, "shape", ()))
        if len(full) < 3 or set(full[:-3]) - {1} or 0 in full:
            raise InputError(
                f"The {name} has shape {full}; K x J x I voxels are needed (axes before them must "
                "have length 1: choose the channel and the time first)."
            )
        self.shape: tuple[int, ...] = tuple(map(int, full[-3:]))
        self.dtype = np.dtype(self.array.dtype)
        self._lead = (0,) * (len(full) - 3)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | ({"_array": None} if isinstance(self.place, str) else {})

    @property
    def array(self) -> Any:
        """The array, opened once in each process."""
        if self._array is None:
            is_path = isinstance(self.place, str)
            self._array = _opened(self.place, self.name, self.writable) if is_path else self.place
        return self._array

    @property
    def folder(self) -> Path | None:
        """Where a zarr array lies in a folder of this machine."""
        store = getattr(self.array, "store", None)
        root = getattr(store, "root", None)
        return Path(root) / self.array.path if root is not None else None

    def read(self, box: Box) -> np.ndarray:
        """The voxels of a box, C-contiguous, in native byte order; `InputError` names it."""
        try:
            if self.folder is not None and isinstance(self.place, str):
                for key in self._chunk_names(box):
                    check_chunk(self.folder, key, self.array)
            values = self.array[(*self._lead, *box)]
            values = values.compute(scheduler="threads") if hasattr(values, "compute") else values
            values = np.asarray(values)
            return np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"The {self.name} cannot be read in the block {said(box)}: "
                f"{type(error).__name__}: {error}. Write it again; finished blocks are kept."
            ) from error

    def write(self, box: Box, values: np.ndarray) -> None:
        """Write the values of a box."""
        try:
            self.array[(*self._lead, *box)] = values
            if hasattr(self.array, "flush"):
                self.array.flush()
        except OSError as error:
            raise cannot_write(f"Block {said(box)} of the {self.name}", error) from error

    def _chunk_names(self, box: Box) -> Iterable[str]:
        sizes = (getattr(self.array, "shards", None) or self.array.chunks)[-3:]
        spans = [range(s.start // n, -(-s.stop // n)) for s, n in zip(box, sizes)]
        for index in product(*spans):
            yield self.array.metadata.encode_chunk_key((*self._lead, *index))

    def missing_chunks(self) -> list[str]:
        """Names of the chunks of a zarr array in a folder that have no file: of the fill value."""
        if self.folder is None:
            return []
        every = tuple(slice(0, n) for n in self.shape)
        return [n for n in self._chunk_names(every) if not (self.folder / n).exists()]  # type: ignore[arg-type]

    def fingerprint(self) -> list:
        """Shape, type and, of a file, its size and time: what a run must agree in."""
        found = [list(self.shape), self.dtype.str]
        if isinstance(self.place, str) and Path(self.place).is_file():
            status = Path(self.place).stat()
            found += [status.st_size, status.st_mtime_ns]
        return found


def cannot_write(what: str, error: OSError) -> InputError:
    """The error of a disk that is full, or that cannot be written."""
    return InputError(
        f"{what} cannot be written: {error.strerror or error}; free some space or choose another "
        "disk, and run the same again: finished blocks are kept."
    )


def _opened(path: str, name: str, writable: bool) -> Any:
    if not Path(path).exists() and "://" not in path:
        raise InputError(f"The {name} {path} does not exist.")
    try:
        if path.endswith(".npy"):
            return np.load(path, mmap_mode="r+" if writable else "r")
        if Path(path).is_file() and not path.endswith(".zip"):
            raise ValueError("it is a file of another kind: give a Zarr folder or a .npy file")
        import zarr

        folder = Path(path)
        if folder.is_dir():
            content = read_json(folder / "zarr.json") if (folder / "zarr.json").exists() else {}
            if not (folder / ".zarray").exists() and content.get("node_type") != "array":
                folder = folder / _first_resolution(attributes_of(folder))
            return open_array(folder, "r+" if writable else "r")
        found = zarr.open(str(folder), mode="r+" if writable else "r")
        return found if hasattr(found, "shape") else found[_first_resolution(dict(found.attrs))]
    except ModuleNotFoundError as error:
        raise InputError(f"{path} needs zarr: pip install 'zarr>=3', or give an array.") from error
    except Exception as error:
        raise InputError(f"The {name} {path} cannot be opened: {error}.") from error


def _first_resolution(attributes: dict) -> str:
    images = image_of(attributes).get("multiscales")
    if not images:
        raise ValueError("it is a group without OME-NGFF's multiscales: name the array in it")
    return str(path_inside(images[0]["datasets"][0]["path"]))


def create(path: Path, partition: Partition, dtype: Any, attributes: dict | None = None) -> None:
    """Create an array of zeros: a .npy file, or a zarr array whose chunks divide the blocks."""
    if path.suffix == ".npy":
        np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=partition.shape).flush()
        return
    import zarr

    chunks = tuple(
        max(n for n in range(1, min(b, MAX_CHUNK) + 1) if b % n == 0) if b < length else min(b, 128)
        for b, length in zip(partition.block, partition.shape)
    )
    zarr.create_array(
        str(path), shape=partition.shape, dtype=np.dtype(dtype).name, chunks=chunks, fill_value=0,
        attributes=attributes or {}, dimension_names=["z", "y", "x"],
    )  # fmt: skip


def run_tasks(
    work: Callable[..., Any], tasks: Sequence[tuple], client: Any, progress: Progress
) -> list:
    """The results of ``work(*task)`` for each task, by Dask's scheduler.

    `work` is a function of a module, so that other processes can call it; `client` is what Dask
    takes as scheduler (a client, an executor such as `CardProcesses`, "threads"); None: one task at
    a time, here. A run that is cancelled ends after a few tasks.
    """
    progress.advance(0.0)
    if client is None:
        found = []
        for number, task in enumerate(tasks, 1):
            found.append(work(*task))
            progress.advance(number / len(tasks))
        return found
    try:
        import dask
    except ModuleNotFoundError as error:
        raise InputError("Several workers need Dask: pip install 'dask[distributed]'.") from error
    if hasattr(client, "nthreads"):  # of dask.distributed
        workers = sum(client.nthreads().values())
    else:
        workers = getattr(client, "_max_workers", None) or os.cpu_count() or 1
    width = BATCH * max(workers, 1)
    found = []
    for first in range(0, len(tasks), width):
        batch = [dask.delayed(work, pure=False)(*task) for task in tasks[first : first + width]]
        found += dask.compute(*batch, scheduler=client)
        progress.advance(min(first + width, len(tasks)) / len(tasks))
    return found
