"""Small plots, painted: a picture for a QLabel.

Slicer's own plots need a view in the layout; beside a table or a slider a picture does.
"""

from dataclasses import dataclass

import numpy as np
import qt

LEFT, RIGHT, TOP, BOTTOM = 46, 10, 8, 34  # pixels round the plot
TICKS = 5  # wanted on an axis
STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Line:
    """A line of a plot.

    Attributes
    ----------
    x, y : array_like
        Of the same length.
    color : tuple of int
        Red, green and blue, 0..255.
    filled : bool
        The area below is filled in a lighter colour.
    """

    x: object
    y: object
    color: tuple = (46, 107, 178)
    filled: bool = False


def draw(label, lines, x_title, y_title, marks=(), y_range=None, height=140):
    """Show a plot in a QLabel, as wide as the label is.

    Parameters
    ----------
    label : QLabel
    lines : sequence of Line
        Drawn one over the other.
    x_title, y_title : str
        With the unit.
    marks : sequence of float
        Places on the x axis that get a vertical line.
    y_range : tuple of float, optional
        By default from 0, or below, to the largest value.
    height : int
        Pixels.
    """
    label.setPixmap(picture(label.palette, max(label.width, 200), height, lines, x_title, y_title,
                            marks, y_range))  # fmt: skip


def picture(palette, width, height, lines, x_title, y_title, marks=(), y_range=None):
    """The plot as QPixmap in a palette's colours; see `draw`."""
    scale = 2  # sharp on screens of twice the pixels, too
    pixmap = qt.QPixmap(width * scale, height * scale)
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(palette.color(qt.QPalette.Base))
    painter = qt.QPainter(pixmap)
    painter.setRenderHint(qt.QPainter.Antialiasing)
    frame = _Frame(width, height, _range([line.x for line in lines]), _y_range(lines, y_range))
    _axes(painter, frame, palette, x_title, y_title)
    painter.setClipRect(qt.QRectF(LEFT, TOP - 1, frame.width + 1, frame.height + 2))
    for line in lines:
        _line(painter, frame, line)
    pen = qt.QPen(qt.QColor(200, 60, 40))
    pen.setWidthF(1.5)
    pen.setStyle(qt.Qt.DashLine)
    painter.setPen(pen)
    for mark in marks:
        across = frame.across(mark)
        painter.drawLine(qt.QLineF(across, TOP, across, TOP + frame.height))
    painter.end()
    return pixmap


class _Frame:
    """From values to pixels."""

    def __init__(self, width, height, x_range, y_range):
        self.width, self.height = width - LEFT - RIGHT, height - TOP - BOTTOM
        self.x_range, self.y_range = x_range, y_range

    def across(self, value):
        low, high = self.x_range
        return LEFT + self.width * (value - low) / (high - low)

    def down(self, value):
        low, high = self.y_range
        return TOP + self.height * (high - value) / (high - low)


def _range(arrays):
    values = np.concatenate([np.asarray(each, float).ravel() for each in arrays] or [np.zeros(1)])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return (low, high) if high > low else (low, low + 1.0)


def _y_range(lines, wanted):
    if wanted is not None:
        return wanted
    low, high = _range([line.y for line in lines])
    low = min(low, 0.0)
    return low, high + 0.06 * (high - low)


def ticks(low, high, wanted=TICKS):
    """Round numbers from `low` to `high`, about as many as wanted; 0 without a sign."""
    rough = (high - low) / wanted
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(each for each in STEPS if each * power >= rough * 0.999)
    first = np.ceil(low / step - 1e-9)
    return [float(step * number) + 0.0 for number in np.arange(first, high / step + 1e-9)]


def _axes(painter, frame, palette, x_title, y_title):
    text = palette.color(qt.QPalette.Text)
    faint = qt.QColor(text)
    faint.setAlpha(40)
    font = qt.QFont(painter.font())
    font.setPixelSize(10)
    painter.setFont(font)
    bottom = TOP + frame.height
    for value in ticks(*frame.x_range):
        across = frame.across(value)
        painter.setPen(faint)
        painter.drawLine(qt.QLineF(across, TOP, across, bottom))
        painter.setPen(text)
        box = qt.QRectF(across - 30, bottom + 2, 60, 13)
        painter.drawText(box, int(qt.Qt.AlignCenter), f"{value:g}")
    for value in ticks(*frame.y_range, wanted=4):
        down = frame.down(value)
        painter.setPen(faint)
        painter.drawLine(qt.QLineF(LEFT, down, LEFT + frame.width, down))
        painter.setPen(text)
        box = qt.QRectF(14, down - 7, LEFT - 18, 14)
        painter.drawText(box, int(qt.Qt.AlignRight | qt.Qt.AlignVCenter), f"{value:g}")
    painter.setPen(text)
    painter.drawRect(qt.QRectF(LEFT, TOP, frame.width, frame.height))
    below = qt.QRectF(LEFT, bottom + 17, frame.width, 14)
    painter.drawText(below, int(qt.Qt.AlignCenter), x_title)
    painter.save()
    painter.translate(2, TOP + frame.height)
    painter.rotate(-90)
    painter.drawText(qt.QRectF(0, 0, frame.height, 13), int(qt.Qt.AlignCenter), y_title)
    painter.restore()


def _line(painter, frame, line):
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    shown = np.isfinite(x) & np.isfinite(y)
    points = [
        (frame.across(a), frame.down(b)) for a, b in zip(x[shown].tolist(), y[shown].tolist())
    ]
    if not points:
        return
    color = qt.QColor(*line.color)
    path = qt.QPainterPath()
    path.moveTo(*points[0])
    for point in points[1:]:
        path.lineTo(*point)
    if line.filled:
        area = qt.QPainterPath(path)
        area.lineTo(points[-1][0], frame.down(frame.y_range[0]))
        area.lineTo(points[0][0], frame.down(frame.y_range[0]))
        area.closeSubpath()
        light = qt.QColor(color)
        light.setAlpha(60)
        painter.fillPath(area, qt.QBrush(light))
    pen = qt.QPen(color)
    pen.setWidthF(1.8)
    painter.setPen(pen)
    painter.drawPath(path)
