"""Small plots, painted in the colours of the application: no view, no chart, no OpenGL.

Slicer's own plots need a view in the layout; beside a table or a slider a small widget does.
"""

from collections.abc import Sequence
from typing import Any

import qt

MARGIN, FOOT = 8, 18  # pixels round the curves, and below them for the numbers
ACCENT, SECOND = (214, 64, 48), (52, 120, 200)


class Plot(qt.QWidget):
    """Curves over a horizontal axis; a subclass paints them.

    Parameters
    ----------
    frame : QFrame
        Filled by the plot.
    """

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
