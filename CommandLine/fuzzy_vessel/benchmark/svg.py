"""A small writer of SVG pictures."""

from xml.sax.saxutils import escape, quoteattr

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
INK, QUIET, GRID, PAPER, FRAME = "#1c2733", "#5d6b7a", "#e3e8ee", "#ffffff", "#d5dce4"


class Picture:
    """Collects shapes; coordinates in pixels from the upper left corner."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self._shapes = []

    def shape(self, name, content="", **attributes):
        """Any element; underscores in names of attributes stand for hyphens."""
        told = " ".join(
            f"{key.replace('_', '-')}={quoteattr(_number(value))}"
            for key, value in attributes.items()
        )
        end = f">{escape(content)}</{name}>" if content else "/>"
        self._shapes.append(f"<{name} {told}{end}")

    def text(self, x, y, content, size=12, colour=INK, anchor="start", weight=400, halo=False):
        """A line of text; y is its baseline. With a halo it stays readable on lines."""
        told = dict(x=x, y=y, font_size=size, fill=colour, text_anchor=anchor, font_weight=weight)
        if halo:  # a text of its own below: not every program draws strokes first
            self.shape("text", content, **told, stroke=PAPER, stroke_width=5)
        self.shape("text", content, **told)

    def bar(self, x, y, width, height, colour):
        """A rectangle with rounded corners."""
        width = max(width, 2)
        self.shape("rect", x=x, y=y, width=width, height=height, rx=2, fill=colour)

    def line(self, x1, y1, x2, y2, colour=GRID, width=1, dashes=None):
        """A straight line."""
        more = {"stroke_dasharray": dashes} if dashes else {}
        self.shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, **more)

    def curve(self, points, colour, width=2, dashes=None):
        """A line through points, with a dot at each where they are few."""
        more = {"stroke_dasharray": dashes} if dashes else {}
        joined = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.shape(
            "polyline", points=joined, fill="none", stroke=colour, stroke_width=width,
            stroke_linejoin="round", stroke_linecap="round", **more,
        )  # fmt: skip
        for x, y in points if len(points) <= 40 and not dashes else ():
            self.shape("circle", cx=x, cy=y, r=2.6, fill=colour)

    def __str__(self):
        frame = (
            f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="8" '
            f'fill="{PAPER}" stroke="{FRAME}"/>'
        )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="{FONT}">'
        )
        return "\n".join([head, frame, *self._shapes, "</svg>"]) + "\n"


def _number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
