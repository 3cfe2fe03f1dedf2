"""The outputs of a run as one record."""

from typing import Any


def output_options(
    sceneVolumeNode: Any, labelmapNode: Any, segmentationNode: Any, segmentID: str
) -> dict[str, Any]:
    """The nodes to write into, by the names that `FuzzyConnectedGPUMRML.segmenting` knows."""
    return dict(
        sceneVolumeNode=sceneVolumeNode,
        labelmapNode=labelmapNode,
        segmentationNode=segmentationNode,
        segmentID=segmentID,
    )
