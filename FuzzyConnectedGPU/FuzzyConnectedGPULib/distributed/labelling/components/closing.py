"""Pieces that no neighbour can add to are components of the volume: kept, or left out."""

import numpy as np

from ...partition import Group
from ...steps import naming
from ..runs.label_job import LabelJob
from .pieces import Pieces

DROPPED = -1  # a component that is left out


def put_pieces(
    job: LabelJob,
    group: Group,
    pieces: Pieces,
    of: np.ndarray,
    voxels: np.ndarray,
    own: np.ndarray,
    checksum: np.ndarray | None = None,
) -> None:
    """Keep the pieces of a block or a group.

    Those that have a voxel on the group's faces are open and come first; the others are components
    of the volume, and are dropped or closed.

    Parameters
    ----------
    job, group
    pieces : Pieces
    of : ndarray of int, (n,)
        The piece of each label of a block, or of each open piece of a group's members.
    voxels, own : ndarray of int64
        Face voxels and the piece of each.
    checksum : ndarray, optional
    """
    is_open = np.zeros(pieces.sizes.size, bool)
    is_open[own] = True
    opened, closed = np.flatnonzero(is_open), np.flatnonzero(~is_open & _kept(job, pieces))
    if job.options.components == "largest" and closed.size > 1:
        closed = closed[[largest(pieces.take(closed))]]
    number = np.full(pieces.sizes.size, DROPPED, np.int64)
    number[opened] = np.arange(opened.size)
    number[closed] = opened.size + np.arange(closed.size)
    whole = pieces.take(closed)
    totals = np.array([closed.size, whole.sizes.sum()], np.int64)
    ended = pieces.sizes[~is_open]
    found = np.array([ended.size, ended.max(initial=0)], np.int64)
    listed = whole if job.lists else pieces.take(closed[:0])
    record = {"pieces": pieces.take(opened).packed, "of": number[of]}
    record["faces"] = np.stack([voxels, number[own]])
    if checksum is not None:
        record["checksum"] = checksum
    with naming(f"The pieces of {job.partition.box(group)}"):
        job.folder.put("closed", group, totals=totals, found=found, pieces=listed.packed)
        job.folder.put("pieces", group, **record)


def _kept(job: LabelJob, pieces: Pieces) -> np.ndarray:
    """Which pieces (bool) would be taken if they were components of the volume."""
    if job.objects.inverse:  # what touches the volume's border is the outside, and no cavity
        inside = (pieces.low > 0) & (pieces.high < job.partition.shape)
        return np.asarray(inside.all(axis=1))
    kept = pieces.sizes >= job.options.min_voxels
    return kept & pieces.seeded if job.options.components == "seeds" else kept


def largest(pieces: Pieces) -> int:
    """The largest piece; of several as large the one whose first voxel comes first."""
    return int(np.lexsort((pieces.firsts, -pieces.sizes))[0])
