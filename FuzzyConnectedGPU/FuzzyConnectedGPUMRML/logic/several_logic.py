"""Segmenting several vessels: options by name, nodes in, nodes out."""

from collections.abc import Callable
from typing import Any

from .output_options import output_options


class SeveralLogic:
    """Methods of `FuzzyConnectedGPULogic` that compute several vessels."""

    kept: Any

    def segmentSeveral(
        self,
        volumeNode: Any,
        seedsNodes: Any,
        *,
        backgroundSeedsNode: Any = None,
        maskNode: Any = None,
        roiNode: Any = None,
        model: str | None = None,
        border: str | None = None,
        threshold: float | None = None,
        cut: float | None = None,
        solver: str | None = None,
        device: str = "auto",
        affinity: Any = None,
        radius: int | None = None,
        side: str | None = None,
        maskSegmentID: str = "",
        fillGaps: int = 0,
        sceneVolumeNode: Any = None,
        labelmapNode: Any = None,
        segmentationNode: Any = None,
        showDisputed: bool = False,
        progress: Callable[[float], bool | None] | None = None,
        **variant: Any,
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
        volumeNode, ..., progress, **variant
            As in `segment`; one threshold for all vessels.

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

        options = dict(
            backgroundSeedsNode=backgroundSeedsNode,
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
            model=model,
            border=border,
            threshold=threshold,
            cut=cut,
            solver=solver,
            device=device,
            affinity=affinity,
            radius=radius,
            side=side,
            fillGaps=fillGaps,
            **variant,
        )
        outputs = output_options(sceneVolumeNode, labelmapNode, segmentationNode, "")
        outputs["showDisputed"] = showDisputed
        return segment_several(volumeNode, list(seedsNodes), options, outputs, progress, self.kept)
