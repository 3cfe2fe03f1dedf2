"""The colours of the two lists of points in views and tables."""

VESSEL_COLOR, BACKGROUND_COLOR = (1.0, 0.78, 0.1), (0.25, 0.65, 1.0)


def paint(node, color):
    """Give a list of points its colour (red, green, blue, 0..1) in the views."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
