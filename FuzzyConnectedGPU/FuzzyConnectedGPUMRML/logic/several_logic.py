"""Segmenting several vessels: options by name, nodes in, nodes out."""

from collections.abc import Callable
from typing import Any

from .run_options import RunOptions, output_options


class SeveralLogic:
    """Methods of `FuzzyConnectedGPULogic` that compute several vessels."""

    kept: Any

    def segmentSeveral(
        self,
        volumeNode: Any,
        seedsNodes: Any,
        *,
        sceneVolumeNode: Any = None,
        labelmapNode: Any = None,
        segmentationNode: Any = None,
        showDisputed: bool = False,
        progress: Callable[[float], bool | None] | None = None,
        **options: Any,
    ) -> Any:
        """Segment several vessels that touch, each from a list of points of its own.

        They never overlap: see `FuzzyConnectedGPULib.several`. Example::

            lists = [slicer.util.getNode(name) for name in ("Portal vein", "Hepatic vein")]
            result = logic.segmentSeveral(volume, lists, segmentationNode=True)
            for vessel in result.vessels:
                print(f"{vessel.name}: {vessel.volumeMl:.1f} ml")

        Parameters
        ----------
        seedsNodes : sequence of vtkMRMLMarkupsFiducialNode
            A list of points for each vessel. Its name, colour and kind (attribute
            "FuzzyVesselGPU.Vessel": "portal vein", "hepatic vein", "artery", "vein" or "other")
            become those of a new segment. Points marked by
            `FuzzyConnectedGPUMRML.several.hand_overs.mark_hand_over` give the branch that begins
            there to the vessel of their list.
        segmentationNode : vtkMRMLSegmentationNode or True, optional
            Gets one segment for each vessel; True adds a new segmentation. Segments of earlier runs
            get other voxels, as in `segment`.
        showDisputed : bool
            Add a segment of the voxels that two vessels reach equally.
        volumeNode, sceneVolumeNode, labelmapNode, progress
            As in `segment`.
        **options
            The other inputs of `segment`, by name: backgroundSeedsNode, maskNode, maskSegmentID,
            roiNode, model, border, threshold (one for all vessels), device, fillGaps and those of
            the model "affinity".

        Returns
        -------
        FuzzyConnectedGPUMRML.several.vessel_result.SeveralResult

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            As in `segment`; also where two vessels have a point on the same voxel.
        FuzzyVesselCoreLib.errors.DeviceError
        FuzzyVesselCoreLib.errors.Cancelled
        """
        from FuzzyConnectedGPUMRML.several.segmenting_several import segment_several

        outputs = output_options(sceneVolumeNode, labelmapNode, segmentationNode, "")
        outputs["showDisputed"] = showDisputed
        return segment_several(
            volumeNode, list(seedsNodes), RunOptions(**options), outputs, progress, self.kept
        )
