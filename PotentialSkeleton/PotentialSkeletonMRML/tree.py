"""One tree in the scene, and everything that can be done with it."""

import json
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading
from FuzzyVesselCoreLib.mrml.writing import new_nodes, put_beside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, branch_tools
from PotentialSkeletonLib.branch_tools import PROPOSED, Edit, PruneStep, Step, percent_stenosis
from PotentialSkeletonLib.interchange import network, whole_file, write_graphml
from PotentialSkeletonLib.tree import Course, rooted_forest

from . import edits, interchange, lines, outputs, vessels
from .objects import read_object
from .outputs import ROLE, tree_name, update_names

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
        if not lines.stored_skeleton(model).branches:
            text = _("The tree {model} has no branch: it is a single point.")
            raise InputError(text.format(model=reading.node_name(model)))
        self.model = model

    @property
    def skeleton(self) -> CurveSkeleton:
        """The branches; positions are S, A, R in mm below the model's parent transform."""
        return lines.stored_skeleton(self.model)

    def table(self) -> dict[str, list]:
        """One row a branch, with names and cross-sections where there are some."""
        return lines.stored_table(self.model)

    # --- steps

    @property
    def steps(self) -> list[Step]:
        """What was pruned and corrected, in its order."""
        return edits.steps_of(self.model)

    def prune(self, kind: str, value: float) -> CurveSkeleton:
        """Remove branches by "length", "radius", "generation" or "spur ratio"; see `PruneStep`.

        A step that removes nothing is not kept. `InputError` where the step is not valid; the scene
        is as it was.
        """
        step, skeleton = PruneStep(kind, value), self.skeleton
        after, _kept = branch_tools.pruned(skeleton, [step])
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
        return self._set_steps([*self.steps, *more])

    def undo(self) -> bool:
        """Undo the last step; returns False if there is none."""
        taken = self.steps
        if taken:
            self._set_steps(taken[:-1])
        return bool(taken)

    def _edit(self, kind: str, position: Any) -> CurveSkeleton:
        return self.replay([Edit(kind, self._from_world(position).tolist())])

    def _set_steps(self, steps: Sequence[Step]) -> CurveSkeleton:
        """Replay steps, instead of the earlier ones, on the lines as found; outputs follow.

        So nothing is lost: any step can be taken back, also after the scene was saved and loaded.
        Places are S, A, R in mm, below the model's parent transform. `InputError` where a step does
        not fit, or no branch is left: the scene is unchanged.
        """
        import slicer

        model, found = self.model, self.model.GetNodeReference(edits.AS_FOUND)
        skeleton, _kept = branch_tools.replayed(lines.stored_skeleton(found or model), steps)
        if not skeleton.branches:
            raise InputError(_("That would remove every branch: nothing was changed."))
        with slicer.util.RenderBlocker(), new_nodes() as add:
            if found is None:
                if model.GetAttribute(edits.STEPS) not in (None, branch_tools.steps_text([])):
                    model.RemoveAttribute(edits.MEASURED)  # of steps on lines that are gone
                found = add("vtkMRMLModelNode", f"{model.GetName()} as found")
                found.SetHideFromEditors(True)
                found.SetSelectable(False)
                found.SetAndObserveMesh(model.GetPolyData())
                model.SetNodeReferenceID(edits.AS_FOUND, found.GetID())
            model.SetAttribute(edits.STEPS, branch_tools.steps_text(steps))
            lines.fill_model(model, lines.branch_lines(skeleton), model.GetTransformNodeID())
            self._show_sections()
            outputs.update_outputs(add, model)
        return skeleton

    def _from_world(self, position: Any) -> np.ndarray:
        """S, A, R below the model's parent transform, of R, A, S in the world."""
        transform = reading.transform_between(None, self.model)
        return reading.transformed(transform, [position])[0, ::-1]

    def _to_world(self, points: np.ndarray) -> np.ndarray:
        return reading.transformed(reading.transform_between(self.model, None), points[:, ::-1])

    def _in_world(self) -> CurveSkeleton:
        return lines.in_frame(self.skeleton, self._to_world)

    # --- names and files

    @property
    def names(self) -> dict[int, str]:
        """Names of the branches that have one."""
        return lines.names_of(self.model)

    def rename(self, branches: int | Iterable[int], name: str) -> None:
        """Name one branch or several; the name goes into table, curves and files. "" removes it."""
        chosen = branches if isinstance(branches, Iterable) else [branches]
        self._set_names(dict.fromkeys(chosen, name))

    def _set_names(self, names: dict[int, str]) -> None:
        edits.set_names(self.model, names)
        update_names(self.model)

    def proposeNames(self, anatomy: str, branch: int | None = None) -> dict[int, str]:
        """Name branches by the rules of an anatomy, and return what was named.

        `branch` is of the vessel at which the rules begin. A proposal ends with "(?)"; names that a
        person gave stay. See `PotentialSkeletonLib.branch_tools.propose_names`.
        """
        skeleton = self._in_world()
        found, names = branch_tools.propose_names(skeleton, anatomy, branch), self.names
        earlier = {n: "" for n, name in names.items() if name.endswith(PROPOSED)}
        found = {n: name for n, name in found.items() if n in earlier or n not in names}
        self._set_names(earlier | found)
        return found

    def acceptNames(self) -> None:
        """Take the "(?)" from all proposed names."""
        names = {n: name for n, name in self.names.items() if name.endswith(PROPOSED)}
        accepted = {n: name.removesuffix(PROPOSED) for n, name in names.items()}
        self._set_names(accepted)

    def save(self, path: Any) -> None:
        """Write the tree in world coordinates, with its names: .swc, .graphml or .vtp (LPS).

        `InputError` for another ending, or a name that cannot be written; `OSError` where the file
        cannot be written: nothing of it is left.
        """
        ending, names = Path(path).suffix.lower(), self.names
        skeleton = self._in_world()
        if ending == ".swc":
            said = "".join(f"# branch {number}: {name}\n" for number, name in sorted(names.items()))
            with whole_file(path) as partial:
                partial.write_text(said + skeleton.to_swc(), encoding="utf-8", newline="\n")
        elif ending == ".graphml":
            write_graphml(skeleton, path, names=names)
        elif ending == ".vtp":
            interchange.write_vtp(network(skeleton, names=names), path)
        else:
            text = _("{path}: trees are written as .swc, .graphml or .vtp.")
            raise InputError(text.format(path=path))

    def saveFormats(self, folder: Any, formats: Collection[str] = interchange.FORMATS) -> list[str]:
        """Write the tree in world coordinates, with its names, as a new folder of files.

        `formats` are of `interchange.FORMATS` ("stl" and "ply": the tubes). Returns what was left
        out, and of which loops. `InputError` where the folder holds something, or a format or name
        does not fit; `OSError` where a file cannot be written: nothing of the folder is left.
        """
        folder = Path(folder)
        unknown = sorted(set(formats) - set(interchange.FORMATS))
        if unknown:
            text = _("{name!r} is no format: use {formats}.")
            raise InputError(text.format(name=unknown[0], formats=", ".join(interchange.FORMATS)))
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            text = _("{folder} is there already: choose another folder.")
            raise InputError(text.format(folder=folder))
        skeleton = self._in_world()
        with tempfile.TemporaryDirectory(prefix=".centrelines-", dir=folder.parent) as made:
            partial = Path(made) / "tree"
            partial.mkdir()
            said = interchange.write_tree_files(
                partial, rooted_forest(skeleton), None, formats, names=self.names
            )
            partial.replace(folder)
        return said

    def addCentrelines(self, view: str = "rooted") -> Any:
        """Add a model as VMTK has it, with the names: "rooted", "split" or "network" lines."""
        if view not in interchange.VIEWS:
            text = _("The view {view!r} is unknown: use {views}.")
            raise InputError(text.format(view=view, views=", ".join(interchange.VIEWS)))
        found = interchange.VIEWS[view](rooted_forest(self.skeleton), np.eye(4), self.names)
        with new_nodes() as add:
            node = add("vtkMRMLModelNode", f"{tree_name(self.model)} {view}")
            lines.fill_model(node, interchange.poly_data(found), self.model.GetTransformNodeID())
        return node

    # --- measuring

    def narrowest(self, branch: int) -> Narrowest:
        """The narrowest place of a branch, its two ends left out."""
        skeleton = self.skeleton
        found = branch_tools.narrowest_place(skeleton, branch)
        course = Course(skeleton.branches[branch].points, skeleton.branches[branch].radius)
        low = max(found.length - found.diameter, 0.0)
        high = min(found.length + found.diameter, course.lengths[-1])
        place = self._to_world(np.array([found.position]))[0]
        way, radius = course.between(low, high)
        return Narrowest(place, found.length, found.diameter, way, radius)

    @property
    def reference(self) -> float | None:
        """Diameter of the healthy vessel in mm, which the user sets; kept with the tree."""
        text = self.model.GetAttribute(REFERENCE)
        return float(text) if text else None

    @reference.setter
    def reference(self, diameter: float | None) -> None:
        if diameter is not None:
            percent_stenosis(0.0, diameter)  # refuses what is no reference
        self.model.SetAttribute(REFERENCE, None if diameter is None else f"{diameter:g}")

    def distance(self, first: Any, last: Any) -> branch_tools.TreeDistance:
        """The way along the tree between two places.

        `InputError` where a place is far from the tree, or no branches connect them.
        """
        places = (self._from_world(each) for each in (first, last))
        return branch_tools.distance_between(self.skeleton, *places)

    def straighten(
        self, way: Any, volumeNode: Any, width: float | None = None, progress: Any = None
    ) -> vessels.StraightenedNodes:
        """Add a straightened volume of a branch (its number) or of the way between two places.

        `width` of the slices is in mm, by default 30 or five diameters.
        `vessels.patient_position` leads from the volume to the patient.
        """
        if isinstance(way, int):
            line: Any = branch_tools.checked_branch(self.skeleton, way)
        else:
            line = self.distance(*way)
        points = self._to_world(line.points)
        return vessels.add_straightened(
            self.model, points, line.radius, volumeNode, width, progress
        )

    def section(self, place: Any) -> Section:
        """The cross-section of the vessels at the place on the tree nearest to R, A, S.

        `InputError` where that is far from the tree, or the vessels are not in the scene any more.
        """
        object_, skeleton = vessels.vessels_and_tree(self.model)
        to_world = reading.transform_between(object_.node, None)
        local = reading.transformed(reading.transform_between(None, object_.node), [place])
        voxel = reading.transform_points(np.linalg.inv(object_.ijk_to_ras), local)[0, ::-1]
        found = branch_tools.section_at(object_.mask, skeleton, voxel)
        if not found.area[0]:
            raise InputError(_("The vessels have no voxels at this place any more."))
        places = np.concatenate([found.points, found.largest_ends[0], found.smallest_ends[0]])
        world = reading.transformed(to_world, object_.points(places))
        names = ("area", "equivalent_diameter", "largest_diameter", "smallest_diameter", "filled")
        numbers = {name: float(getattr(found, name)[0]) for name in names}
        return Section(world[0], world[1:3], world[3:5], **numbers)

    def sectionsAlong(self, branch: int) -> branch_tools.CrossSections:
        """The cross-sections along a branch; lengths from its first point, and diameters, in mm.

        `InputError` where the vessels are not in the scene any more.
        """
        object_, skeleton = vessels.vessels_and_tree(self.model)
        return branch_tools.cross_sections(object_.mask, skeleton, branch)

    @property
    def hasSections(self) -> bool:
        """Whether the cross-sections of these branches were measured."""
        data = self.model.GetPolyData().GetCellData()
        return all(data.HasArray(name) for name in lines.SECTIONS.values())

    def measureSections(self, progress: Any = None) -> dict[str, list]:
        """Measure cross-sections of every branch in the vessels; returns the table with them.

        Its columns are those of `PotentialSkeletonLib.branch_tools.section_measures`; the lines and
        the table in the scene get them, too. `InputError` where the vessels are not in the scene
        any more.
        """
        object_, skeleton = vessels.vessels_and_tree(self.model)
        found = Progress.of(progress).carry_out(
            lambda run: branch_tools.section_measures(object_.mask, skeleton, progress=run)
        )
        measured = json.loads(self.model.GetAttribute(edits.MEASURED) or "{}")
        if measured.get("vessels") != object_.fingerprint:  # the vessels were edited meanwhile
            measured = {"vessels": object_.fingerprint}
        columns = {column: found[column] for column in lines.SECTIONS}
        measured[branch_tools.steps_text(self.steps)] = columns
        self.model.SetAttribute(edits.MEASURED, json.dumps(measured))
        self._show_sections()
        return self.table()

    def _show_sections(self) -> None:
        """Put what was measured after the same steps, if anything, into lines and table."""
        measured = json.loads(self.model.GetAttribute(edits.MEASURED) or "{}")
        columns = measured.get(branch_tools.steps_text(self.steps), {})
        for column, values in columns.items():
            array = lines.vtk_array(np.array(values, float), lines.SECTIONS[column])  # None: NaN
            self.model.GetPolyData().GetCellData().AddArray(array)
        if columns:
            update_names(self.model)
            self.model.GetPolyData().Modified()

    # --- dividing

    def split(self, by: str = "branch", progress: Any = None) -> Any:
        """Split the vessels: each voxel to the branch that is nearest along the vessels.

        `by` is "branch", "generation", "name" (voxels of branches without one go to the nearest
        that has one) or "subtree" (such branches belong to the next named one upstream). `progress`
        is as of `PotentialSkeletonLogic.extract`. Returns a new vtkMRMLSegmentationNode.
        `InputError` where there is nothing to split, or the vessels are gone.
        """
        object_, skeleton = vessels.vessels_and_tree(self.model)
        groups = vessels.groups_by(self.model, by)
        labels = Progress.of(progress).carry_out(
            lambda run: branch_tools.branch_labels(object_.mask, skeleton, groups.label_of, run)
        )
        if not labels.any():
            text = _("No branch of {model} goes through its vessels: find the centrelines again.")
            raise InputError(text.format(model=reading.node_name(self.model)))
        with new_nodes() as add:
            name = f"{tree_name(self.model)} by {by}"
            return vessels.add_segmentation(add, name, labels, groups, object_)

    def divideOrgan(
        self,
        organNode: Any,
        organSegment: str | None = None,
        by: Any = "branch",
        distance: str = "straight",
        progress: Any = None,
    ) -> vessels.TerritoryNodes:
        """Divide an organ, with voxels of its own, among the branches of the tree.

        `by` is as of `split`, or "segment" (liver segments), or groups of branches by their names;
        `distance` is "straight" or "geodesic": see `PotentialSkeletonLib.branch_tools.territories`.
        `InputError` where the organ is empty or elsewhere, or the groups do not fit.
        """
        organ = read_object(organNode, organSegment).cropped()
        groups = vessels.groups_by(self.model, by)
        skeleton = vessels.tree_in_voxels(self.model, organ)
        vessels.check_near(self.model, skeleton, organ, groups)
        found = Progress.of(progress).carry_out(
            lambda run: branch_tools.territories(
                organ.mask, skeleton, groups.label_of, distance, run
            )
        )
        volumes = {groups.names[label]: volume for label, volume in found.volumes.items()}
        whole = sum(volumes.values()) + found.unreached
        table = {
            "territory": list(volumes),
            "volume_ml": list(volumes.values()),
            "share_percent": [100 * each / whole for each in volumes.values()],
        }
        with new_nodes() as add:
            name = f"{organ.name} by {tree_name(self.model)}"
            node = vessels.add_segmentation(add, name, found.labels, groups, organ)
            table_node = add("vtkMRMLTableNode", f"{name} volumes")
            lines.fill_table(table_node, table)
            put_beside([table_node], organ.node)
        return vessels.TerritoryNodes(node, table_node, volumes, found.unreached)
