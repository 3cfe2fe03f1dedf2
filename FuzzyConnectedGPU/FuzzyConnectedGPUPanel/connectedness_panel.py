"""The panel of the module: its sections, its runs, and the result that follows the seeds."""

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib.solvers import CUDA_MODULES
from FuzzyConnectedGPUMRML import run_inputs
from FuzzyVesselCoreLib.gpu.device import cuda_status
from FuzzyVesselCoreLib.widgets import packages
from FuzzyVesselCoreLib.widgets.module_panel import Panel

from . import region_section
from .affinity_section import AffinitySection, affinity_of
from .input_section import InputSection
from .output_section import OutputSection
from .region_section import RegionSection
from .seeds_section import SeedsSection
from .threshold_section import LEAST, ThresholdSection

NUMBA = (packages.NUMBA,)
REST = 60  # milliseconds that a change rests before the result follows it


class ConnectednessPanel(Panel):
    """Fuzzy connectedness from clicks to a segment."""

    @property
    def requirements(self):
        """numba, unless the card is used: then nobody is asked to install what is not needed."""
        parameters = self.parameters
        if parameters.model.value == "contrast" or self.seeds.finding:
            return NUMBA
        on_cpu = parameters.device == "cpu" or parameters.solver.value not in CUDA_MODULES
        return () if not on_cpu and cuda_status() is None else NUMBA

    def title(self):
        return _("Fuzzy Connectedness (GPU)")

    def connect(self):
        self._showing = self._again = False
        self._hinted = ""
        self._inputs = None  # of the run that was begun last
        self._timer = qt.QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(REST)
        self._timer.connect("timeout()", self._follow)
        self.input = InputSection(self)
        self.seeds = SeedsSection(self)
        self.affinity = AffinitySection(self)
        self.region = RegionSection(self)
        self.threshold = ThresholdSection(self)
        self.output = OutputSection(self)
        self.sections = (
            self.input,
            self.seeds,
            self.affinity,
            self.region,
            self.threshold,
            self.output,
        )
        self.say("")

    def show(self):
        if self._showing:
            return
        self._showing = True
        try:
            self.output.follow(self.parameters)
            for section in self.sections:
                section.show(self.parameters)
            self._show_advanced()
            self._hint()
            self._notice()
        finally:
            self._showing = False

    def _show_advanced(self):
        by_affinity = self.parameters.model.value == "affinity"
        why = "" if by_affinity else _("Only used by the affinity to the seeds.")
        for widget in (self.ui.solverComboBox, self.ui.formComboBox):
            self.enable(widget, why)
        for widget in (self.ui.affinityCollapsibleButton, self.ui.cutLabel, self.ui.cutSlider):
            widget.setVisible(by_affinity)
        why = _("Only used by the contrast to the surroundings.") if by_affinity else ""
        self.enable(self.ui.borderComboBox, why)
        corrected = by_affinity and self.parameters.solver.value == "cuda-kfoe-corrected"
        why = "" if corrected else _("Only used by the corrected CUDA-kFOE solver.")
        self.enable(self.ui.correctionsSpinBox, why)
        self.enable(self.ui.directionsSpinBox, why)
        weighted = by_affinity and self.parameters.form.value == "weighted"
        self.enable(self.ui.weightSlider, "" if weighted else _("Only used by the weighted sum."))

    def exit(self):
        self.seeds.stop_placing()
        self.threshold.end_preview()
        Panel.exit(self)

    def forget(self):
        self._timer.stop()
        self._inputs, self._again = None, False
        for section in self.sections:
            section.forget()
        self.logic.forget()

    # --- what sections ask for

    @staticmethod
    def has_voxels(volume):
        """Whether a node is a volume with voxels of one component."""
        image = volume.GetImageData() if volume is not None else None
        return (
            image is not None
            and image.GetPointData().GetScalars() is not None
            and image.GetNumberOfScalarComponents() == 1
        )

    def result_scene(self, parameters=None):
        """The fuzzy scene of the last run, or None."""
        parameters = parameters or self.parameters
        node = parameters.sceneVolume if parameters is not None else None
        return node if self.has_voxels(node) else None

    def inputs_text(self):
        """A text of all that the fuzzy scene depends on."""
        parameters = self.parameters
        region = region_section.nodes_of(parameters)
        return run_inputs.inputs_text(
            parameters.inputVolume,
            parameters.seeds,
            mask_node=region["maskNode"],
            segment_id=region["maskSegmentID"],
            roi_node=region["roiNode"],
            background_node=parameters.backgroundSeeds,
            **self._model(parameters),
        )

    @staticmethod
    def _model(parameters):
        """What a run's model is, with its own options, as `FuzzyConnectedGPULogic.segment`."""
        if parameters.model.value == "contrast":
            return dict(model="contrast", border=parameters.border.value)
        return dict(
            model="affinity",
            affinity=affinity_of(parameters),
            cut=parameters.cut,
            solver=parameters.solver.value,
        )

    def is_current(self):
        """Whether the fuzzy scene is that of the seeds and settings as they are now."""
        return run_inputs.is_from(self.result_scene(), self.inputs_text())

    @staticmethod
    def output_source(parameters):
        """The node whose results are written."""
        return parameters.inputVolume

    @staticmethod
    def output_inputs(parameters):
        """Nodes that results are not written into, by what they are called."""
        return {"input volume": parameters.inputVolume, "mask": parameters.mask}

    # --- runs

    def why_not(self):
        parameters = self.parameters
        if parameters.inputVolume is None:
            return _("Choose a volume.")
        if not self.has_voxels(parameters.inputVolume):
            return _("The volume holds no voxels, or colours instead of one intensity.")
        seeds = parameters.seeds
        if seeds is None or not seeds.GetNumberOfDefinedControlPoints():
            return _("Place at least one point inside the vessels (section Seeds).")
        if parameters.model.value == "affinity":
            if self.affinity.problem:
                return self.affinity.problem
            if affinity_of(parameters) is None:
                return _("The affinity's spreads must be above 0.")
        return region_section.why_not(parameters)

    def run(self, parameters, progress):
        self.output.follow(parameters)
        self.threshold.begin(parameters)
        self._inputs = self.inputs_text()
        volume = parameters.inputVolume
        result = self._segment(parameters, progress)
        with slicer.util.NodeModify(parameters.parameterNode):
            self.output.written(parameters, result, volume)
            self.threshold.taken(parameters, result)
        return "\n".join([self._done(result), *result.warnings])

    def _segment(self, parameters, progress):
        source = parameters.thresholdSource.value
        variant = self._model(parameters)
        if variant.get("solver") == "cuda-kfoe-corrected":
            variant |= dict(corrections=parameters.corrections, directions=parameters.directions)
        threshold = None
        if source == "manual":
            threshold = max(parameters.threshold, variant.get("cut", LEAST))
        return self.logic.segment(
            parameters.inputVolume,
            parameters.seeds,
            **region_section.nodes_of(parameters),
            backgroundSeedsNode=parameters.backgroundSeeds,
            threshold=threshold,
            device=parameters.device,
            fillGaps=parameters.fillGaps,
            sceneVolumeNode=parameters.sceneVolume,
            labelmapNode=parameters.labelmap,
            segmentationNode=parameters.segmentation or True,
            segmentID=self.output.segment_to_write(parameters),
            progress=progress,
            **variant,
        )

    def _done(self, result):
        work = {
            "nothing": _("Nothing but the threshold had changed"),
            "new seeds": _("Went on from the last run"),
        }.get(self.logic.kept.work, _("Done"))
        device = result.scene.device
        device = _("the CPU") if device == "cpu" else device
        return _("{work}, on {device}.").format(work=work, device=device)

    def _hint(self):
        """Say what is missing for a run where the user looks, not in a tooltip alone."""
        why = "" if self.running.active else self.why_not()
        if why or (self._hinted and self.ui.statusLabel.text == self._hinted):
            self.say(why)
        self._hinted = why

    # --- following the seeds

    def _notice(self):
        """Let the result follow, where the user wants that and something has changed."""
        if not self.parameters.autoUpdate or self.why_not() or self.seeds.finding:
            return
        text = self.inputs_text()
        if self.running.active:
            if text != self._inputs:
                # One run at a time, and only the newest: this one is of no use any more.
                self._again = True
                self.running.cancel()
        elif text != self._inputs and not self.is_current():
            self._timer.start()

    def _follow(self):
        if self.parameters is None or self.running.busy or self._left or self.why_not():
            return
        self._again = False
        self.apply_quietly()
        if self._again:
            self._timer.start()
