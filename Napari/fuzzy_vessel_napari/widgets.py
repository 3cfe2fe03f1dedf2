"""The two widgets: a button that runs a job, its progress, and one that cancels it."""

from typing import Any

from magicgui.widgets import (
    CheckBox,
    ComboBox,
    Container,
    FloatSlider,
    Label,
    ProgressBar,
    PushButton,
    Slider,
    SpinBox,
    create_widget,
)
from napari.layers import Image, Labels, Layer, Points
from napari.qt.threading import GeneratorWorkerSignals, WorkerBase
from napari.viewer import Viewer

from FuzzyVesselCoreLib.errors import FuzzyVesselError

from .jobs import Job, centrelines_job, vessels_job


class Worker(WorkerBase):
    """A job in another thread, which says how far it is and ends once it is told to quit."""

    def __init__(self, job: Job) -> None:
        super().__init__(SignalsClass=GeneratorWorkerSignals)
        self._job = job

    def work(self) -> tuple[list[tuple], str]:
        return self._job(self._progress)

    def _progress(self, share: float) -> bool:
        self.yielded.emit(float(share))
        return not self.abort_requested


class JobPanel(Container):
    """Fields (magicgui) above a button with a verb; one run at a time, in another thread."""

    def __init__(self, viewer: Any, fields: list[Any], verb: str) -> None:
        self._viewer = viewer
        self._worker: Any = None
        self.run_button = PushButton(text=verb)
        self.cancel_button = PushButton(text="Cancel", enabled=False)
        self.bar = ProgressBar(min=0, max=100, value=0)
        self.status = Label(value="")
        super().__init__(
            widgets=[*fields, self.run_button, self.cancel_button, self.bar, self.status]
        )
        self.run_button.changed.connect(self.run)
        self.cancel_button.changed.connect(self.cancel)

    def job(self) -> Job:
        """What the button runs, from the fields; raises `FuzzyVesselError` if they do not fit."""
        raise NotImplementedError

    def run(self) -> None:
        """Start the job; what does not fit is said below the buttons."""
        try:
            job = self.job()
        except FuzzyVesselError as error:
            self.status.value = str(error)
            return
        self.status.value, self.bar.value = "Running", 0
        self.run_button.enabled, self.cancel_button.enabled = False, True
        self._worker = Worker(job)
        self._worker.yielded.connect(self._show_share)
        self._worker.returned.connect(self._show_result)
        self._worker.errored.connect(self._show_error)
        self._worker.finished.connect(self._end)
        self._worker.start()

    def cancel(self) -> None:
        """End the run; no layer is added."""
        self._worker.quit()

    def _show_share(self, share: float) -> None:
        self.bar.value = round(100 * share)

    def _show_result(self, result: tuple[list[tuple], str]) -> None:
        layers, text = result
        for data in layers:
            self._viewer.add_layer(Layer.create(*data))
        self.bar.value, self.status.value = 100, text

    def _show_error(self, error: Exception) -> None:
        if not isinstance(error, FuzzyVesselError | MemoryError):
            raise error
        lacking = isinstance(error, MemoryError)
        self.status.value = "The memory does not suffice." if lacking else str(error)

    def _end(self) -> None:
        if self._worker.abort_requested:
            self.status.value = "Cancelled"
        self._worker = None
        self.run_button.enabled, self.cancel_button.enabled = True, False


class VesselsWidget(JobPanel):
    """Image and points to a labels layer."""

    def __init__(self, viewer: Viewer) -> None:
        self.image = create_widget(annotation=Image, label="Image")
        self.points = create_widget(annotation=Points, label="In vessels")
        self.background = create_widget(annotation=Points | None, label="Not vessel")
        self.mask = create_widget(annotation=Labels | None, label="Only inside")
        self.automatic = CheckBox(value=True, label="Automatic threshold")
        self.threshold = FloatSlider(value=0.5, min=0, max=1, label="Threshold", enabled=False)
        self.device = ComboBox(choices=("auto", "cpu", "cuda"), value="auto", label="Device")
        self.automatic.changed.connect(
            lambda automatic: setattr(self.threshold, "enabled", not automatic)
        )
        fields = [self.image, self.points, self.background, self.mask]
        super().__init__(
            viewer, [*fields, self.automatic, self.threshold, self.device], "Find vessels"
        )

    def job(self) -> Job:
        """The segmentation that the fields ask for."""
        return vessels_job(
            self.image.value,
            self.points.value,
            self.background.value,
            self.mask.value,
            None if self.automatic.value else self.threshold.value,
            self.device.value,
        )


class CentrelinesWidget(JobPanel):
    """Labels to a shapes layer with a path a branch."""

    def __init__(self, viewer: Viewer) -> None:
        self.vessels = create_widget(annotation=Labels, label="Labels")
        self.number = SpinBox(value=0, min=0, max=65535, label="Label (0: all)")
        self.level = Slider(value=2, min=1, max=3, label="Detail")
        self.device = ComboBox(choices=("auto", "cpu", "cuda"), value="auto", label="Device")
        fields = [self.vessels, self.number, self.level, self.device]
        super().__init__(viewer, fields, "Find centrelines")

    def job(self) -> Job:
        """The centrelines that the fields ask for."""
        return centrelines_job(
            self.vessels.value, self.number.value, self.level.value, self.device.value
        )
