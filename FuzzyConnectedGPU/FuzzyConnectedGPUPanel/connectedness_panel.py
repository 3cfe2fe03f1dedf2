"""The panel of the module: its sections, its runs, and what is said."""

from dataclasses import replace
from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.scene import NO_CONTRAST
from FuzzyConnectedGPUMRML import fuzzy_scene
from FuzzyConnectedGPUMRML.segmenting import NodeOptions, Run
from FuzzyConnectedGPUMRML.vessel_lists import clicked_vessels, color_of, vessels_of
from FuzzyConnectedGPUMRML.views import LabelPreview, fit_cameras, fit_slices
from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.mrml import surfaces
from FuzzyVesselCoreLib.mrml.points import placed_points
from FuzzyVesselCoreLib.mrml.provenance import volume_fingerprint
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, voxels_of
from FuzzyVesselCoreLib.mrml.writing import KIND
from FuzzyVesselCoreLib.widgets import packages
from FuzzyVesselCoreLib.widgets.module_panel import Panel
from FuzzyVesselCoreLib.widgets.run import LatestRun

from .input_section import InputSection, RegionSection, VesselsSection
from .result_section import LEAST, OutputSection, ThresholdSection, users_threshold
from .seeds_section import ClickUndo, SeedsSection
from .wording import NO_POINTS, Situation, advice, worded

# Parameters that the library calls alike: numbers and texts, and members of an enumeration.
OPTIONS = ("device", "radius", "cut", "corrections", "directions")
CHOICES = ("model", "border", "side", "solver")
# Numbers of the affinity, in its order, and their lowest values among the parameters.
NUMBERS = {"mean": -1e9, "sigma": 1e-6, "gradientSigma": 1e-6}


class ConnectednessPanel(Panel):
    """Fuzzy connectedness from clicks to a segment."""

    worded = staticmethod(worded)

    def title(self) -> str:
        return _("Fuzzy Connectedness (GPU)")

    def connect(self) -> None:
        self.surface = ResultSurface(self)
        self.output = OutputSection(self)
        self.input = InputSection(self)
        self.vessels = VesselsSection(self)
        self.seeds = SeedsSection(self)
        self.region = RegionSection(self)
        self.threshold = ThresholdSection(self)
        self.undoing = ClickUndo(self)
        # In the order in which one follows from the other.
        self.sections: list[Any] = [self.input, self.output, self.vessels, self.seeds, self.region]
        self.sections += [self.threshold, self.undoing]
        self.following = Following(self)
        added = slicer.mrmlScene.NodeAddedEvent  # of a volume: it is chosen once slices show it
        self._observers.addObserver(slicer.mrmlScene, added, self.update_soon)

    def react(self) -> None:
        for section in self.sections:
            section.react(self.parameters)
        self.surface.react(self.parameters)
        self.following.react(self.parameters)
        self.input.remember(self.parameters)

    def volume_changed(self, volume: Any) -> None:
        """Another volume was chosen, with points and values of its own: this starts no run."""
        self.seeds.placing.stop()
        self.threshold.forget()
        self.output.show_earlier_results(volume)
        self.following.skip_current_inputs()

    def show(self) -> None:
        for section in self.sections:
            section.show(self.parameters)
        self.ui.adviceLabel.text = advice(self._situation(self.parameters))
        self.ui.affinityGroupBox.setVisible(self.parameters.model.value == "affinity")

    def _situation(self, parameters: Any) -> Situation:
        """What the line that says what to do next depends on."""
        lists, why_not = vessels_of(parameters), self.why_not()
        volume, running = self.threshold.measured(parameters), self.running.active
        share, excess = self.threshold.leaks(parameters, volume or 0.0)
        return Situation(
            has_volume=parameters.inputVolume is not None,
            why_not=why_not if why_not != NO_POINTS else "",
            points=sum(each.GetNumberOfDefinedControlPoints() for each in lists),
            placing=bool(self.seeds.placing.active),
            several=len(lists) > 1,
            running=running,
            finding=running and self.seeds.finding,
            following=parameters.autoUpdate and self.following.pending,
            current=self.is_current(),
            odd_point=self.seeds.advice(volume is not None),
            millilitres=volume,
            share=share,
            excess=excess,
            problem=self.problem,
        )

    # --- the panel's life

    def enter(self) -> None:
        Panel.enter(self)
        self.seeds.placing.add_keys()
        parent = self._window.parentWidget()
        while parent is not None and not parent.inherits("QScrollArea"):
            parent = parent.parentWidget()
        if parent is not None:  # it opens at the top
            parent.verticalScrollBar().value = 0

    def exit(self) -> None:
        self.seeds.placing.stop()
        self.seeds.placing.remove_keys()
        self.threshold.end_preview()
        self.following.forget()
        Panel.exit(self)

    def cleanup(self) -> None:
        self.seeds.placing.remove_keys()
        Panel.cleanup(self)

    def forget(self) -> None:
        self.following.forget()
        for section in self.sections:
            section.forget()
        self.surface.forget()
        self.logic.forget()

    def subject(self) -> tuple:
        """What the status line speaks of: all inputs but threshold and filled gaps."""
        options: Any = self.options(self.parameters)
        return self.fingerprint(), replace(options, threshold=None, fill_gaps=0)

    # --- what sections ask for

    def has_voxels(self, volume: Any) -> bool:
        """Whether a node is a volume with voxels of one component."""
        return not _volume_problem(volume)

    def result_scene(self, parameters: Any) -> Any:
        """The fuzzy scene of the last run, or None."""
        return parameters.sceneVolume if self.has_voxels(parameters.sceneVolume) else None

    def options(self, parameters: Any) -> NodeOptions:
        """What a run is given beside its volume and points."""
        values = {name: getattr(parameters, name) for name in OPTIONS}
        values |= {name: getattr(parameters, name).value for name in CHOICES}
        threshold, affinity = users_threshold(parameters), None
        if threshold is not None:
            least = parameters.cut if values["model"] == "affinity" else 0.0
            threshold = max(threshold, least, LEAST)
        if not parameters.automaticAffinity:
            numbers = [getattr(parameters, name) for name in NUMBERS]
            affinity = GaussianAffinity(*numbers, side=values["side"])
        return NodeOptions(
            **values,
            **self.region.nodes(parameters),
            **self.output.nodes(parameters),
            backgroundSeedsNode=parameters.backgroundSeeds,
            threshold=threshold,
            affinity=affinity,
            fill_gaps=parameters.fillGaps,
        )

    def fingerprint(self) -> str:
        """That of a run's inputs as they are now, but for the threshold itself."""
        parameters = self.parameters
        lists = clicked_vessels(parameters) or [parameters.seeds]
        return fuzzy_scene.fingerprint_of(parameters.inputVolume, lists, self.options(parameters))

    def is_current(self) -> bool:
        """Whether the result is that of the points and settings as they are now."""
        scene, volume = self.result_scene(self.parameters), self.parameters.inputVolume
        return fuzzy_scene.is_made_of(scene, volume, self.fingerprint)

    # --- runs: read, compute, write

    def why_not(self) -> str:
        parameters = self.parameters
        why = _volume_problem(parameters.inputVolume)
        if not why and parameters.inputVolume.GetAttribute(KIND) is not None:
            why = _("This volume is a result of the module: choose the image.")
        points = "" if clicked_vessels(parameters) else NO_POINTS
        return why or self.region.problem(parameters) or points

    def run(self, parameters: Any, progress: Any) -> str:
        self.threshold.end_preview()
        self.following.skip_current_inputs()
        run = self.read(parameters)
        found = progress.carry_out(lambda told: run.compute(told, self.logic.cached))
        return self.write_result(run, found)

    def read(self, parameters: Any, voxels: Any = None) -> Run:
        """All that a run needs of its nodes."""
        lists = clicked_vessels(parameters)
        return Run(parameters.inputVolume, lists, self.options(parameters), voxels)

    def write_result(self, run: Run, found: Any) -> str:
        """Write what a run found, and return the message to show."""
        parameters = self.logic.getParameterNode()  # the module may have been left since
        own = parameters.inputVolume is run.volume_node  # outputs may be others than at its start
        first = own and self.result_scene(parameters) is None
        outputs = self.output.nodes(parameters) if own else {}
        with self.changing():
            result = run.write(found, **outputs)
            if own:
                with slicer.util.NodeModify(parameters.parameterNode):
                    self.output.show_result(parameters, result)
                    self.threshold.labels_written(parameters, result, run.options)
                    if parameters.automaticAffinity and result.affinity is not None:
                        for name, number in zip(NUMBERS, vars(result.affinity).values()):
                            setattr(parameters, name, min(max(number, NUMBERS[name]), 1e9))
        self.seeds.mark_without_contrast(run.lists, result.pointsWithoutContrast)
        if first:
            fit_slices(result.labelmapNode, placed_points(run.lists[0]).world[0])
            fit_cameras(result.labelmapNode)
            self.surface.first = True
        # Points without contrast are marked.
        notes = [worded(each) for each in result.warnings if each != NO_CONTRAST]
        device = _("the CPU") if result.scene.device == "cpu" else result.scene.device
        done = _("Done, on {device}.").format(device=device)
        if not own:  # a different one was chosen meanwhile
            return "\n".join([f"{run.volume_node.GetName()}: {done}", *notes])
        return "\n".join([done, *filter(None, [*notes, self.output.edited_text(parameters)])])


def _volume_problem(volume: Any) -> str:
    """Why a node cannot be segmented, as a sentence; an empty text where it can."""
    try:
        voxels_of(volume, copy=False)
    except InputError as error:
        return str(error)
    return ""


# ---- results that follow the points by themselves


class Following:
    """Starts the whole run again in the background whenever points or settings have changed.

    The latest inputs win; a run that is out of date is cancelled between its steps, and the mouse
    never waits. While a point is held its labels are shown in the slices; otherwise they are
    written, as after Apply, and the surface follows. Its states, of which the last two may overlap:

    - idle: the fingerprint of the inputs is still `_requested`, or no run is wanted
    - requested: it had changed; `_run` waits while another run is active
    - computing: `_run` works in its thread; a further change requests the next run
    - previewed: a point is held; `_previewed` is shown, and written when the point is released
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._preview = LabelPreview(_("Vessels preview"))
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self.forget()

    def forget(self) -> None:
        self._stop()
        self._requested: str | None = None  # fingerprint of the inputs dealt with last
        self._copy: tuple[str, Any] = ("", None)  # of the volume's voxels, by their fingerprint

    def _stop(self) -> None:
        self._run.stop()
        self._previewed: tuple | None = None  # as `_compute` returns it
        self._preview.drop()

    @property
    def pending(self) -> bool:
        """Whether a run is requested or computing."""
        return self._run.pending

    def skip_current_inputs(self) -> None:
        """Start no run for the inputs as they are: one begins elsewhere, or none is wanted."""
        self._stop()
        self._requested = self._panel.fingerprint()

    def react(self, parameters: Any) -> None:
        """Start a run where the user wants that and something has changed."""
        panel = self._panel
        if not parameters.autoUpdate or panel.seeds.finding or panel.why_not():
            self._stop()
            return
        fingerprint = panel.fingerprint()
        if fingerprint != self._requested:
            self._requested = fingerprint
            if panel.is_current():
                self._stop()
            else:
                self._run.request()
        elif not panel.seeds.dragging and self._previewed is not None:
            self._write_if_current(*self._previewed)

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> Run:
        parameters = self._panel.parameters
        text = volume_fingerprint(parameters.inputVolume)
        if text != self._copy[0]:  # to copy a large volume at each step would hold the mouse up
            self._copy = text, voxels_of(parameters.inputVolume)
        return self._panel.read(parameters, self._copy[1])

    def _compute(self, run: Run, progress: Any) -> tuple:
        return run, run.compute(progress, self._panel.logic.cached)

    def _show(self, result: tuple) -> None:
        run, found = result
        if not self._panel.seeds.dragging:
            self._write_if_current(*result)
            return
        self._previewed = result
        colors = [color_of(each) for each in run.lists]
        volume, shown = run.volume_node, self._panel.parameters.segmentation
        self._preview.show(
            found.labels, ijk_to_ras(volume), volume.GetTransformNodeID(), colors, shown
        )

    def _write_if_current(self, run: Run, found: Any) -> None:
        self._stop()
        if run.fingerprint == self._panel.fingerprint():
            try:
                self._panel.say(self._panel.write_result(run, found))
            except FuzzyVesselError as error:
                self._fail(error)
            self._panel.update_soon()
        else:
            self._run.request()

    def _fail(self, error: Exception) -> None:
        panel = self._panel
        if panel.seeds.dragging and isinstance(error, InputError):
            self._requested = None  # where the point is now: outside, or on another one
        else:
            self._previewed = None
            self._preview.drop()
            panel.say(worded(error), problem=True)
            panel.update_soon()
            if not isinstance(error, FuzzyVesselError) and not packages.lacks_package(error):
                raise error


# ---- The surface of the result in the 3D views: it follows the result, made by a thread


class ResultSurface:
    """The closed surfaces of the result's segments, made when they or "Show in 3D" have changed.

    Until it is recomputed the previous one stays, so that the 3D views do not flicker.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self.forget()

    def forget(self) -> None:
        self._run.stop()
        self._last: dict[tuple[Any, str], Any] = {}  # vtkPolyData of each segment
        self._seen: tuple = (None, False)  # the segmentation, and whether it is shown in 3D
        self.first = False  # whether it is the first of a volume, which 3D views are centred on

    @property
    def waits(self) -> bool:
        """Whether the surface is still to be made."""
        return self._run.pending

    def follow(self, parameters: Any) -> None:
        """Segments were written: their surfaces follow."""
        if parameters.show3D:
            for (segmentation, segment_id), surface in self._last.items():
                if segmentation is parameters.segmentation:
                    surfaces.put_surface(segmentation, segment_id, surface)
            self._run.request()

    def react(self, parameters: Any) -> None:
        """Follow "Show in 3D"; a segmentation that was only chosen stays as it is."""
        node, before = parameters.segmentation, self._seen
        self._seen = node, parameters.show3D
        if node is None or node is not before[0] or before == self._seen:
            return
        for each in self._panel.output.result_segments(parameters):
            if parameters.show3D:
                node.GetDisplayNode().SetSegmentVisibility3D(each, True)
                self._run.request()
            else:
                surfaces.drop_surface(node, each)

    def why_not(self, parameters: Any) -> str:
        """Why there is no surface, as a sentence; or an empty text."""
        node, ids = parameters.segmentation, self._panel.output.result_segments(parameters)
        others = surfaces.without_surface(node, ids[0]) if ids else []
        text = _(
            "The segmentation has no surfaces of {others}: press Show 3D in the module "
            "Segmentations to see all segments."
        )
        return text.format(others=", ".join(others)) if others else ""

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> list[tuple]:
        """Segmentation, segment, and what is read of it.

        Slicer shows surfaces of all segments or of none: earlier results get theirs, too.
        """
        parameters = self._panel.logic.getParameterNode()  # the module may have been left since
        node, ids = parameters.segmentation, self._panel.output.result_segments(parameters)
        ids = [each for each in ids if surfaces.may_have_surface(node, each)]
        if not ids or not parameters.show3D:
            return []
        inner, jobs = node.GetSegmentation(), []
        for each in inner.GetSegmentIDs():
            if each in ids or not surfaces.has_surface(inner.GetSegment(each)):
                read = surfaces.surface_input(inner, each)
                if read is not None:
                    jobs.append((node, each, read))
                else:  # of a conversion that only Slicer itself can make
                    surfaces.make_surface(node, each)
        return jobs

    @staticmethod
    def _compute(jobs: list[tuple], progress: Any) -> list[tuple]:
        return [(*job, job[2].surface(progress)) for job in jobs]

    def _show(self, jobs: list[tuple]) -> None:
        """Show the surfaces of segments whose voxels are as they were read."""
        parameters = self._panel.logic.getParameterNode()
        for node, segment_id, read, surface in jobs if parameters.show3D else ():
            if read.put(node.GetSegmentation(), segment_id, surface):
                self._last[node, segment_id] = surface
        if self.first and parameters.labelmap is not None:
            self.first = False  # Slicer itself centres 3D views on the whole scene
            fit_cameras(parameters.labelmap)
        self._panel.update_soon()

    def _fail(self, error: Exception) -> None:
        raise error
