"""What all steps of labels over blocks share."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ...partition import Partition
from ...stopping import step_progress
from ...stores import Store
from ..object_blocks import ObjectBlocks
from .label_folder import LabelFolder
from .label_options import LabelOptions


@dataclass(frozen=True)
class LabelJob:
    """A run that makes labels, for its steps.

    Attributes
    ----------
    run : str
        Name of the run in this process; see `stopping`.
    objects : ObjectBlocks
    target : Store
    seeds : ndarray of int64, (n, 3)
        K, J, I.
    options : LabelOptions
    partition : Partition
    folder : LabelFolder
    """

    run: str
    objects: ObjectBlocks
    target: Store
    seeds: np.ndarray
    options: LabelOptions
    partition: Partition
    folder: LabelFolder

    @property
    def mask(self) -> Store | None:
        """Of the gaps that are filled."""
        return self.objects.mask

    @property
    def lists(self) -> bool:
        """Whether components are listed before it is known what each voxel gets."""
        return self.options.numbered or self.options.components == "largest"

    @property
    def progress(self) -> Progress:
        """Raises `Cancelled` in a step whose run was ended, in this process or another."""
        return step_progress(self.run, self.folder)
