"""Voxels that no vessel has go to the vessel that is the fewest steps away, over 26 neighbours."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.neighbourhood import rows_around

from ..contrast.live.packed_voxels import WORD, row_of
from ..relative.disputed import joined
from ..relative.groups import DISPUTED, NOBODY


def share_unowned(owners: np.ndarray, domain: np.ndarray, progress: Progress) -> np.ndarray:
    """Give voxels of a domain that nobody has to the vessel that is the fewest steps away.

    Parameters
    ----------
    owners : ndarray, uint8, shape (K, J, I)
    domain : ndarray of bool, same shape
        Steps over 26 neighbours stay in it.
    progress : Progress

    Returns
    -------
    ndarray, uint8, same shape
        `DISPUTED` where two vessels are equally near; `NOBODY` outside of the domain, and where
        no vessel is reached.

    Examples
    --------
    >>> owners = np.array([[[1, 0, 0, 2, 0, 0]]], np.uint8)
    >>> domain = np.array([[[True, True, True, True, True, False]]])
    >>> share_unowned(owners, domain, Progress()).tolist()
    [[[1, 1, 2, 2, 2, 0]]]
    """
    owners = np.where(domain, owners, NOBODY).astype(np.uint8)
    voxels = np.flatnonzero(domain & (owners == NOBODY))
    share_listed(voxels, owners, np.zeros(-(-owners.size // WORD), np.uint64), progress)
    return owners


def share_listed(
    voxels: np.ndarray, owners: np.ndarray, bits: np.ndarray, progress: Progress
) -> None:
    """The same for listed voxels, in place; steps stay in them.

    Parameters
    ----------
    voxels : ndarray, int64
        Flat indices of voxels that nobody has.
    owners : ndarray, uint8, shape (K, J, I)
        When cancelled, some voxels of the list may have got an owner.
    bits : ndarray, uint64
        One for each voxel of the volume, all 0; they are so again.
    progress : Progress
    """
    if voxels.size:
        progress.wait_for(_share, voxels, owners.reshape(-1), owners.shape, bits)


@compiled
def _share(voxels, owners, shape, bits, stop):
    # Breadth first: found[begin:end] are equally many steps away, those behind them one more. Bits
    # are the voxels that wait: those of a round wait until its end, as another owner may come.
    for voxel in voxels:
        bits[voxel >> 6] |= np.uint64(1) << np.uint64(voxel & 63)
    found, count = np.empty(voxels.size, np.int64), 0
    for voxel in voxels:
        if owners[voxel] != NOBODY:
            continue  # it is listed twice
        owner = np.uint8(NOBODY)
        planes, rows, low, span = rows_around(voxel, shape)
        for k in range(*planes):
            for j in range(*rows):
                first = (k * shape[1] + j) * shape[2] + low
                others = ~row_of(first, span, bits) & np.uint64((1 << span) - 1)
                while others:
                    other = owners[first]
                    if others & np.uint64(1) and other != DISPUTED:
                        owner = joined(owner, other)
                    others >>= np.uint64(1)
                    first += 1
        if owner != NOBODY:
            owners[voxel] = owner
            found[count] = voxel
            count += 1
    begin = 0
    while begin < count and not stop[0]:
        end = count
        for n in range(begin, end):
            bits[found[n] >> 6] &= ~(np.uint64(1) << np.uint64(found[n] & 63))
        for n in range(begin, end):
            owner = owners[found[n]]
            planes, rows, low, span = rows_around(found[n], shape)
            for k in range(*planes):
                for j in range(*rows):
                    first = (k * shape[1] + j) * shape[2] + low
                    waiting = row_of(first, span, bits)
                    while waiting:
                        if waiting & np.uint64(1):
                            if owners[first] == NOBODY:
                                found[count] = first
                                count += 1
                            owners[first] = joined(owners[first], owner)
                        waiting >>= np.uint64(1)
                        first += 1
        begin = end
    for voxel in voxels:
        bits[voxel >> 6] = 0
