"""What the slices show while the slider of the threshold is held."""

from collections.abc import Callable
from typing import Any

import qt
import slicer

from FuzzyConnectedGPUMRML.views import ThresholdPreview

LOOK = 200  # milliseconds between two looks whether the slider is still held


class HeldSlider:
    """A preview from the first move of the slider until it is let go.

    Parameters
    ----------
    panel : ConnectednessPanel
    show_number : callable
        Called with the threshold that is shown.
    """

    def __init__(self, panel: Any, show_number: Callable[[float], None]) -> None:
        self._panel, self._show_number = panel, show_number
        self._preview: ThresholdPreview | None = None
        self._timer = qt.QTimer()
        self._timer.setInterval(LOOK)
        self._timer.connect("timeout()", self._end_if_released)

    @property
    def active(self) -> bool:
        return self._preview is not None

    def show(self, threshold: float) -> None:
        """Show what a threshold would take."""
        scene_node = self._panel.result_scene()
        if scene_node is None or scene_node.GetDisplayNode() is None:
            return
        if self._preview is None:
            self._preview = ThresholdPreview(scene_node, [self._panel.parameters.segmentation])
            self._timer.start()
        self._preview.show(threshold)
        self._show_number(threshold)

    def end(self) -> None:
        """The views show the result again."""
        self._timer.stop()
        if self._preview is not None:
            self._preview.end()
            self._preview = None

    def _end_if_released(self) -> None:
        if not slicer.app.mouseButtons():
            self.end()
            self._panel.update_soon()

    def forget(self) -> None:
        """The views' nodes are gone."""
        self._timer.stop()
        self._preview = None
