"""Lines and tubes as model nodes, coloured by radius."""

from .lines import RADIUS

COLORS = "vtkMRMLColorTableNodeIron"  # red to yellow, in every Slicer and slicer-core
LINE_WIDTH = 3  # pixels


def fill_model(node, data, transform_id):
    """Put a vtkPolyData into a vtkMRMLModelNode, under a parent transform."""
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(transform_id)
        node.SetAndObservePolyData(data)
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()


def show_model(node, lines):
    """Colour a new model by radius; `lines` are drawn a few pixels wide."""
    display = node.GetDisplayNode()
    display.SetActiveScalarName(RADIUS)
    display.SetAndObserveColorNodeID(COLORS)
    display.SetScalarRangeFlag(display.UseDataScalarRange)
    display.ScalarVisibilityOn()
    if lines:
        display.SetLineWidth(LINE_WIDTH)
        display.LightingOff()
