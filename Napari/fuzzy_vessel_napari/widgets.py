"""The two widgets: a button that runs a job, its progress, and one that cancels it."""

from collections.abc import Callable
from typing import Any

from magicgui import widgets as gui
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


class JobPanel(gui.Container):
    """Fields above a button with a verb; one run at a time, in another thread.

    `make_job` is called with the fields' values, by their names; it raises `FuzzyVesselError`
    where they do not fit.
    """

    def __init__(
        self, viewer: Viewer, verb: str, make_job: Callable[..., Job], fields: list[Any]
    ) -> None:
        self._viewer, self._make_job, self._fields = viewer, make_job, fields
        self._worker: Any = None
        device = gui.ComboBox(choices=("auto", "cpu", "cuda"), name="device", label="Device")
        fields.append(device)
        self.run_button = gui.PushButton(text=verb)
        self.cancel_button = gui.PushButton(text="Cancel", enabled=False)
        self.bar = gui.ProgressBar(min=0, max=100, value=0)
        self.status = gui.Label(value="")
        super().__init__(
            widgets=[*fields, self.run_button, self.cancel_button, self.bar, self.status]
        )
        self.run_button.changed.connect(self.run)
        self.cancel_button.changed.connect(self.cancel)

    def run(self) -> None:
        """Start the job; what does not fit is said below the buttons."""
        try:
            job = self._make_job(**{field.name: field.value for field in self._fields})
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
        automatic = gui.CheckBox(value=True, name="automatic", label="Automatic threshold")
        threshold = gui.FloatSlider(value=0.5, min=0, max=1, name="threshold", label="Threshold")
        threshold.enabled = False
        automatic.changed.connect(lambda chosen: setattr(threshold, "enabled", not chosen))
        fields = [
            gui.create_widget(annotation=Image, name="image", label="Image"),
            gui.create_widget(annotation=Points, name="points", label="In vessels"),
            gui.create_widget(annotation=Points | None, name="background", label="Not vessel"),
            gui.create_widget(annotation=Labels | None, name="mask", label="Only inside"),
            automatic,
            threshold,
        ]
        super().__init__(viewer, "Find vessels", vessels_job, fields)


class CentrelinesWidget(JobPanel):
    """Labels to a shapes layer with a path a branch."""

    def __init__(self, viewer: Viewer) -> None:
        fields = [
            gui.create_widget(annotation=Labels, name="vessels", label="Labels"),
            gui.SpinBox(value=0, min=0, max=65535, name="number", label="Label (0: all)"),
            gui.Slider(value=2, min=1, max=3, name="level", label="Detail"),
        ]
        super().__init__(viewer, "Find centrelines", centrelines_job, fields)
