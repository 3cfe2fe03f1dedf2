"""The steps of labels over blocks, one function for each phase; see `steps`."""

from itertools import product

import numpy as np

from FuzzyVesselCoreLib.compilation import prepare_numba
from FuzzyVesselCoreLib.voxels.labels import label_components
from FuzzyVesselCoreLib.voxels.topology import euler_characteristic

from ..partition import Box, Group
from ..steps import changed, checksum_of, naming
from .components.adjoining import joined_pieces
from .components.closing import put_pieces
from .components.numbering import numbered
from .components.pieces import Pieces, measured, pieces_of
from .object_blocks import histogram_of, refuse_values
from .runs.label_job import LabelJob


def count_block(job: LabelJob, group: Group) -> None:
    """The histogram of a block, for the volume curve."""
    box = job.partition.box(group)
    values = job.objects.scene.read(box)
    refuse_values(values, box)
    histogram = histogram_of(values)
    levels = np.flatnonzero(histogram)
    with naming(f"The histogram of block {box}"):
        job.folder.put("counts", group, levels=levels, counts=histogram[levels])


def measure_block(job: LabelJob, group: Group) -> None:
    """The block's part of the Euler characteristic of the object.

    The block is read with a margin of one voxel at its upper faces. What two such boxes share is
    the cells of the voxels in the layer that both have, so that layer is subtracted; and so on
    where layers cross (inclusion and exclusion).
    """
    box, shape = job.partition.box(group), job.partition.shape
    k, j, i = (min(stop + 1, size) for stop, size in zip(box.stop, shape))
    found = job.objects.read(Box(box.start, (k, j, i)))[0].view(bool)
    shared = [axis for axis in range(3) if box.stop[axis] < shape[axis]]
    total = 0
    for layers in product(*([(), (axis,)] for axis in shared)):
        part = found
        for (axis,) in filter(None, layers):
            part = part.take([-1], axis)
        total += (-1) ** sum(map(len, layers)) * euler_characteristic(part, job.progress)
    with naming(f"The Euler characteristic of block {box}"):
        job.folder.put("counts", group, characteristic=total)


def label_block(job: LabelJob, group: Group) -> None:
    """First pass: the pieces of a block."""
    box = job.partition.box(group)
    labels, count, checksum = _labelled(job, group)
    found, inside = job.partition.faces_inside(box, labels)
    pieces = measured(labels, count, box, job.partition.shape, box.flat_indices(job.seeds))
    own = labels.reshape(-1)[inside].astype(np.int64) - 1
    put_pieces(job, group, pieces, np.arange(count), found, own, checksum)


def join_group(job: LabelJob, group: Group) -> None:
    """The pieces of a group, from those on the faces of its members."""
    partition, members = job.partition, job.partition.members(group)
    records = [job.folder.get("pieces", member) for member in members]
    tables = [Pieces.of(record["pieces"]) for record in records]
    first = np.cumsum([0, *(table.sizes.size for table in tables)])
    voxels = np.concatenate([record["faces"][0] for record in records])
    own = np.concatenate([record["faces"][1] + at for record, at in zip(records, first)])
    order = np.argsort(voxels, kind="stable")
    voxels, own = voxels[order], own[order]
    job.progress.check()
    over = job.objects.connectivity
    joined, count = joined_pieces(voxels, own, int(first[-1]), partition.shape, over)
    pieces = pieces_of(tables).joined(joined, count)
    box = partition.box(group)
    outer = partition.on_inner_faces(voxels, box, box)
    put_pieces(job, group, pieces, joined, voxels[outer], joined[own[outer]])


def spread_group(job: LabelJob, group: Group) -> None:
    """The numbers of the pieces on the faces of a group's members."""
    numbers, start = _numbers(job, group), 0
    for member in job.partition.members(group):
        count = job.folder.get("pieces", member)["pieces"].shape[0]
        with naming(f"The numbers of the pieces in {job.partition.box(member)}"):
            job.folder.put("numbers", member, numbers=numbers[start : start + count])
        start += count


def write_block(job: LabelJob, group: Group) -> None:
    """Second pass: the labels of a block's voxels, written to the target."""
    box = job.partition.box(group)
    labels, _count, checksum = _labelled(job, group)
    if not np.array_equal(job.folder.get("pieces", group)["checksum"], checksum):
        raise changed(job, box)
    numbers = np.concatenate([[0], _numbers(job, group)])
    result = numbered(labels, numbers.astype(job.target.voxel_type))
    with naming(f"Block {box} of the target"):
        job.target.write(box, result)
        job.folder.put_done(group, checksum_of(result))


def check_block(job: LabelJob, group: Group) -> None:
    """Refuse a scene or a mask that is another than in the first pass."""
    box = job.partition.box(group)
    if not np.array_equal(job.folder.get("pieces", group)["checksum"], job.objects.read(box)[1]):
        raise changed(job, box)


def _labelled(job: LabelJob, group: Group) -> tuple[np.ndarray, int, np.ndarray]:
    """The components of a block's object, their number, and the checksum of what was read."""
    prepare_numba()
    found, checksum = job.objects.read(job.partition.box(group))
    job.progress.check()
    over = job.objects.connectivity
    return *label_components(found.view(bool), over, progress=job.progress), checksum


def _numbers(job: LabelJob, group: Group) -> np.ndarray:
    """What each label of a block, or each open piece of a group's members, gets; 0: left out."""
    record = job.folder.get("pieces", group)
    opened = np.zeros(0, np.int64)
    if group.level < job.partition.levels:
        opened = job.folder.get("numbers", group)["numbers"]
    if job.lists:
        closed = job.folder.get("kept", group)["numbers"]
    else:
        closed = np.ones(int(job.folder.get("closed", group)["totals"][0]), np.int64)
    return np.concatenate([opened, closed, [0]])[record["of"]]  # DROPPED is the last one
