"""Labels go into the selected segment by the rules of the Segment Editor."""

from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.mrml.images import array_from_image


def write_segment(scripted_effect: Any, labels: np.ndarray, keep: bool) -> None:
    """Write labels into the selected segment, as one step of the editor's undo.

    Masking and overwriting of other segments are the editor's.

    Parameters
    ----------
    scripted_effect : qSlicerSegmentEditorScriptedEffect
    labels : ndarray, shape (K, J, I), uint8
        On the editor's voxels.
    keep : bool
        Add to what the segment holds, instead of replacing it.
    """
    base = slicer.qSlicerSegmentEditorAbstractEffect
    scripted_effect.saveStateForUndo()
    modifier = scripted_effect.defaultModifierLabelmap()
    array_from_image(modifier)[:] = labels
    modifier.Modified()
    mode = base.ModificationModeAdd if keep else base.ModificationModeSet
    scripted_effect.modifySelectedSegmentByLabelmap(modifier, mode)
