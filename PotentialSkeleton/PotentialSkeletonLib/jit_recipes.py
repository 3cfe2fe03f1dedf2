"""What processes compile of a skeleton's code, each a part of its own: recipes.

A recipe runs some stages on a small object. What the stages before would give it is made up and not
computed: else it would be compiled by several processes.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .component import skeletonize_component
from .cpu_component_volumes import CpuComponentVolumes
from .critical_points.critical_points import ATTRACTOR, SADDLE_1, CriticalPoint
from .endpoints.end_caps.cap_centre import mean_of_box
from .field.tiles import Tiles
from .graph.radii import radius_at
from .graph.skeleton_graph import skeleton_graph
from .jit_warmup import SPACING, small_object
from .object.preparing import prepare
from .object.voxel_classes import INNER
from .options import SkeletonOptions
from .stages import Stages
from .thinning.gap_paths import gap_paths
from .thinning.thinning import empty_states

OPTIONS = SkeletonOptions(level=3, charge_distance=1, device="cpu")


def up_to_critical_points() -> None:
    """The object, its depths, its field by the convolution, and that field's critical points."""
    progress = Progress()
    options = SkeletonOptions(device="cpu", method="fft", drop_islands=27)
    prepared = prepare(small_object(), SPACING, options, progress)
    volumes = CpuComponentVolumes(prepared.parts.mask(0), SPACING, options)
    volumes.measure_depths(progress)
    volumes.euler_characteristic(progress)
    volumes.charge_distance(progress)
    for charge_distance in (0, 2):
        volumes.compute_field(charge_distance, progress)
        volumes.critical_points(progress)


def curves_and_thinning() -> None:
    """Curves in forces that point to the middle of a cross, and thinning along them."""
    mask = small_cross()
    middle = np.array(mask.shape) // 2
    away = np.stack(list(np.indices(mask.shape)), axis=-1) - (middle + 0.25)

    class MadeUp(CpuComponentVolumes):
        def euler_characteristic(self, progress: Progress) -> int:
            return 1

        def compute_field(self, charge_distance: int, progress: Progress) -> tuple[str, ...]:
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

        def compute_distances(self, sources: np.ndarray, progress: Progress) -> None:
            self._distances = np.where(mask, 16 * np.abs(away).sum(axis=-1), -1).astype(np.int32)

        def protrusion_endpoints(self, min_length: float, progress: Progress) -> np.ndarray:
            return np.flatnonzero(mask)[[0, -1]]

        def add_sources(self, sources: np.ndarray, progress: Progress) -> None:
            pass

        def endpoints_beyond(
            self, skeleton: np.ndarray, endpoints: np.ndarray, progress: Progress
        ) -> np.ndarray:
            return endpoints[:0]

    volumes: Any = MadeUp(mask, SPACING, OPTIONS)
    skeletonize_component(volumes, OPTIONS, Stages(Progress()))
    across_a_gap()


def across_a_gap() -> None:
    """A path from a curve's end to a skeleton, which a small object does not need."""
    mask = small_cross()
    flat = np.arange(mask.size).reshape(mask.shape)[4, 9]
    skeleton, curves, ends = flat[3:6], flat[16:19], flat[18:19]
    depths = Tiles.whole(mask.astype(np.float32))
    gap_paths(skeleton, curves, ends, depths, empty_states(mask.shape), Progress())


def tips_and_graph() -> None:
    """Ends of protrusions, the graph of two lines of voxels that cross, and tunnels closed."""
    mask, progress = small_cross(), Progress()
    volumes = CpuComponentVolumes(mask, SPACING, OPTIONS)
    volumes.measure_depths(progress)
    core = np.ravel_multi_index((4, 9, np.arange(8, 15)), mask.shape)
    volumes.compute_distances(core, progress)
    endpoints = volumes.protrusion_endpoints(1.0, progress)
    volumes.add_sources(core, progress)
    volumes.endpoints_beyond(core, endpoints, progress)
    mean_of_box(core[:3], np.array(SPACING))  # of a tip that is all of its object

    lines = np.zeros_like(mask)
    lines[4, 9, 3:20] = lines[4, 3:16, 11] = True
    voxels = np.argwhere(lines)
    label, labels = np.ones(len(voxels), int), mask.astype(np.int32)

    def radii(points: np.ndarray) -> np.ndarray:
        return radius_at(points, labels, SPACING, progress)

    skeleton_graph(voxels, voxels.astype(float), label, mask, radii, progress)
    prepare(small_object(), SPACING, SkeletonOptions(device="cpu", close_tunnels=2.0), progress)


def small_cross() -> np.ndarray:
    """Return two bars that cross (bool, K, J, I); so few voxels that SciPy finds distances."""
    k, j, i = np.indices((9, 19, 23))
    along_i = (abs(k - 4) <= 2) & (abs(j - 9) <= 2) & (i > 0) & (i < 22)
    along_j = (abs(k - 4) <= 1) & (abs(i - 11) <= 1) & (j > 0) & (j < 18)
    return along_i | along_j
