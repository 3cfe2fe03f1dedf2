"""Exactness under random load: every solver and device gives the same values, bit for bit."""

from contextlib import ExitStack, contextmanager
from importlib import import_module
from unittest.mock import patch

import numpy as np

from FuzzyConnectedGPULib import connectedness
from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers import CPU_MODULES, CUDA_MODULES
from FuzzyConnectedGPULib.solvers.cuda.contraction import reached_tiles
from FuzzyVesselCoreLib.progress import Progress
from support.widest_paths import connectedness_by_definition, grid_pairs

from .random_volumes import random_problem
from .tally import Finding

# The kernels run on the CPU a hundred times slower than on a card: they get smaller volumes, of
# several tiles along each axis (of 8 x 8 x 16 voxels).
EVERY_NTH_ON_KERNELS, LARGEST_ON_KERNELS = 4, 20
MOST_BY_DEFINITION = 150  # voxels
# The others are as published, with error voxels.
EXACT_ON_CUDA = [name for name in CUDA_MODULES if not name.startswith("cuda-")]


class Part:
    """Each case is a random volume, solved by all that claim to be exact.

    Beside each other they are compared with what follows from the definition: for tiny volumes
    directly, for all others by each pair of neighbours, across which nothing may be left to raise.
    """

    def __init__(self, options):
        self._seed = options.seed
        self._on_card = options.device == "cuda"
        self._leave = ExitStack()
        self._played = []
        self.voxels = 0

    def __enter__(self):
        if not self._on_card:
            from emulators.cuda import EmulatedDevice, what_is_missing

            self._missing = what_is_missing()
            if not self._missing:
                for order in ("ascending", "descending"):
                    self._played.append(self._leave.enter_context(EmulatedDevice(order)))
        return self

    def __exit__(self, *_):
        self._leave.close()

    def check(self, number):
        """Solve case `number` in every way; raise `Finding` where two results differ."""
        rng = np.random.default_rng([self._seed, number])
        on_kernels = self._played and number % EVERY_NTH_ON_KERNELS == 0
        given = random_problem(rng, LARGEST_ON_KERNELS if on_kernels else 40)
        problem = state_problem(
            given.volume, given.seeds, given.affinity, cut=given.cut, mask=given.mask
        )
        found = {name: _levels(module, problem) for name, module in CPU_MODULES.items()}
        if on_kernels:
            with _as_if_large(number // EVERY_NTH_ON_KERNELS):
                for device in self._played:
                    for name in EXACT_ON_CUDA:
                        module = CUDA_MODULES[name]
                        found[f"{name}, {device.name}"] = _levels(module, problem, device)
        self.voxels += given.volume.size
        _compare(found, given)
        _check_pairs(found["dial"], problem)
        if len(given.seeds) > 1:
            _check_further_seeds(given)
        if given.volume.size <= MOST_BY_DEFINITION:
            _check_definition(found["dial"], problem)
        if self._on_card:
            with _as_if_large(number):
                self._check_card(given)
        return "equal, kernels too" if on_kernels else "equal"

    def notes(self):
        """How many voxels were compared, and on what."""
        what = "with the card" if self._on_card else "on the CPU"
        yield f"{self.voxels:,} voxels {what}"
        if not self._on_card and self._missing:
            yield f"without the CUDA kernels: {self._missing}"

    def _check_card(self, given):
        found = {"cpu": _bits(given, device="cpu")}
        for name in EXACT_ON_CUDA:
            found[f"{name} on the card"] = _bits(given, solver=name, device="cuda")
        _compare(found, given)


@contextmanager
def _as_if_large(number):
    """In every other case, what contraction does with large volumes only: the search for reached
    tiles however dense the volume is."""
    if number % 2:
        yield
        return
    with patch.object(reached_tiles, "DENSE", 2.0):
        yield


def _bits(given, **options):
    """The float32 values of a run as integers: also zeros with a sign would differ."""
    arguments = given.volume, given.seeds, given.affinity
    scene = connectedness(*arguments, cut=given.cut, mask=given.mask, **options)
    return scene.values.view(np.uint32)


def _check_further_seeds(given):
    """From the scene of the first seed, the others give the scene of all."""
    first = connectedness(
        given.volume, given.seeds[:1], given.affinity, cut=given.cut, mask=given.mask, device="cpu"
    )
    found = {"all seeds": _bits(given, device="cpu")}
    for solver in ("exact", "dial"):
        found[f"{solver}, further seeds"] = _bits(given, solver=solver, device="cpu", start=first)
    _compare(found, given)


def _levels(module, problem, *device):
    solver = import_module(f"FuzzyConnectedGPULib.solvers.{module}")
    found = solver.solve(problem, Progress(), *device)[0]
    return device[0].get(found) if device else found


def _compare(found, given):
    (first, wanted), *others = found.items()
    for name, levels in others:
        wrong = np.count_nonzero(levels != wanted)
        if wrong:
            raise Finding(
                f"{wrong} of {wanted.size} voxels differ, {name} from {first}: {_of(given)}"
            )


def _affinities(problem):
    """The affinity level of each pair of 6-neighbours, 0 where no path may pass, and the pairs."""
    voxels = problem.voxels.ravel()
    first, second = grid_pairs(problem.voxels.shape)
    levels = problem.affinity(voxels[first], voxels[second])
    open_ = levels >= problem.cut_level
    if problem.mask is not None:
        inside = problem.mask.ravel() > 0
        open_ &= inside[first] & inside[second]
    return np.where(open_, levels, 0), first, second


def _check_pairs(levels, problem):
    affinities, first, second = _affinities(problem)
    levels = levels.ravel()
    if (levels[problem.seeds] != 65535).any():
        raise Finding("a seed has not the highest value")
    for one, other in ((first, second), (second, first)):
        low = np.minimum(levels[one], affinities) > levels[other]
        if low.any():
            raise Finding(f"{np.count_nonzero(low)} pairs of voxels could still be raised")


def _check_definition(levels, problem):
    affinities, *_ = _affinities(problem)
    wanted = connectedness_by_definition(levels.shape, affinities, problem.seeds)
    wanted.ravel()[problem.seeds] = 65535
    wrong = np.count_nonzero(wanted != levels)
    if wrong:
        raise Finding(f"{wrong} of {levels.size} voxels differ from the definition")


def _of(given):
    return (
        f"{given.volume.dtype} {given.volume.shape}, {len(given.seeds)} seeds, cut {given.cut:g}, "
        f"{'a' if given.mask is not None else 'no'} mask, {given.affinity}"
    )
