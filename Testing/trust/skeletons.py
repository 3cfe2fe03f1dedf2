"""The skeleton's guarantees on random solids, checked from outside with code of its own."""

import numpy as np
from scipy import ndimage

from PotentialSkeletonLib import skeletonize

from .random_solids import random_solid
from .tally import Finding

CUBE = np.ones((3, 3, 3), bool)


class Part:
    """Each case is a random solid: its skeleton has to be connected, inside, thin, with its cycles.

    The outcome says whether traced curves had to be joined.
    """

    def __init__(self, options):
        self._seed = options.seed
        self._device = options.device
        self.joins = self.solids_with_joins = self.solids = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def check(self, number):
        """Take the skeleton of case `number`; raise `Finding` where a guarantee does not hold."""
        rng = np.random.default_rng([self._seed, number])
        solid = random_solid(rng)
        spacing = tuple(rng.choice([0.5, 1.0, 1.0, 1.7], 3))
        options = dict(level=int(rng.integers(1, 4)), device=self._device)
        skeleton = skeletonize(solid, spacing, **options)
        check_guarantees(skeleton, solid)
        if number % 10 == 0:
            _check_same(skeleton, skeletonize(solid, spacing, **options))
        joins = skeleton.report["joins"]
        self.solids += 1
        self.joins += joins
        self.solids_with_joins += joins > 0
        return "with joins" if joins else "without joins"

    def notes(self):
        """The share of solids in which traced curves had to be joined."""
        if self.solids:
            share = self.solids_with_joins / self.solids
            yield f"joins in {share:.1%} of {self.solids} solids, {self.joins} in all"


def check_guarantees(skeleton, solid):
    """Raise `Finding` unless the skeleton of a solid is what every skeleton must be."""
    filled = ndimage.binary_fill_holes(np.pad(solid, 1))[1:-1, 1:-1, 1:-1]
    voxels = skeleton.to_labelmap() > 0
    _require(not (voxels & ~filled).any(), "voxels outside of the object")
    pieces, count = ndimage.label(filled, CUBE)
    _require(ndimage.label(voxels, CUBE)[1] == count, f"not one piece for each of {count} pieces")
    _require(np.unique(pieces[voxels]).size == count, "a piece without a skeleton")
    cycles = cycle_count(filled)
    for number, box in enumerate(ndimage.find_objects(pieces), 1):
        own = pieces[box] == number
        wanted, held = cycle_count(own), cycle_count(own & voxels[box])
        _require(wanted == held, f"{held} cycles of voxels for {wanted} of piece {number}")
    in_graph = len(skeleton.branches) - len(skeleton.nodes) + count
    _require(in_graph == cycles, f"{in_graph} cycles in the graph for {cycles}")
    _require(not _thick(voxels), "a block of 2 x 2 x 2 voxels")
    _check_branches(skeleton, filled)
    wrong = [name for name, held in skeleton.report["guarantees"].items() if not held]
    _require(not wrong, f"its own report says that it is not: {', '.join(wrong)}")


def _check_branches(skeleton, filled):
    for branch in skeleton.branches:
        places = tuple(np.rint(branch.points).astype(int).T)
        _require(filled[places].all(), "a branch outside of the object")
        steps = np.linalg.norm(np.diff(branch.points, axis=0), axis=1)
        _require(steps.min() > 0, "a branch that stands still")
        _require((branch.radius > 0).all(), "a radius that is not positive")
        for node, point in ((branch.start, branch.points[0]), (branch.end, branch.points[-1])):
            _require(np.array_equal(skeleton.nodes[node].position, point), "a branch off its node")


def cycle_count(solid):
    """First Betti number of an object without cavities, with 26-neighbours.

    The voxels are closed cubes: the Euler characteristic is corners - edges + faces - cubes, and
    components - cycles + cavities, too.
    """
    solid = np.pad(solid, 1)
    cavities = ndimage.label(~solid)[1] - 1
    characteristic = 0
    for axes in ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        cells = solid
        for axis in axes:
            # Of the two cubes that share a side, edge or corner one suffices.
            front = np.take(cells, range(cells.shape[axis] - 1), axis)
            cells = front | np.take(cells, range(1, cells.shape[axis]), axis)
        characteristic += (-1) ** (3 - len(axes)) * int(cells.sum())
    return ndimage.label(solid, CUBE)[1] + cavities - characteristic


def _thick(voxels):
    block = voxels
    for axis in range(3):
        if block.shape[axis] < 2:
            return False
        front = np.take(block, range(block.shape[axis] - 1), axis)
        block = front & np.take(block, range(1, block.shape[axis]), axis)
    return block.any()


def _check_same(first, second):
    same = len(first.branches) == len(second.branches) and np.array_equal(
        first.voxels, second.voxels
    )
    same = same and all(
        np.array_equal(a.points, b.points) for a, b in zip(first.branches, second.branches)
    )
    _require(same, "two runs give two skeletons")


def _require(held, otherwise):
    if not held:
        raise Finding(otherwise)
