"""What the colours of the centrelines mean, as a strip of colours with its numbers."""

from collections.abc import Sequence
from typing import Any

import qt
from slicer.i18n import tr as _

from PotentialSkeletonMRML.colouring import (
    GENERATION,
    RADIUS,
    generation_color,
    radius_color,
    radius_range,
)

HEIGHT = 18  # pixels
STRIP = 10  # of them, for the colours of radii
MAX_GENERATIONS = 8  # from then on colours repeat


class Legend:
    """Paints the legend into a QLabel; its title is another one."""

    def __init__(self, title: Any, label: Any) -> None:
        self._title, self._label = title, label

    def show(self, kind: str, model: Any) -> None:
        """Show the colours that tell of a kind, see `colouring.color_by`, in a model of lines."""
        titles = {RADIUS: _("Radius (mm):"), GENERATION: _("Generation:")}
        self._title.text = titles.get(kind, _("A colour for each branch"))
        width = max(self._label.width, 60)
        if kind == RADIUS:
            low, high = radius_range(model.GetPolyData())
            ends = (f"{low:.1f}", f"{high:.1f}")
            colors = [radius_color(step / 31) for step in range(32)]
        elif kind == GENERATION:
            colors = [generation_color(number) for number in range(MAX_GENERATIONS)]
            ends = ("0", f"{MAX_GENERATIONS - 1}")
        else:
            colors, ends = [], ("", "")
        self._label.setPixmap(_strip(self._label.palette, width, colors, ends))


def _strip(
    palette: Any, width: int, colors: Sequence[tuple[float, ...]], ends: tuple[str, str]
) -> Any:
    """Return a QPixmap: a strip of colours between two numbers."""
    scale = 2  # sharp on screens of twice the pixels, too
    pixmap = qt.QPixmap(width * scale, HEIGHT * scale)
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(qt.QColor(0, 0, 0, 0))
    painter = qt.QPainter(pixmap)
    metrics = qt.QFontMetricsF(painter.font())
    left, right = (metrics.boundingRect(each).width() + 6 for each in ends)
    painter.setPen(palette.color(qt.QPalette.WindowText))
    if colors:
        box = qt.QRectF(0, 0, width, HEIGHT)
        painter.drawText(box, qt.Qt.AlignLeft | qt.Qt.AlignVCenter, ends[0])
        painter.drawText(box, qt.Qt.AlignRight | qt.Qt.AlignVCenter, ends[1])
    span = (width - left - right) / max(len(colors), 1)
    for number, color in enumerate(colors):
        place = qt.QRectF(left + number * span, (HEIGHT - STRIP) / 2, span + 0.5, STRIP)
        painter.fillRect(place, qt.QColor.fromRgbF(*color[:3]))
    painter.end()
    return pixmap
