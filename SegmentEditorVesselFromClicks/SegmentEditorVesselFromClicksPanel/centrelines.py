"""On to the centrelines of a segment."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.errors import InputError

MODULE = "PotentialSkeleton"


def open_centrelines(scripted_effect: Any) -> None:
    """Open Potential Skeleton with the selected segment as its input.

    Parameters
    ----------
    scripted_effect : qSlicerSegmentEditorScriptedEffect

    Raises
    ------
    InputError
        The segment is empty, or the module is not there.
    """
    image, node = scripted_effect.selectedSegmentLabelmap(), scripted_effect.parameterSetNode()
    if image is None or image.IsEmpty():
        raise InputError(_("The segment is empty: place points and press Apply first."))
    try:
        parameters = slicer.util.getModuleWidget(MODULE).logic.getParameterNode()
        parameters.input = node.GetSegmentationNode()
        parameters.segment = node.GetSelectedSegmentID()
        slicer.util.selectModule(MODULE)
    except RuntimeError as error:  # of slicer.util: no such module, or no main window
        raise InputError(_("Potential Skeleton cannot be opened: {e}").format(e=error)) from error
