"""What the user is told beside the result: why it is empty, and chunks that have no file."""

from argparse import Namespace
from typing import Any

from PotentialSkeletonLib.graph.exports import COLUMNS


def notes_on(labels: dict[str, Any], options: Namespace) -> list[str]:
    """Warnings by what is known of the labels."""
    notes = []
    count = labels.get("missing_chunks", 0)  # none where an earlier version has begun the run
    if count:
        notes.append(
            f"{count:,} chunk{'s' if count > 1 else ''} of {options.scene} without a file taken as "
            "the fill value, which zarr does not store: if it was copied, look whether it is whole."
        )
    if not labels["components"]:
        notes.append(
            f"No component is left, and the labels are empty: {_why_empty(labels, options)}."
        )
    return notes


def empty_branches() -> dict[str, list]:
    """The table of branches where there are no centrelines."""
    return {name: [] for name in COLUMNS}


def _why_empty(labels: dict[str, Any], options: Namespace) -> str:
    found, largest = labels["components_found"], labels["largest_component"]
    if not found:
        if labels["threshold"] is None:
            return "the labelmap has no voxel but 0"
        return f"no voxel of the scene reaches the threshold {labels['threshold']:.4g}"
    ones = f"{found:,} component{'s' if found > 1 else ''}, the largest of {largest:,} voxels"
    if largest < options.min_voxels:
        return f"the scene has {ones}, below --min-voxels {options.min_voxels}; give a smaller one"
    least = f" of at least {options.min_voxels:,} voxels" if options.min_voxels > 1 else ""
    return f"the scene has {ones}, but no --seed lies in one{least}; check seeds and threshold"
