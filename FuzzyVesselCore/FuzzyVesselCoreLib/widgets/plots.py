"""Small plots, painted in the colours of the application: no view, no chart, no OpenGL.

Slicer's own plots need a view in the layout; beside a table or a slider a small widget does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import qt

MARGIN, FOOT = 8, 18  # pixels round the curves, and below them for the numbers
ACCENT, SECOND = (214, 64, 48), (52, 120, 200)


class Plot(qt.QWidget):
    """Curves over a horizontal axis from `low` to `high`, in a QFrame; a subclass paints them."""

    HEIGHT = 110

    def __init__(self, frame: Any) -> None:
        qt.QWidget.__init__(self, frame)
        layout = qt.QVBoxLayout(frame)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self)
        self.setMinimumHeight(self.HEIGHT)
        self.low, self.high = 0.0, 1.0

    def paintEvent(self, event: Any) -> None:
        painter = qt.QPainter(self)
        painter.setRenderHint(qt.QPainter.Antialiasing)
        area = self.area()
        painter.fillRect(area, self.palette.color(qt.QPalette.Base))
        self.paint_curves(painter, area)
        painter.setPen(pen(self.palette.color(qt.QPalette.Mid), 1.0))
        painter.drawRect(area)
        painter.end()

    def paint_curves(self, painter: Any, area: Any) -> None:
        """Paint what there is to see into a QRectF."""

    def area(self) -> Any:
        """Return the part of the widget (QRectF) that the curves fill."""
        width, height = self.width, self.height
        return qt.QRectF(MARGIN, 4, max(width - 2 * MARGIN, 1), max(height - FOOT - 4, 1))

    def x_of(self, value: float, area: Any) -> float:
        """Return the horizontal place (pixels) of a value of the axis."""
        return area.left() + (value - self.low) / (self.high - self.low) * area.width()

    def line(
        self,
        painter: Any,
        area: Any,
        values: Sequence[float],
        heights: Sequence[float],
        color: tuple[int, int, int],
        width: float = 1.6,
    ) -> None:
        """Paint a curve through values of the axis, with heights 0..1."""
        painter.setPen(pen(qt.QColor(*color), width))
        last = None
        for value, height in zip(values, heights):
            point = qt.QPointF(self.x_of(value, area), area.bottom() - height * area.height())
            if last is not None:
                painter.drawLine(last, point)
            last = point

    def upright(
        self,
        painter: Any,
        area: Any,
        value: float,
        color: tuple[int, int, int],
        dashed: bool = False,
    ) -> None:
        """Paint a vertical line at a value of the axis, if it is within."""
        if not self.low <= value <= self.high:
            return
        line = pen(qt.QColor(*color), 1.4)
        if dashed:
            line.setStyle(qt.Qt.DashLine)
        painter.setPen(line)
        x = self.x_of(value, area)
        painter.drawLine(qt.QPointF(x, area.top()), qt.QPointF(x, area.bottom()))

    def numbers(self, painter: Any, area: Any, texts: Sequence[str]) -> None:
        """Paint texts below the axis: at its left end, its middle and its right end."""
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        places = (qt.Qt.AlignLeft, qt.Qt.AlignHCenter, qt.Qt.AlignRight)
        below = qt.QRectF(area.left(), area.bottom() + 1, area.width(), FOOT - 2)
        for text, place in zip(texts, places):
            painter.drawText(below, place | qt.Qt.AlignVCenter, text)

    def hint(self, painter: Any, area: Any, text: str) -> None:
        """Paint a text in the place of curves."""
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        painter.drawText(area, qt.Qt.AlignCenter | qt.Qt.TextWordWrap, text)


def pen(color: Any, width: float) -> Any:
    """Return a QPen of a width in pixels."""
    line = qt.QPen(color)
    line.setWidthF(width)
    return line


class CurvePlot(Plot):
    """One curve from 0 up, its greatest value and both titles; or a hint."""

    HEIGHT = 120

    def __init__(self, frame: Any) -> None:
        Plot.__init__(self, frame)
        self.show_hint("")

    def show_curve(self, x: np.ndarray, y: np.ndarray, x_title: str, y_title: str) -> None:
        """Show y over x; values that are not finite are left out."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        finite = np.isfinite(x) & np.isfinite(y)
        self._x, self._y, self._titles, self._hint = x[finite], y[finite], (x_title, y_title), ""
        if self._x.size:
            self.low, self.high = float(self._x.min()), float(self._x.max())
            self.high = max(self.high, self.low + 1e-6)
        self.update()

    def show_hint(self, text: str) -> None:
        """Show a text and no curve."""
        self._x = self._y = np.empty(0)
        self._hint = text
        self.update()

    def paint_curves(self, painter: Any, area: Any) -> None:
        if self._hint or not self._x.size:
            self.hint(painter, area, self._hint)
            return
        top = max(float(self._y.max()), 1e-6)
        self.line(painter, area, self._x.tolist(), (self._y * 0.9 / top).tolist(), SECOND, 2.0)
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        inner = area.adjusted(4, 2, -4, -2)
        highest = f"{self._titles[1]}: 0 - {top:.3g}"
        painter.drawText(inner, qt.Qt.AlignLeft | qt.Qt.AlignTop, highest)
        self.numbers(painter, area, [f"{self.low:.4g}", self._titles[0], f"{self.high:.4g}"])
