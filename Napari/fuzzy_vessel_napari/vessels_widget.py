"""The widget that finds vessels from points."""

from magicgui.widgets import CheckBox, ComboBox, FloatSlider, create_widget
from napari.layers import Image, Labels, Points
from napari.viewer import Viewer

from .jobs import Job, vessels_job
from .panel import JobPanel


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
