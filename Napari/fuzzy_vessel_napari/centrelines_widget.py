"""The widget that finds centrelines."""

from magicgui.widgets import ComboBox, Slider, SpinBox, create_widget
from napari.layers import Labels
from napari.viewer import Viewer

from .jobs import Job, centrelines_job
from .panel import JobPanel


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
