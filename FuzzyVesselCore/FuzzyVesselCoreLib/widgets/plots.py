"""A small plot, painted in the colours of the application: no view, no chart, no OpenGL.

Slicer's own plots need a view in the layout; beside a table a small widget does.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import qt

MARGIN, FOOT, HEIGHT = 8, 18, 120  # pixels round the curve, below it for the numbers, of the plot
# Of the curves: the first in the colour of the lines, the others thin and fainter.
COLORS, WIDTHS = ((52, 120, 200), (150, 150, 150), (150, 150, 150)), (2.0, 1.2, 1.2)


class CurvePlot(qt.QWidget):
    """Curves from 0 up in a QFrame, with their greatest value and both titles; or a hint."""

    def __init__(self, frame: Any) -> None:
        qt.QWidget.__init__(self, frame)
        layout = qt.QVBoxLayout(frame)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self)
        self.setMinimumHeight(HEIGHT)
        self.show_hint("")

    def show_curves(self, x: np.ndarray, y: Sequence[Any], x_title: str, y_title: str) -> None:
        """Show rows of y (up to three) over x; where one is not finite, all are left out."""
        x, rows = np.asarray(x, float), np.atleast_2d(np.asarray(y, float))
        finite = np.isfinite(x) & np.isfinite(rows).all(axis=0)
        self.curves, self._titles, self._hint = (x[finite], rows[:, finite]), (x_title, y_title), ""
        self.update()

    def show_hint(self, text: str) -> None:
        """Show a text and no curve."""
        self.curves = np.empty(0), np.empty((1, 0))
        self._hint = text
        self.update()

    def paintEvent(self, event: Any) -> None:
        width, height = max(self.width - 2 * MARGIN, 1), max(self.height - FOOT - 4, 1)
        painter, area = qt.QPainter(self), qt.QRectF(MARGIN, 4, width, height)
        painter.setRenderHint(qt.QPainter.Antialiasing)
        painter.fillRect(area, self.palette.color(qt.QPalette.Base))
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        if self.curves[0].size:
            self._paint_curve(painter, area)
        else:
            painter.drawText(area, qt.Qt.AlignCenter | qt.Qt.TextWordWrap, self._hint)
        painter.setPen(self.palette.color(qt.QPalette.Mid))
        painter.drawRect(area)
        painter.end()

    def _paint_curve(self, painter: Any, area: Any) -> None:
        x, rows = self.curves
        low, high, top = x.min(), x.max(), max(rows.max(), 1e-6)
        inner, below = area.adjusted(4, 2, -4, -2), area.adjusted(0, area.height() + 1, 0, FOOT - 1)
        highest = f"{self._titles[1]}: 0 - {top:.3g}"
        painter.drawText(inner, qt.Qt.AlignLeft | qt.Qt.AlignTop, highest)
        painter.drawText(below, qt.Qt.AlignLeft, f"{low:.4g}")
        painter.drawText(below, qt.Qt.AlignHCenter, self._titles[0])
        painter.drawText(below, qt.Qt.AlignRight, f"{high:.4g}")
        across = area.left() + (x - low) / max(high - low, 1e-6) * area.width()
        for row, color, width in reversed(list(zip(rows, COLORS, WIDTHS))):
            line = qt.QPen(qt.QColor(*color))
            line.setWidthF(width)
            painter.setPen(line)
            up = area.bottom() - row * 0.82 / top * area.height()
            points = [qt.QPointF(float(a), float(b)) for a, b in zip(across, up)]
            for before, after in pairwise(points):
                painter.drawLine(before, after)
