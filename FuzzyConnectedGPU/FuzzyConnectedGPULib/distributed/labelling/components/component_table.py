"""The components of the result: which are taken, and the number of each."""

from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress

from ...steps import naming
from ..runs.label_job import LabelJob
from ..runs.label_options import NUMBER_TYPE
from .closing import largest
from .pieces import Pieces, pieces_of


class Totals(NamedTuple):
    """What was counted.

    Attributes
    ----------
    components, voxels : int
        Of the result.
    found, largest : int
        Components of the object before any was left out, and voxels of the largest.
    """

    components: int
    voxels: int
    found: int
    largest: int


class ComponentTable(NamedTuple):
    """Components by number, from 1; row 0 is component 1.

    Attributes
    ----------
    sizes : ndarray of int64, (n,)
        Numbers of voxels.
    low, high : ndarray of int64, (n, 3)
        First voxel and the one after the last, along K, J, I.
    """

    sizes: np.ndarray
    low: np.ndarray
    high: np.ndarray


def numbered_components(job: LabelJob, progress: Progress) -> tuple[ComponentTable, Totals]:
    """Number the components that were closed in any group, and keep the numbers for the groups.

    Components are listed only if they are to be numbered, or the largest is looked for.

    Returns
    -------
    table : ComponentTable
        Of those that were listed.
    totals : Totals
    """
    partition = job.partition
    levels = range(partition.levels + 1)
    groups = [group for level in levels for group in partition.groups(level)]
    tables, totals, count, most = [], np.zeros(2, np.int64), 0, 0
    for group in groups:
        progress.check()
        record = job.folder.get("closed", group)
        totals += record["totals"]
        ended, size = record["found"].tolist()
        count, most = count + ended, max(most, size)
        tables.append(Pieces.of(record["pieces"]))
    found = pieces_of(tables)
    numbers = np.zeros(found.sizes.size, np.int64)
    if job.options.components == "largest" and found.sizes.size:
        chosen = np.array([largest(found)])
        totals = np.array([1, found.sizes[chosen[0]]])
    else:
        chosen = np.argsort(found.firsts)
    if job.options.numbered and chosen.size > np.iinfo(NUMBER_TYPE).max:
        raise InputError(
            f"There are {chosen.size} components, more than {NUMBER_TYPE} numbers: give a larger "
            "min_voxels."
        )
    numbers[chosen] = np.arange(1, chosen.size + 1)
    if job.lists:
        ends = np.cumsum([table.sizes.size for table in tables])
        for group, part in zip(groups, np.split(numbers, ends[:-1])):
            progress.check()
            with naming(f"The numbers of components in {partition.box(group)}"):
                job.folder.put("kept", group, numbers=part)
    listed = ComponentTable(found.sizes[chosen], found.low[chosen], found.high[chosen])
    return listed, Totals(int(totals[0]), int(totals[1]), count, most)
