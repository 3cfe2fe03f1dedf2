"""A small plot, painted in the colours of the application: no view, no chart, no OpenGL.

Slicer's own plots need a view in the layout; beside a table a small widget does.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import qt

MARGIN, FOOT, HEIGHT = 8, 18, 120  # pixels round the curve, below it for the numbers, of the plot
SECOND = (52, 120, 200)


class CurvePlot(qt.QWidget):
    """One curve from 0 up in a QFrame, with its greatest value and both titles; or a hint."""

    def __init__(self, frame: Any) -> None:
        qt.QWidget.__init__(self, frame)
        layout = qt.QVBoxLayout(frame)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self)
        self.setMinimumHeight(HEIGHT)
        self.show_hint("")

    def show_curve(self, x: np.ndarray, y: np.ndarray, x_title: str, y_title: str) -> None:
        """Show y over x; values that are not finite are left out."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        finite = np.isfinite(x) & np.isfinite(y)
        self._x, self._y, self._titles, self._hint = x[finite], y[finite], (x_title, y_title), ""
        self.update()

    def show_hint(self, text: str) -> None:
        """Show a text and no curve."""
        self._x = self._y = np.empty(0)
        self._hint = text
        self.update()

    def paintEvent(self, event: Any) -> None:
        width, height = max(self.width - 2 * MARGIN, 1), max(self.height - FOOT - 4, 1)
        painter, area = qt.QPainter(self), qt.QRectF(MARGIN, 4, width, height)
        painter.setRenderHint(qt.QPainter.Antialiasing)
        painter.fillRect(area, self.palette.color(qt.QPalette.Base))
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        if self._x.size:
            self._paint_curve(painter, area)
        else:
            painter.drawText(area, qt.Qt.AlignCenter | qt.Qt.TextWordWrap, self._hint)
        painter.setPen(self.palette.color(qt.QPalette.Mid))
        painter.drawRect(area)
        painter.end()

    def _paint_curve(self, painter: Any, area: Any) -> None:
        low, high, top = self._x.min(), self._x.max(), max(self._y.max(), 1e-6)
        inner, below = area.adjusted(4, 2, -4, -2), area.adjusted(0, area.height() + 1, 0, FOOT - 1)
        highest = f"{self._titles[1]}: 0 - {top:.3g}"
        painter.drawText(inner, qt.Qt.AlignLeft | qt.Qt.AlignTop, highest)
        painter.drawText(below, qt.Qt.AlignLeft, f"{low:.4g}")
        painter.drawText(below, qt.Qt.AlignHCenter, self._titles[0])
        painter.drawText(below, qt.Qt.AlignRight, f"{high:.4g}")
        line = qt.QPen(qt.QColor(*SECOND))
        line.setWidthF(2.0)
        painter.setPen(line)
        across = area.left() + (self._x - low) / max(high - low, 1e-6) * area.width()
        up = area.bottom() - self._y * 0.82 / top * area.height()
        points = [qt.QPointF(float(a), float(b)) for a, b in zip(across, up)]
        for before, after in pairwise(points):
            painter.drawLine(before, after)
