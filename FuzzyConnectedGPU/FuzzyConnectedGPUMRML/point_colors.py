"""How the two lists of points look in views and tables."""

from typing import Any

VESSEL_COLOR, BACKGROUND_COLOR = (1.0, 0.78, 0.1), (0.25, 0.65, 1.0)


def paint(node: Any, color: tuple[float, float, float]) -> None:
    """Give a list of points its colour (red, green, blue, 0..1); labels would cover the vessels."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
    display.SetPointLabelsVisibility(False)
