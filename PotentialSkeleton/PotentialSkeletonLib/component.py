"""The skeleton of one component: levels of traced curves, each grown and thinned homotopically."""

from dataclasses import dataclass, field

import numpy as np

from FuzzyVesselCoreLib.threads import single_threaded_if_small
from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology

from .critical_points.critical_points import REPELLER, index_sum
from .thinning.gap_paths import bridges
from .thinning.growing import grow
from .thinning.inscribed_balls import Balls
from .thinning.thinning import removable, room_for, thin, trim
from .tracing.curve_voxels import CurveVoxels, voxels_of
from .tracing.streamlines import Tracer, grow_core

SMALLEST_LIMB = 2.0  # voxels that a limb is longer than its width demands
# A seed lies so many inscribed radii, and so many voxels more, away from what is there. With fewer
# voxels each bump of a rough surface would have a curve of its own.
REACH_OUT = {"divergence": (1.0, 0.0), "curvature": (1.3, 3.0)}
FEW_VOXELS = 27  # components below it have no field
NO_VOXELS = np.empty(0, np.int64)


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
        Gaps between traced curves that were closed.
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

    All sets of voxels are rising arrays of flat indices.

    Parameters
    ----------
    volumes : ComponentVolumes
        Or the same on the card.
    options : Options
    stages : Stages
    """

    def __init__(self, volumes, options, stages):
        self.volumes, self.options, self.stages = volumes, options, stages
        self.shape, self.spacing = volumes.shape, volumes.spacing
        self.anchors = NO_VOXELS  # critical points, tips and seeds
        self.coarser = NO_VOXELS  # skeleton of the level before: it stays
        self.before = NO_VOXELS  # skeleton of the stage before
        self.level_voxels = []
        self.critical_points = []
        self.charge_distance = None
        self.notes = ()
        self.tracer = None  # where there is a field

    def run(self):
        """Return the `ComponentSkeleton`."""
        with single_threaded_if_small(self.shape):
            return self._run()

    def _run(self):
        with self.stages("distance", 0.0, 0.05):
            self.curves = CurveVoxels(self.volumes.depths)
            self.stages.tick()
            self.states = room_for(self.shape)
            self.characteristic = self.volumes.characteristic
        if self.volumes.count >= FEW_VOXELS:
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
        self.charge_distance = self.options.charge_distance
        if self.charge_distance is None:
            with self.stages("distance", 0.05, 0.0):
                self.charge_distance = self.volumes.charge_distance()
        with self.stages("field", 0.05, 0.5):
            self.notes = self.volumes.find_field(self.charge_distance)
        with self.stages("critical points", 0.55, 0.03):
            points = self.volumes.critical_points()
            places = voxels_of([p.position for p in points]).reshape(-1, 3)
            inside = self.volumes.depths.at(places) > 0
            self.critical_points = [p for p, is_inside in zip(points, inside) if is_inside]
        with self.stages("curves", 0.58, 0.02):
            points = [p for p in points if p.kind != REPELLER]
            ends = [p.position for p in points]
            self.tracer = Tracer(self.volumes.field, ends)
            for curve in grow_core(self.tracer, points):
                self.stages.tick()
                self.curves.add(curve)
            self._keep([p.position for p in self.critical_points if p.kind != REPELLER])

    def _keep(self, positions):
        if len(positions):
            self._anchor(np.ravel_multi_index(voxels_of(positions).T, self.shape))

    def _anchor(self, voxels):
        self.anchors = union(self.anchors, voxels)

    def _thin(self, start):
        """Thin the traced curves, brought to the object's topology, or the whole object to them."""
        with self.stages("thinning", start, 0.05):
            traced = self.curves.voxels()
            begin = self._begin(union(traced, self.anchors, self.before))
            self.stages.tick()
            order = self.volumes.order_at(begin)
            self.stages.tick()
            skeleton = thin(
                begin, order, among(begin, self.anchors, self.coarser),
                among(begin, traced), self.shape, self.stages.tick, self.states,
            )  # fmt: skip
            self.stages.tick()
            skeleton = trim(skeleton, self.coarser, self.shape, self.states)
        self.anchors = np.intersect1d(self.anchors, skeleton, assume_unique=True)
        self.before = skeleton
        return skeleton

    def _end_level(self, skeleton):
        self.level_voxels.append(len(skeleton))
        could_go = removable(skeleton, self.shape, self.states)
        self.removable = len(could_go)
        self.thin = bool(np.isin(could_go, self.coarser, assume_unique=True).all())
        self.coarser = skeleton

    def _begin(self, wanted):
        """What is wanted in the object's topology, or the whole object.

        It is grown from the skeleton of the stage before; where there is none yet, and the object
        has no tunnel, from one voxel.
        """
        start = self.before
        if not self.level_voxels and self.characteristic == 1 and len(wanted):
            start = wanted[[np.argmax(self.volumes.order_at(wanted))]]
        if not len(start):
            return self.volumes.voxels()
        grown = self._grow(start, wanted, self.anchors)
        missed = np.setdiff1d(self.anchors, grown, assume_unique=True)
        if len(missed):
            depths = self.volumes.depths
            more = bridges(grown, wanted, missed, depths, self.states, self.stages.tick)
            grown = self._grow(grown, union(wanted, more), wanted)
            missed = np.setdiff1d(self.anchors, grown, assume_unique=True)
        return self.volumes.voxels() if len(missed) else grown

    def _grow(self, skeleton, offered, first):
        self.stages.tick()
        order = self.volumes.order_at(offered)
        return grow(skeleton, offered, order, among(offered, first), self.shape, self.states)

    def _places(self, voxels):
        """Voxels K, J, I (n, 3)."""
        return np.stack(np.unravel_index(voxels, self.shape), axis=1)

    def _add_limbs(self, core):
        with self.stages("tips", 0.65, 0.05):
            self.volumes.spread_from(core)
            self.tips = self.volumes.limb_tips(SMALLEST_LIMB * min(self.spacing))
        with self.stages("curves", 0.7, 0.05):
            self._add_tips(self.tips)
            if self.tracer is None:
                return
            self.stages.tick()
            seeds = self.volumes.divergence_seeds(self.options.divergence)
            self.stages.tick()
            self._add_seeds(seeds, core, REACH_OUT["divergence"])

    def _add_tips(self, tips):
        furthest_first = np.argsort(-self.volumes.distances_at(tips), kind="stable")
        self._anchor(tips)
        for way in self.volumes.ways_in(tips[furthest_first]):
            self.stages.tick()
            self._trace_along(way)

    def _draw_out(self, skeleton):
        """Lead ends of the skeleton on to the ends of their limbs; whether there were any."""
        with self.stages("tips", 0.8, 0.05):
            self.volumes.bring_nearer(skeleton)
            tips = self.volumes.drawn_out_ends(skeleton, self.tips)
            self._add_tips(tips)
        return len(tips) > 0

    def _add_sharp_places(self, skeleton):
        with self.stages("tips", 0.9, 0.04):
            self.volumes.bring_nearer(skeleton)
            self.stages.tick()
            seeds = self.volumes.curvature_seeds()
        with self.stages("curves", 0.94, 0.01):
            self._add_seeds(seeds, skeleton, REACH_OUT["curvature"])

    def _add_seeds(self, seeds, skeleton, reach_out):
        """Keep the seeds that lie outside the inscribed balls, enlarged, of all that is there."""
        balls = Balls(self.volumes.depths, self.spacing, *reach_out)
        balls.add(self._places(union(skeleton, self.curves.voxels(), self.anchors)))
        seeds = seeds[self.volumes.depths.at(seeds) > 0]
        seeds = seeds[~balls.hold(seeds, self.stages.tick)]
        ways = self.volumes.ways_in(np.ravel_multi_index(seeds.T, self.shape))
        for seed, way in zip(seeds, ways, strict=True):
            self.stages.tick()
            if balls.hold(seed[None]).any():
                continue  # by a curve from a seed before
            self._keep(seed[None])
            curve = self._trace_along(way)
            voxels = voxels_of(curve)
            is_new = (voxels[1:] != voxels[:-1]).any(axis=1)
            balls.add(np.concatenate([voxels[:1], voxels[1:][is_new]]))

    def _trace_along(self, way):
        """A curve from a voxel: towards the core up to where there is a force, then along it."""
        if self.tracer is None:
            return way.astype(float)
        curve, _ = self.tracer.trace(way[-1], lead=way[:-1])
        self.curves.add(curve)
        self.tracer.keep(curve)
        return curve

    def _finish(self, skeleton):
        voxels = self._places(skeleton)
        traced = np.isin(skeleton, union(self.curves.voxels(), self.anchors))
        pieces = sparse_topology(voxels[traced]).components
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
            self.charge_distance,
            None if self.tracer is None else index_sum(self.critical_points),
            self.notes,
        )


def union(*sets):
    """All voxels of some sets, rising."""
    voxels = np.sort(np.concatenate(sets))
    is_new = np.ones(len(voxels), bool)
    is_new[1:] = voxels[1:] != voxels[:-1]
    return voxels[is_new]


def among(voxels, *sets):
    """Which voxels, rising, at least one, are in one of the sets; bool (n,)."""
    found = np.zeros(len(voxels), bool)
    for some in sets:
        at = np.minimum(np.searchsorted(voxels, some), len(voxels) - 1)
        found[at[voxels[at] == some]] = True
    return found
