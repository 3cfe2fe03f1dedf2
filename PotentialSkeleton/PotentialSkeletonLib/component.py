"""The skeleton of one component: levels of traced curves, each finished by homotopic thinning."""

import warnings
from dataclasses import dataclass, field

import numpy as np

from .balls import Balls
from .critical_points import REPELLER, critical_points, index_sum
from .curve_voxels import CurveVoxels, voxels_of
from .distance import automatic_charge_distance, distance_to_outside, removal_order
from .force_field import field_of_components
from .geodesic import bring_nearer, distance_along
from .seeds import curvature_seeds, divergence_seeds
from .streamlines import Tracer, grow_core
from .thin_topology import thin_topology
from .thinning import Queue, removable, thin, trim
from .tips import drawn_out_ends, geodesic_tips
from .topology import euler_characteristic
from .voxel_classes import OUTSIDE

SMALLEST_LIMB = 2.0  # voxels that a limb is longer than its width demands
# A seed lies so many inscribed radii, and so many voxels more, away from what is there. With fewer
# voxels each bump of a rough surface would have a curve of its own.
REACH_OUT = {"divergence": (1.0, 0.0), "curvature": (1.3, 3.0)}
FEW_VOXELS = 27  # components below it have no field


@dataclass
class ComponentSkeleton:
    """What was found in one component, in voxels of its box.

    Attributes
    ----------
    voxels : ndarray of int, (n, 3)
        The skeleton, in rising order of K, J, I.
    positions : ndarray of float, (n, 3)
        Where the skeleton passes in each voxel.
    traced : ndarray of bool, (n,)
        Whether a traced curve passes the voxel.
    critical_points : list of CriticalPoint
    level_voxels : list of int
        Skeleton voxels of each level.
    joins : int
        Gaps between traced curves that thinning closed.
    removable : int
        Voxels that could go without a change of topology and are no ends.
    thin : bool
        Whether all of these belong to the level before, which must stay whole.
    characteristic : int
        The component's Euler characteristic.
    charge_distance : int or None
        None where the component is too small for a field.
    index_sum : int or None
    notes : tuple of str
        From the field.
    """

    voxels: np.ndarray
    positions: np.ndarray
    traced: np.ndarray
    critical_points: list
    level_voxels: list
    joins: int
    removable: int
    thin: bool
    characteristic: int
    charge_distance: int | None
    index_sum: int | None
    notes: tuple = field(default=())


class ComponentRun:
    """One component on its way to a skeleton.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The component without cavities; it must not touch the array's border.
    spacing : 3 floats K, J, I, in mm
    options : Options
    stages : Stages
    """

    def __init__(self, mask, spacing, options, stages):
        self.mask, self.spacing, self.options, self.stages = mask, spacing, options, stages
        self.bytes = mask.view(np.uint8)
        self.anchors = np.zeros(mask.shape, bool)  # critical points, tips and seeds
        self.coarser = np.zeros(mask.shape, bool)  # skeleton of the level before: it stays
        self.before = self.coarser  # skeleton of the stage before
        self.level_voxels = []
        self.critical_points = []
        self.field = None

    def run(self):
        """Return the `ComponentSkeleton`."""
        with self.stages("distance", 0.0, 0.05):
            self.depth = distance_to_outside(self.bytes, self.spacing, self.stages.tick)
            self.stages.tick()
            self.curves = CurveVoxels(self.depth)
            self.queue = Queue(self.depth.size)
            self.order = removal_order(self.depth, self.stages.tick)
            self.stages.tick()
            self.characteristic = euler_characteristic(self.mask, self.stages.tick)
        self.inside = np.flatnonzero(self.mask)
        if len(self.inside) >= FEW_VOXELS:
            self._find_core()
        skeleton = self._thin(0.6)
        self._end_level(skeleton)
        if self.options.level >= 2:
            self._add_limbs(skeleton)
            skeleton = self._thin(0.75)
            if self._draw_out(skeleton):
                skeleton = self._thin(0.85)
            self._end_level(skeleton)
        if self.options.level >= 3:
            self._add_sharp_places(skeleton)
            skeleton = self._thin(0.95)
            self._end_level(skeleton)
        return self._finish(skeleton)

    def _find_core(self):
        distance = self.options.charge_distance
        if distance is None:
            with self.stages("distance", 0.05, 0.0):
                distance = automatic_charge_distance(
                    self.bytes, self.depth, self.spacing, self.stages.tick
                )
        with self.stages("field", 0.05, 0.5), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the notes are passed on, once
            self.field = field_of_components(
                self.mask, self.bytes, self.options.strength, method=self.options.method,
                charge_distance=distance, device=self.options.device, report=self.stages.tick,
            )  # fmt: skip
        with self.stages("critical points", 0.55, 0.03):
            points = critical_points(self.field, everywhere=True, report=self.stages.tick)
            self.critical_points = [p for p in points if self.mask[tuple(voxels_of(p.position))]]
        with self.stages("curves", 0.58, 0.02):
            points = [p for p in points if p.kind != REPELLER]
            solid = self.field.classes > OUTSIDE
            self.stages.tick()
            self.tracer = Tracer(self.field.vectors, solid, [p.position for p in points])
            for curve in grow_core(self.tracer, points):
                self.stages.tick()
                self.curves.add(curve)
            self._keep([p.position for p in self.critical_points if p.kind != REPELLER])

    def _keep(self, positions):
        if len(positions):
            self.anchors[tuple(voxels_of(positions).T)] = True

    def _thin(self, start):
        """Thin the traced curves if they have the object's topology, else the object to them."""
        with self.stages("thinning", start, 0.05):
            traced = self.curves.mask()
            self.stages.tick()
            kept = self.anchors | self.coarser
            begin = np.flatnonzero((traced | self.anchors | self.before) & self.mask)
            if not self._is_homotopic(begin):
                begin = self.inside
            skeleton = thin(begin, self.order, kept, traced, self.stages.tick, self.queue)
            self.stages.tick()
            trim(skeleton, self.coarser)
        self.anchors &= skeleton
        self.before = skeleton
        return skeleton

    def _end_level(self, skeleton):
        self.level_voxels.append(int(np.count_nonzero(skeleton)))
        could_go = removable(skeleton)
        self.removable = len(could_go)
        self.thin = bool(self.coarser.reshape(-1)[could_go].all())
        self.coarser = skeleton

    def _is_homotopic(self, curves):
        """Whether curves in the object that hold a skeleton of it, if any, could be its skeleton.

        Their voxels are given as flat indices. One piece, no cavity, and as many cycles as the
        object: with the skeleton of the level before among them, these are the object's cycles;
        without it only an object that has none is safe.
        """
        if not self.level_voxels and self.characteristic != 1:
            return False
        found = thin_topology(np.stack(np.unravel_index(curves, self.mask.shape), axis=1))
        return (found.characteristic, found.pieces, found.cavities) == (self.characteristic, 1, 0)

    def _add_limbs(self, core):
        with self.stages("tips", 0.65, 0.05):
            self.distances, order = distance_along(
                self.bytes, np.flatnonzero(core), self.spacing, self.stages.tick
            )
            smallest = SMALLEST_LIMB * min(self.spacing)
            self.tips = geodesic_tips(
                self.distances, order, self.depth, self.spacing, smallest, self.stages.tick
            )
        with self.stages("curves", 0.7, 0.05):
            self._add_tips(self.tips)
            if self.field is None:
                return
            self.stages.tick()
            seeds = divergence_seeds(self.field.vectors, self.options.divergence, self.stages.tick)
            self.stages.tick()
            self._add_seeds(seeds, core, REACH_OUT["divergence"])

    def _add_tips(self, tips):
        furthest_first = tips[np.argsort(-self.distances.flat[tips], kind="stable")]
        tips = np.stack(np.unravel_index(furthest_first, self.mask.shape), axis=1)
        self._keep(tips)
        for tip in tips:
            self.stages.tick()
            self._trace_from(tip)

    def _draw_out(self, skeleton):
        """Lead ends of the skeleton on to the ends of their limbs; whether there were any."""
        with self.stages("tips", 0.8, 0.05):
            self._measure_from(skeleton)
            tips = drawn_out_ends(
                self.distances, self.depth, skeleton, self.spacing, self.tips, self.stages.tick
            )
            self._add_tips(tips)
        return len(tips) > 0

    def _add_sharp_places(self, skeleton):
        with self.stages("tips", 0.9, 0.04):
            self._measure_from(skeleton)
            self.stages.tick()
            seeds = curvature_seeds(self.mask, self.stages.tick)
        with self.stages("curves", 0.94, 0.01):
            self._add_seeds(seeds, skeleton, REACH_OUT["curvature"])

    def _measure_from(self, skeleton):
        """Let `distances` start from a skeleton that holds the one from which they started."""
        sources, count = np.flatnonzero(skeleton), len(self.inside)
        bring_nearer(self.distances, sources, self.spacing, count, self.stages.tick)

    def _add_seeds(self, seeds, skeleton, reach_out):
        """Keep the seeds that lie outside the inscribed balls, enlarged, of all that is there."""
        balls = Balls(self.depth, self.spacing, *reach_out)
        balls.add(np.argwhere(skeleton | self.curves.mask() | self.anchors))
        for seed in seeds:
            self.stages.tick()
            if not self.mask[tuple(seed)] or balls.hold(seed):
                continue
            self._keep(seed[None])
            curve = self._trace_from(seed)
            balls.add(np.unique(voxels_of(curve), axis=0))

    def _trace_from(self, voxel):
        """A curve from a voxel: towards the core up to where there is a force, then along it."""
        lead = [np.asarray(voxel)]
        while self.field is not None and not self.field.vectors[tuple(lead[-1])].any():
            following = _nearer(self.distances, lead[-1])
            if following is None:
                break
            lead.append(following)
        if self.field is None:
            return np.array(lead, float)
        curve, _ = self.tracer.trace(lead[-1], lead=lead[:-1])
        self.curves.add(curve)
        self.tracer.keep(curve)
        return curve

    def _finish(self, skeleton):
        voxels = np.argwhere(skeleton)
        traced = (self.curves.mask() | self.anchors)[tuple(voxels.T)]
        pieces = thin_topology(voxels[traced]).pieces
        return ComponentSkeleton(
            voxels,
            self.curves.places(voxels),
            traced,
            self.critical_points,
            self.level_voxels,
            max(pieces - 1, 0),
            self.removable,
            self.thin,
            self.characteristic,
            None if self.field is None else self.field.charge_distance,
            None if self.field is None else index_sum(self.critical_points),
            () if self.field is None else self.field.notes,
        )


def _nearer(distances, voxel):
    """The neighbour that is nearest to the core, the first of them; None in the core."""
    block = distances[tuple(slice(n - 1, n + 2) for n in voxel)]
    block = np.where(block < 0, np.iinfo(np.int32).max, block)
    best = np.unravel_index(np.argmin(block), block.shape)
    if block[best] >= block[1, 1, 1]:
        return None
    return voxel + np.array(best) - 1
