"""One tree in the scene, and everything that can be done with it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import transform_points
from FuzzyVesselCoreLib.mrml.reading import node_name, transform_between, transformed
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.branch_tools import (
    PROPOSED,
    CrossSections,
    Edit,
    PruneStep,
    Step,
    TreeDistance,
    checked_branch,
    cross_sections,
    distance_between,
    narrowest_place,
    percent_stenosis,
    propose_names,
    pruned,
    section_at,
    section_measures,
)
from PotentialSkeletonLib.tree import Course

from . import dividing, interchange, straightening, tree_steps
from .lines import SECTIONS, names_of, skeleton_of, stored_skeleton, stored_table, vtk_array
from .run_nodes import ROLE

REFERENCE = ROLE + "ReferenceDiameter"  # attribute of a model


@dataclass(frozen=True)
class Narrowest:
    """The narrowest place of a branch: R, A, S in the world, and its distance along the branch.

    `diameter` is that of the largest ball inside the vessel there, in mm. `way` and `radius` are
    the branch from one such ball before the place to one behind it: S, A, R below the model's
    parent transform.
    """

    position: np.ndarray
    length: float
    diameter: float
    way: np.ndarray
    radius: np.ndarray

    def stenosis(self, reference: float) -> float:
        """Percent by which the place is narrower than a reference diameter in mm."""
        return percent_stenosis(self.diameter, reference)


@dataclass(frozen=True)
class Section:
    """A cross-section: its place and the ends of its diameters (2, 3), R, A, S in the world."""

    position: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    area: float  # mm^2, holes filled
    equivalent_diameter: float  # mm
    largest_diameter: float  # mm
    smallest_diameter: float  # mm
    filled: float  # mm^2 of the area that are holes

    def stenosis(self, reference: "Section") -> tuple[float, float]:
        """Percent by which it is narrower than a reference: by diameter, and by area."""
        return (
            percent_stenosis(self.equivalent_diameter, reference.equivalent_diameter),
            percent_stenosis(self.area, reference.area),
        )


class Tree:
    """A model of centrelines, with its branches; `InputError` where a model holds none.

    Branches are numbered as in the table. Every place is R, A, S in the world, in mm.
    """

    def __init__(self, model: Any) -> None:
        if not skeleton_of(model).branches:
            text = _("The tree {model} has no branch: it is a single point.")
            raise InputError(text.format(model=node_name(model)))
        self.model = model

    @property
    def skeleton(self) -> CurveSkeleton:
        """The branches; positions are S, A, R in mm below the model's parent transform."""
        return skeleton_of(self.model)

    def table(self) -> dict[str, list]:
        """One row a branch, with names and cross-sections where there are some."""
        return stored_table(self.model)

    # --- steps

    @property
    def steps(self) -> list[Step]:
        """What was pruned and corrected, in its order."""
        return tree_steps.steps_of(self.model)

    def prune(self, kind: str, value: float) -> CurveSkeleton:
        """Remove branches by "length", "radius", "generation" or "spur ratio"; see `PruneStep`.

        A step that removes nothing is not kept. `InputError` where the step is not valid; the scene
        is as it was.
        """
        step, skeleton = PruneStep(kind, value), self.skeleton
        after, _kept = pruned(skeleton, [step])
        return skeleton if len(after.branches) == len(skeleton.branches) else self.replay([step])

    def cut(self, position: Any) -> CurveSkeleton:
        """End the branch at a place, and begin another one there."""
        return self._edit("cut", position)

    def remove(self, position: Any) -> CurveSkeleton:
        """Remove the branch at a place."""
        return self._edit("remove", position)

    def bridge(self, position: Any) -> CurveSkeleton:
        """Join the end nearest to a place with the other tree that is nearest to it."""
        return self._edit("bridge", position)

    def replay(self, more: Iterable[Step]) -> CurveSkeleton:
        """Take steps, for example those of another tree: ``tree.replay(other.steps)``."""
        return tree_steps.set_steps(self.model, [*self.steps, *more])

    def undo(self) -> bool:
        """Take the last step back; returns False where there is none."""
        taken = self.steps
        if taken:
            tree_steps.set_steps(self.model, taken[:-1])
        return bool(taken)

    def _edit(self, kind: str, position: Any) -> CurveSkeleton:
        return self.replay([Edit(kind, self._from_world(position).tolist())])

    def _from_world(self, position: Any) -> np.ndarray:
        """S, A, R below the model's parent transform, of R, A, S in the world."""
        position = np.asarray(position, float)
        if position.shape != (3,) or not np.isfinite(position).all():
            raise InputError(_("A place must be three finite numbers: R, A, S in mm."))
        found = [0.0] * 3
        self.model.TransformPointFromWorld(position.tolist(), found)
        return np.array(found[::-1])

    # --- names and files

    @property
    def names(self) -> dict[int, str]:
        """Names of the branches that have one."""
        return names_of(self.model)

    def rename(self, branches: int | Iterable[int], name: str) -> None:
        """Name one branch or several; the name goes into table, curves and files. "" removes it."""
        chosen = branches if isinstance(branches, Iterable) else [branches]
        tree_steps.rename(self.model, self.skeleton, dict.fromkeys(chosen, name))

    def proposeNames(self, anatomy: str, branch: int | None = None) -> dict[int, str]:
        """Name branches by the rules of an anatomy, and return what was named.

        `branch` is of the vessel at which the rules begin. A proposal ends with "(?)"; names that a
        person gave stay. See `PotentialSkeletonLib.branch_tools.propose_names`.
        """
        skeleton: Any = stored_skeleton(self.model, in_world=True)
        found, names = propose_names(skeleton, anatomy, branch), self.names
        earlier = {n: "" for n, name in names.items() if name.endswith(PROPOSED)}
        found = {n: name for n, name in found.items() if n in earlier or n not in names}
        tree_steps.rename(self.model, self.skeleton, earlier | found)
        return found

    def acceptNames(self) -> None:
        """Take the "(?)" from all proposed names."""
        names = {n: name for n, name in self.names.items() if name.endswith(PROPOSED)}
        accepted = {n: name.removesuffix(PROPOSED) for n, name in names.items()}
        tree_steps.rename(self.model, self.skeleton, accepted)

    def save(self, path: Any) -> None:
        """Write the tree as .swc, .graphml or .vtp in world coordinates, with its names."""
        interchange.save_tree(self.model, path)

    def saveFormats(
        self, folder: Any, formats: Collection[str] = interchange.FORMATS, rootPlaces: Any = None
    ) -> list[str]:
        """Write a new folder of files for other programs; see `interchange.save_formats`."""
        return interchange.save_formats(self.model, folder, formats, rootPlaces)

    def addCentrelines(self, view: str = "rooted", rootPlaces: Any = None) -> Any:
        """Add a model as VMTK has it, with the names: "rooted", "split" or "network" lines.

        The ends nearest to `rootPlaces` (n, 3), R, A, S in the world, are roots.
        """
        near = None if rootPlaces is None else [self._from_world(p)[::-1] for p in rootPlaces]
        return interchange.add_centrelines(self.model, view, near)

    # --- measuring

    def narrowest(self, branch: int) -> Narrowest:
        """The narrowest place of a branch, its two ends left out."""
        skeleton = self.skeleton
        found = narrowest_place(skeleton, branch)
        course = Course(skeleton.branches[branch].points, skeleton.branches[branch].radius)
        low = max(found.length - found.diameter, 0.0)
        high = min(found.length + found.diameter, course.lengths[-1])
        place = [0.0] * 3
        self.model.TransformPointToWorld(np.asarray(found.position)[::-1].tolist(), place)
        return Narrowest(np.array(place), found.length, found.diameter, *course.between(low, high))

    @property
    def reference(self) -> float | None:
        """Diameter of the healthy vessel in mm, which the user sets; kept with the tree."""
        text = self.model.GetAttribute(REFERENCE)
        return float(text) if text else None

    @reference.setter
    def reference(self, diameter: float | None) -> None:
        if diameter is None:
            self.model.RemoveAttribute(REFERENCE)
            return
        percent_stenosis(0.0, diameter)  # refuses what is no reference
        self.model.SetAttribute(REFERENCE, f"{diameter:g}")

    def distance(self, first: Any, last: Any) -> TreeDistance:
        """The way along the tree between two places.

        `InputError` where a place is far from the tree, or no branches connect them.
        """
        places = (self._from_world(each) for each in (first, last))
        return distance_between(self.skeleton, *places)

    def straighten(
        self,
        way: Any,
        volumeNode: Any,
        width: float | None = None,
        progress: Any = None,
        wait: Any = None,
    ) -> straightening.StraightenedNodes:
        """Add a straightened volume of a branch (its number) or of the way between two places.

        `width` of the slices is in mm, by default 30 or five diameters.
        `straightening.patient_position` leads from the volume to the patient.
        """
        if isinstance(way, int):
            branch = checked_branch(self.skeleton, way)
            points, radius = branch.points, branch.radius
        else:
            found = self.distance(*way)
            points, radius = found.points, found.radius
        world = transformed(transform_between(self.model, None), points[:, ::-1])
        return straightening.straighten(
            self.model, world, radius, volumeNode, width, progress, wait
        )

    def section(self, place: Any) -> Section:
        """The cross-section of the vessels at the place on the tree nearest to R, A, S.

        `InputError` where that is far from the tree, or the vessels are not in the scene any more.
        """
        solid = dividing.vessels_of(self.model)
        skeleton = dividing.on_voxels(self.model, self.skeleton, solid)
        to_world = transform_between(solid.node, None)
        local = transformed(transform_between(None, solid.node), [place])
        voxel = transform_points(np.linalg.inv(solid.ijk_to_ras), local)[0, ::-1]
        found = section_at(solid.mask, skeleton, voxel)
        if not found.area[0]:
            raise InputError(_("The vessels have no voxels at this place any more."))
        places = np.concatenate([found.points, found.largest_ends[0], found.smallest_ends[0]])
        world = transformed(to_world, solid.points(places))
        numbers = (
            found.area, found.equivalent_diameter, found.largest_diameter,
            found.smallest_diameter, found.filled,
        )  # fmt: skip
        return Section(world[0], world[1:3], world[3:5], *(float(each[0]) for each in numbers))

    def sectionsAlong(self, branch: int) -> CrossSections:
        """The cross-sections along a branch; lengths from its first point, and diameters, in mm.

        `InputError` where the vessels are not in the scene any more.
        """
        solid = dividing.vessels_of(self.model)
        skeleton = dividing.on_voxels(self.model, self.skeleton, solid)
        return cross_sections(solid.mask, skeleton, branch)

    @property
    def hasSections(self) -> bool:
        """Whether the cross-sections of these branches were measured."""
        data = self.model.GetPolyData().GetCellData()
        return all(data.HasArray(name) for name in SECTIONS.values())

    def measureSections(self, progress: Any = None, wait: Any = None) -> dict[str, list]:
        """Measure cross-sections of every branch in the vessels; returns the table with them.

        Its columns are those of `PotentialSkeletonLib.branch_tools.section_measures`; the lines and
        the table in the scene get them, too.

        Raises
        ------
        InputError
            If the vessels are not in the scene any more.
        Cancelled
            `progress` returned False.
        """
        solid = dividing.vessels_of(self.model)
        skeleton = dividing.on_voxels(self.model, self.skeleton, solid)

        def work(progress: Any) -> dict[str, list]:
            return section_measures(solid.mask, skeleton, progress=progress)

        found = wait(work, progress) if wait else work(progress)
        data = self.model.GetPolyData()
        for column, name in SECTIONS.items():
            values = [np.nan if value is None else value for value in found[column]]
            data.GetCellData().AddArray(vtk_array(np.array(values, float), name))
        tree_steps.follow(self.model)
        data.Modified()
        return self.table()

    # --- dividing

    def split(self, by: str = dividing.BRANCH, progress: Any = None, wait: Any = None) -> Any:
        """Split the vessels by "branch", "generation", "name" or "subtree"; see `dividing`."""
        return dividing.split(self.model, by, progress, wait)

    def divideOrgan(
        self,
        organNode: Any,
        organSegment: str | None = None,
        by: Any = dividing.BRANCH,
        distance: str = "straight",
        progress: Any = None,
        wait: Any = None,
    ) -> dividing.TerritoryNodes:
        """Divide an organ into the territories of branches, with volumes in ml; see `dividing`."""
        return dividing.divide_organ(
            self.model, organNode, organSegment, by, distance, progress, wait
        )
