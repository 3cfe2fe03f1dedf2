"""Labels go into the selected segment by the rules of the Segment Editor."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import slicer

from FuzzyVesselCoreLib.mrml.images import array_from_image


class SegmentWriter:
    """Writes the labels of points into the selected segment, again and again.

    What it has written for the same points before is replaced: a point in a leak takes the leak
    away. What else the segment holds, from other effects or before the first time, can be kept.

    Parameters
    ----------
    scripted_effect : qSlicerSegmentEditorScriptedEffect
    """

    def __init__(self, scripted_effect: Any) -> None:
        self._effect = scripted_effect
        self._own: dict[Hashable, tuple[tuple[int, ...], np.ndarray]] = {}  # bits of voxels

    def write(self, key: Hashable, labels: np.ndarray, keep: bool) -> None:
        """Write labels as one step of the editor's undo.

        Masking and overwriting of other segments are the editor's.

        Parameters
        ----------
        key : hashable
            Of the points and their segment.
        labels : ndarray, shape (K, J, I), uint8
            On the editor's voxels.
        keep : bool
            Keep what the segment holds from elsewhere, instead of replacing all.
        """
        base = slicer.qSlicerSegmentEditorAbstractEffect
        wanted = labels > 0
        held = self._held(wanted.shape)
        own = self._own_of(key, wanted.shape) & held
        self._effect.saveStateForUndo()
        if keep:
            gone = own & ~wanted
            if gone.any():
                self._modify(gone, base.ModificationModeRemove)
            self._modify(wanted, base.ModificationModeAdd)
            wanted &= own | ~held
        else:
            self._modify(wanted, base.ModificationModeSet)
        self._own[key] = wanted.shape, np.packbits(wanted)

    def forget(self) -> None:
        """All that the segments hold is from elsewhere: the editor's voxels are others."""
        self._own.clear()

    def _own_of(self, key, shape):
        """Voxels that were written for the points before and not held by the segment then."""
        size = int(np.prod(shape))
        known, bits = self._own.get(key, (None, None))
        if known != shape:
            return np.zeros(shape, bool)
        return np.unpackbits(bits, count=size).view(bool).reshape(shape)

    def _held(self, shape):
        """Voxels of the selected segment; all where the editor does not tell."""
        image = self._effect.selectedSegmentLabelmap()
        if image is None:
            return np.ones(shape, bool)
        if not image.GetNumberOfPoints() or image.GetPointData().GetScalars() is None:
            return np.zeros(shape, bool)  # nothing was drawn yet
        voxels = array_from_image(image)
        return voxels > 0 if voxels.shape == shape else np.ones(shape, bool)

    def _modify(self, voxels, mode):
        modifier = self._effect.defaultModifierLabelmap()
        array_from_image(modifier)[:] = voxels
        modifier.Modified()
        self._effect.modifySelectedSegmentByLabelmap(modifier, mode)
