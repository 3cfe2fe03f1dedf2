"""JIT warm-up: numba's code is compiled, or loaded from its cache, before the first run.

Loading takes two seconds, and compiling up to a minute where that was never done on the machine:
a thread works on a small object, and meanwhile a process compiles from the middle of a run on.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.compiling_processes import compiling_beside, is_cached
from FuzzyVesselCoreLib.jit.warm_up import WarmUp
from FuzzyVesselCoreLib.progress import Progress

SPACING = (1.5, 1.0, 1.0)
LATER_STAGES = f"{__name__}:try_out_later_stages"


def prepare() -> None:
    """Compile or load, in the background, what skeletons need; does nothing the second time."""
    WARM_UP.begin()


def wait_for_warm_up(progress: Progress) -> None:
    """Wait until the warm-up has ended, if one was begun; the progress is checked."""
    WARM_UP.wait(progress)


def _compile_or_load() -> None:
    from .graph.radii import fill_radii  # among the last functions of a run

    with compiling_beside(() if is_cached(fill_radii) else (LATER_STAGES,)):
        try_out()


WARM_UP = WarmUp(_compile_or_load)


def try_out() -> None:
    """Skeletons of a small object, by all ways that have compiled code of their own."""
    from .assembly import assemble
    from .options import SkeletonOptions

    for charge_distance in (None, 2):
        options = SkeletonOptions(
            level=3, charge_distance=charge_distance, device="cpu", drop_islands=27,
            close_tunnels=2.0,
        )  # fmt: skip
        assemble(small_object(), SPACING, options, Progress())
    cross_a_gap()


def try_out_later_stages() -> None:
    """A run from the curves on: its forces and critical points are made up, not computed."""
    from .component import skeletonize_component
    from .cpu_component_volumes import CpuComponentVolumes
    from .critical_points.critical_points import ATTRACTOR, SADDLE_1, CriticalPoint
    from .field.tiles import Tiles
    from .graph.radii import radius_at
    from .graph.skeleton_graph import skeleton_graph
    from .object.voxel_classes import INNER
    from .options import SkeletonOptions
    from .stages import Stages

    mask = small_cross()
    middle = np.array(mask.shape) // 2

    class MadeUp(CpuComponentVolumes):
        def euler_characteristic(self, progress: Progress) -> int:
            return 1

        def compute_field(self, charge_distance: int, progress: Progress) -> tuple[str, ...]:
            away = np.stack(list(np.indices(self.shape)), axis=-1) - (middle + 0.25)
            forces = np.ascontiguousarray(np.where(mask[..., None], -away, 0), np.float32)
            classes = np.where(mask, np.uint8(INNER), np.uint8(0))
            nothing: Any = SimpleNamespace(vectors=forces, classes=classes)
            self._found, self._forces = nothing, forces
            self.field = Tiles.whole(forces, classes)
            return ()

        def critical_points(self, progress: Progress) -> list[CriticalPoint]:
            places = ((ATTRACTOR, middle + 0.25), (SADDLE_1, middle + np.array([0, 0, 5.0])))
            turn = np.array([-1.0, -1.0, 1.0]), np.eye(3)
            return [CriticalPoint(place, kind, *turn) for kind, place in places]

    options, progress = SkeletonOptions(level=3, charge_distance=1, device="cpu"), Progress()
    volumes: Any = MadeUp(mask, SPACING, options)
    found = skeletonize_component(volumes, options, Stages(progress))
    label = np.ones(len(found.voxels), int)
    labels = mask.astype(np.int32)

    def radii(points: np.ndarray) -> np.ndarray:
        return radius_at(points, labels, SPACING, progress)

    skeleton_graph(found.voxels, found.positions, label, mask, radii, progress)
    cross_a_gap()


def cross_a_gap() -> None:
    """A path from a curve's end to a skeleton, which the small object does not need."""
    from .field.tiles import Tiles
    from .thinning.gap_paths import gap_paths
    from .thinning.thinning import empty_states

    mask = small_cross()
    row = np.arange(mask.size).reshape(mask.shape)[4, 9]
    depths = Tiles.whole(mask.astype(np.float32))
    gap_paths(row[3:6], row[16:19], row[18:19], depths, empty_states(mask.shape), Progress())


def small_object() -> np.ndarray:
    """Return a ball with a cavity, a bent branch, a ring and an island (bool, K, J, I)."""
    k, j, i = np.indices((34, 40, 56))
    ball = (k - 16) ** 2 + (j - 14) ** 2 + (i - 14) ** 2 <= 81
    cavity = (k - 16) ** 2 + (j - 10) ** 2 + (i - 9) ** 2 <= 2
    branch = (k - 16 - i // 9) ** 2 + (j - 14) ** 2 <= 9
    across = np.hypot(j - 26, i - 40)
    ring = (k - 20) ** 2 + (across - 9) ** 2 <= 12
    island = (k <= 1) & (j <= 1) & (i <= 1)
    return (ball & ~cavity) | (branch & (i > 10) & (i < 54)) | ring | island


def small_cross() -> np.ndarray:
    """Return two bars that cross (bool, K, J, I); so few voxels that SciPy finds distances."""
    k, j, i = np.indices((9, 19, 23))
    along_i = (abs(k - 4) <= 2) & (abs(j - 9) <= 2) & (i > 0) & (i < 22)
    along_j = (abs(k - 4) <= 1) & (abs(i - 11) <= 1) & (j > 0) & (j < 18)
    return along_i | along_j
