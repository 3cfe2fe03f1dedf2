"""What the colours of the centrelines mean, as a strip of colours with its numbers."""

from typing import Any

import qt
from slicer.i18n import tr as _

from PotentialSkeletonMRML.colouring import (
    GENERATION,
    RADIUS,
    TREE,
    generation_color,
    radius_color,
    radius_range,
)

HEIGHT, STRIP = 18, 10  # pixels of the widget, and of the colours in it
GAP = 6  # pixels between a number and the colours
STEPS = 64  # of the colours of radii
MAX_GENERATIONS = 8  # from then on colours repeat


class Legend(qt.QWidget):
    """Paints the legend.

    Parameters
    ----------
    title : QLabel
        Gets its title.
    frame : QFrame
        Filled by the legend.
    """

    def __init__(self, title: Any, frame: Any) -> None:
        qt.QWidget.__init__(self, frame)
        layout = qt.QVBoxLayout(frame)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self)
        self.setMinimumHeight(HEIGHT)
        self._title, self._frame = title, frame
        self._colors: list[tuple[float, ...]] = []
        self._ends = ("", "")

    def show_colors(self, kind: str, model: Any) -> None:
        """Show the colours that tell of a kind, see `colouring.color_by`, in a model of lines."""
        titles = {
            RADIUS: _("Radius (mm):"),
            GENERATION: _("Generation:"),
            TREE: _("A colour for each tree"),
        }
        self._title.text = titles.get(kind, _("A colour for each branch"))
        self._colors, self._ends = [], ("", "")
        if kind == RADIUS:
            low, high = radius_range(model.GetPolyData())
            self._ends = (f"{low:.1f}", f"{high:.1f}")
            self._colors = [radius_color(step / (STEPS - 1)) for step in range(STEPS)]
        elif kind == GENERATION:
            self._ends = ("0", f"{MAX_GENERATIONS - 1}")
            self._colors = [generation_color(number) for number in range(MAX_GENERATIONS)]
        self._frame.setVisible(bool(self._colors))  # else the title has its room
        self.update()

    def paintEvent(self, event: Any) -> None:
        painter = qt.QPainter(self)
        metrics = qt.QFontMetricsF(self.font)
        left, right = (metrics.boundingRect(each).width() + GAP for each in self._ends)
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        box = qt.QRectF(0, 0, self.width, self.height)
        painter.drawText(box, qt.Qt.AlignLeft | qt.Qt.AlignVCenter, self._ends[0])
        painter.drawText(box, qt.Qt.AlignRight | qt.Qt.AlignVCenter, self._ends[1])
        span = (self.width - left - right) / max(len(self._colors), 1)
        for number, color in enumerate(self._colors):
            place = qt.QRectF(left + number * span, (self.height - STRIP) / 2, span + 0.5, STRIP)
            painter.fillRect(place, qt.QColor.fromRgbF(*color[:3]))
        painter.end()
