"""Repeatability: the same run gives the same bits, on every device."""

import hashlib

import numpy as np
from scipy import ndimage

from FuzzyConnectedGPULib import SOLVERS
from FuzzyConnectedGPULib.segmentation import segment
from FuzzyConnectedGPULib.solvers import CPU_MODULES
from PotentialSkeletonLib import force_field, skeletonize

from .tally import Finding


class Part:
    """Each case is the same work once more; its results are compared with the first ones', by bits.

    With a card the connectedness is compared with the CPU's, too.
    """

    def __init__(self, options):
        self._device = options.device
        self._rng_seed = options.seed
        self._first = None

    def __enter__(self):
        rng = np.random.default_rng(self._rng_seed)
        noise = ndimage.gaussian_filter(rng.normal(0, 1, (40, 48, 56)), 2)
        self._solid = noise > 0.03
        scan = np.where(self._solid, 200, 100) + rng.normal(0, 12, noise.shape)
        self._volume = scan.astype(np.int16)
        self._seeds = np.argwhere(self._solid)[::4000]
        return self

    def __exit__(self, *_):
        pass

    def check(self, number):
        """Do it once more; raise `Finding` where a bit differs from the first time."""
        found = dict(self._work(self._device))
        if self._first is None:
            self._first = found
            if self._device != "cpu":
                on_cpu = dict(self._work("cpu"))
                exact = {name: found[name] for name in found if name.startswith("connectedness")}
                self._compare(exact, on_cpu, "CPU and card")
        self._compare(found, self._first, f"run {number}")
        return "the same bits"

    def _work(self, device):
        """Names and digests of everything that comes out."""
        solvers = [name for name in SOLVERS if name in CPU_MODULES]
        for solver in solvers if device == "cpu" else ["exact"]:
            done = segment(self._volume, self._seeds, solver=solver, device=device)
            yield f"connectedness by {solver}", _digest(done.scene.values)
            yield f"connectedness by {solver}: labels", _digest(done.labels)
        yield "field", _digest(force_field(self._solid, device=device).vectors)
        skeleton = skeletonize(self._solid, level=3, device=device)
        yield "skeleton", _digest(skeleton.voxels)
        points = [branch.points for branch in skeleton.branches]
        radii = [branch.radius for branch in skeleton.branches]
        yield "centrelines", _digest(*points, *radii)

    def _compare(self, found, wanted, where):
        for name, digest in found.items():
            if wanted[name] != digest:
                raise Finding(f"{where}: {name} differs")


def _digest(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
