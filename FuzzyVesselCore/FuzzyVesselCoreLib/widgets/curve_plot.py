"""A plot of one curve with numbers and titles on both axes."""

from typing import Any

import numpy as np
import qt

from .line_plot import SECOND, Plot

TICKS = 5  # wanted on an axis
STEPS = (1, 2, 5, 10)


class CurvePlot(Plot):
    """One curve with numbers on both axes, which leave themselves as much room as they need."""

    HEIGHT = 120

    def __init__(self, frame: Any) -> None:
        Plot.__init__(self, frame)
        self._x = self._y = np.empty(0)
        self._top, self._titles, self._hint = 1.0, ("", ""), ""

    def show_curve(self, x: np.ndarray, y: np.ndarray, x_title: str, y_title: str) -> None:
        """Show y over x from 0 up; values that are not finite are left out."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        finite = np.isfinite(x) & np.isfinite(y)
        self._x, self._y, self._titles, self._hint = x[finite], y[finite], (x_title, y_title), ""
        low, high = (float(self._x.min()), float(self._x.max())) if self._x.size else (0.0, 1.0)
        self.low, self.high = low, high if high > low else low + 1.0
        top = float(self._y.max()) * 1.06 if self._y.size else 1.0
        self._top = top if top > 0 else 1.0
        self.update()

    def show_hint(self, text: str) -> None:
        """Show a text and no curve."""
        self._x = self._y = np.empty(0)
        self._hint = text
        self.update()

    def area(self) -> Any:
        """Return the part of the widget between the numbers (QRectF)."""
        if self._hint:
            return Plot.area(self)
        line = self._metrics().height()
        left = line + 10 + max(self._width(f"{each:g}") for each in self._y_ticks())
        right = 4 + max(self._width(f"{each:g}") for each in self._x_ticks()) / 2
        bottom = 2 * line + 4
        width, height = self.width - left - right, self.height - line / 2 - bottom
        return qt.QRectF(left, line / 2, max(width, 1), max(height, 1))

    def paint_curves(self, painter: Any, area: Any) -> None:
        if self._hint:
            self.hint(painter, area, self._hint)
            return
        self._paint_axes(painter, area)
        heights = (self._y / self._top).tolist()
        self.line(painter, area, self._x.tolist(), heights, SECOND, 2.0)

    def _paint_axes(self, painter: Any, area: Any) -> None:
        text = self.palette.color(qt.QPalette.WindowText)
        faint = qt.QColor(text)
        faint.setAlpha(40)
        line = self._metrics().height()
        for value in self._x_ticks():
            x = self.x_of(value, area)
            painter.setPen(faint)
            painter.drawLine(qt.QPointF(x, area.top()), qt.QPointF(x, area.bottom()))
            painter.setPen(text)
            box = qt.QRectF(x - 40, area.bottom() + 1, 80, line)
            painter.drawText(box, qt.Qt.AlignCenter, f"{value:g}")
        for value in self._y_ticks():
            y = area.bottom() - value / self._top * area.height()
            painter.setPen(faint)
            painter.drawLine(qt.QPointF(area.left(), y), qt.QPointF(area.right(), y))
            painter.setPen(text)
            box = qt.QRectF(0, y - line / 2, area.left() - 4, line)
            painter.drawText(box, qt.Qt.AlignRight | qt.Qt.AlignVCenter, f"{value:g}")
        below = qt.QRectF(area.left(), area.bottom() + line + 2, area.width(), line)
        painter.drawText(below, qt.Qt.AlignCenter, self._titles[0])
        painter.save()
        painter.translate(1, area.bottom())
        painter.rotate(-90)
        painter.drawText(qt.QRectF(0, 0, area.height(), line), qt.Qt.AlignCenter, self._titles[1])
        painter.restore()

    def _x_ticks(self) -> list[float]:
        return ticks(self.low, self.high)

    def _y_ticks(self) -> list[float]:
        return ticks(0.0, self._top, wanted=3)

    def _metrics(self) -> Any:
        return qt.QFontMetricsF(self.font)

    def _width(self, text: str) -> float:
        return self._metrics().boundingRect(text).width()


def ticks(low: float, high: float, wanted: int = TICKS) -> list[float]:
    """Return round numbers from `low` to `high`, about as many as wanted; 0 without a sign.

    Examples
    --------
    >>> ticks(0, 10)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    rough = (high - low) / wanted
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(each for each in STEPS if each * power >= rough * 0.999)
    first = np.ceil(low / step - 1e-9)
    return [float(step * number) + 0.0 for number in np.arange(first, high / step + 1e-9)]
