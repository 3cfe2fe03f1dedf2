"""Texts of the panel's choices."""

import enum

from slicer.i18n import tr as _

# By the name of the enumeration and of its member.
LABELS = {
    "Region": {
        "WHOLE": _("The whole volume"),
        "BOX": _("A box (ROI)"),
        "MASK": _("A mask or segment"),
    },
    "Model": {
        "CONTRAST": _("Contrast to the surroundings"),
        "AFFINITY": _("Affinity to the points (published)"),
    },
    "Border": {
        "DRAWN": _("As experts draw it"),
        "HALF": _("At half the contrast"),
    },
    "Side": {
        "BOTH": _("Like the points"),
        "BRIGHT": _("Brighter as well"),
        "DARK": _("Darker as well"),
    },
    "Form": {
        "GEOMETRIC": _("Geometric mean (published)"),
        "WEIGHTED": _("Weighted sum (ITK 3)"),
    },
    "Solver": {
        "EXACT": _("Exact"),
        "CONTRACTION": _("Exact, contraction (CUDA)"),
        "ACTIVE_TILES": _("Exact, active tiles (CUDA)"),
        "BLOCKS": _("Exact, blocks (CPU)"),
        "DIAL": _("Exact, bucket queue (CPU)"),
        "KFOE": _("Exact, FIFO queue (CPU, slow)"),
        "CUDA_KFOE": _("CUDA-kFOE (with errors)"),
        "CUDA_KFOE_CORRECTED": _("CUDA-kFOE, corrected"),
    },
}


def label(member: enum.Enum) -> str:
    """The text of a choice such as ``Region.MASK``."""
    return LABELS[type(member).__name__][member.name]
