"""The two plots of the panel: intensities with their affinity, and volume over the threshold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import qt
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.widgets.plots import ACCENT, SECOND, Plot


class HistogramPlot(Plot):
    """The image's histogram, the affinity over it, and the seeds' intensities."""

    def __init__(self, frame: Any) -> None:
        Plot.__init__(self, frame)
        self._edges: np.ndarray | None = None
        self._share: np.ndarray | None = None
        self._curve: Callable[[np.ndarray], np.ndarray] | None = None
        self._seeds: Sequence[float] = ()
        self.toolTip = _(
            "Grey: how often each brightness is in the image. Red: the affinity of two neighbours "
            "of that brightness. Blue: the vessel points."
        )

    def show_histogram(self, edges: np.ndarray | None, share: np.ndarray | None) -> None:
        """Show another image's histogram; None shows none."""
        self._edges, self._share = edges, share
        if edges is not None:
            self.low, self.high = float(edges[0]), float(edges[-1])
        self.update()

    def show_affinity(
        self, curve: Callable[[np.ndarray], np.ndarray] | None, seeds: Sequence[float]
    ) -> None:
        """Show a function of intensities (or None), and the intensities of seeds."""
        self._curve, self._seeds = curve, seeds
        self.update()

    def paint_curves(self, painter: Any, area: Any) -> None:
        if self._edges is None or self._share is None:
            self.hint(painter, area, _("Choose a volume to see its histogram."))
            return
        # The root of the share: small vessels are seen beside the air.
        heights = np.sqrt(self._share / self._share.max())
        grey = self.palette.color(qt.QPalette.Mid)
        for left, right, height in zip(self._edges[:-1], self._edges[1:], heights):
            x = self.x_of(float(left), area)
            width = self.x_of(float(right), area) - x + 0.5
            tall = float(height) * area.height()
            painter.fillRect(qt.QRectF(x, area.bottom() - tall, width, tall), grey)
        for seed in self._seeds:
            self.upright(painter, area, seed, SECOND)
        if self._curve is not None:
            values = np.linspace(self.low, self.high, 200)
            heights = np.asarray(self._curve(values)) * 0.96
            self.line(painter, area, values.tolist(), heights.tolist(), ACCENT, 2.0)
        middle = (self.low + self.high) / 2
        self.numbers(painter, area, [f"{x:.4g}" for x in (self.low, middle, self.high)])


class VolumePlot(Plot):
    """V(t): the volume over the threshold, on a logarithmic scale, and where the threshold is.

    `chosen` is called with a threshold where the user clicks.
    """

    HEIGHT = 120

    def __init__(self, frame: Any, chosen: Callable[[float], None]) -> None:
        Plot.__init__(self, frame)
        self._curve: Any = None
        self._threshold: float | None = None
        self._points: tuple[list[float], list[float], float, float] | None = None
        self._chosen = chosen
        self.toolTip = _(
            "Volume over the threshold. Where the curve jumps up towards lower thresholds, the "
            "result leaks. Click to set the threshold."
        )

    def show_curve(self, curve: Any) -> None:
        """Show the curve of another scene (`VolumeCurve`), or None."""
        if curve is not self._curve:
            self._curve, self._points = curve, None if curve is None else _points(curve)
        self.update()

    def show_threshold(self, threshold: float | None) -> None:
        """Show where the threshold is; None shows none."""
        self._threshold = threshold
        self.update()

    def mousePressEvent(self, event: Any) -> None:
        area = self.area()
        place = event.position() if hasattr(event, "position") else event.pos()  # Qt 6 and Qt 5
        share = (place.x() - area.left()) / area.width()
        if self._curve is not None and 0 <= share <= 1:
            self._chosen(self.low + share * (self.high - self.low))

    def paint_curves(self, painter: Any, area: Any) -> None:
        if self._points is None:
            self.hint(painter, area, _("After a run: volume over threshold. A leak is a jump."))
            return
        thresholds, heights, least, most = self._points
        self.line(painter, area, thresholds, heights, SECOND, 2.0)
        if self._threshold is not None:
            self.upright(painter, area, self._threshold, ACCENT)
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        inner = area.adjusted(4, 2, -4, -2)
        painter.drawText(inner, qt.Qt.AlignRight | qt.Qt.AlignTop, millilitres(most))
        painter.drawText(inner, qt.Qt.AlignLeft | qt.Qt.AlignBottom, millilitres(least))
        self.numbers(painter, area, ["0", _("threshold"), "1"])


def _points(curve: Any) -> tuple[list[float], list[float], float, float]:
    """Thresholds and heights (0..1) of a curve at every pixel's worth, and its extreme volumes."""
    places = np.unique(np.linspace(0, len(curve.thresholds) - 1, 400).astype(int))
    volumes = np.maximum(curve.millilitres[places], 1e-12)
    least, most = float(volumes[-1]), float(volumes[0])
    heights = np.log(volumes / least) / max(np.log(most / least), 1e-12) * 0.94 + 0.03
    return curve.thresholds[places].tolist(), heights.tolist(), least, most


def millilitres(volume: float) -> str:
    """A volume in ml as a user reads it."""
    if volume >= 100:
        return _("{volume:.0f} ml").format(volume=volume)
    return _("{volume:.3g} ml").format(volume=volume)
