"""A run: from a volume and seeds to a connectedness map, labels and a segment."""

from collections.abc import Callable
from typing import Any

from .run_options import RunOptions, output_options


class SegmentingLogic:
    """Runs of `FuzzyConnectedGPULogic`."""

    kept: Any  # FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness

    def segment(
        self,
        volumeNode: Any,
        seedsNode: Any,
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
        segmentID: str = "",
        progress: Callable[[float], bool | None] | None = None,
        **variant: Any,
    ) -> Any:
        """Segment what hangs together with the seeds; the scene changes only if all goes well.

        Parameters
        ----------
        volumeNode : vtkMRMLScalarVolumeNode
            One component; any axes, under any transform.
        seedsNode : vtkMRMLMarkupsNode
            Its placed points are the seeds; those outside the volume or mask are left out.
        backgroundSeedsNode : vtkMRMLMarkupsNode, optional
            Points that do not belong to the vessels; each takes away the leak that it sits in.
        maskNode : vtkMRMLLabelMapVolumeNode or vtkMRMLSegmentationNode, optional
            Paths stay inside it; of any geometry.
        roiNode : vtkMRMLMarkupsROINode, optional
            Paths stay inside it: voxels count whose centre is in the box.
        model : {"contrast", "affinity"}, optional
            "contrast", the default: contrast to the surroundings, connected from the seeds.
            "affinity": the papers' affinity, taken also where one of its own parameters is given:
            affinity, radius, side, cut, solver.
        border : {"drawn", "half"}, optional
            Of the model "contrast": where experts draw it, or at half the contrast.
        threshold : float, optional
            Above 0, up to 1. By default 0.5 in the model "contrast" (lower: more, higher: less);
            in the model "affinity" from the scene's histogram and the background seeds.
        device : str
            "auto", "cpu", "cuda", "cuda:1".
        cut, solver : float, str
            Affinities below the cut count as 0, which saves time; see
            `FuzzyConnectedGPULib.SOLVERS`.
        affinity : FuzzyConnectedGPULib.GaussianAffinity, optional
            By default estimated round the seeds.
        radius, side : int, str
            Of that estimate: voxels round each seed (2); "bright" or "dark" where intensities on
            that side of the mean are vessel, too ("both").
        maskSegmentID : str
            Of a segmentation as mask: only this segment.
        fillGaps : int
            Rounds in which voxels are added that the vessels surround: what noise has left out of
            a wide vessel. 0 to 10.
        sceneVolumeNode, labelmapNode : nodes, optional
            Filled; by default new nodes are added.
        segmentationNode : vtkMRMLSegmentationNode or True, optional
            Gets a segment named as the seeds' list; True adds a new segmentation. A later run with
            the same list and volume gives the segment other voxels and leaves all else of it,
            unless it was edited meanwhile: then a new one is added.
        segmentID : str
            Of the segment to overwrite instead.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.
        **variant
            ``corrections`` and ``directions`` of the solver "cuda-kfoe-corrected".

        Returns
        -------
        FuzzyConnectedGPUMRML.result.SegmentationResult
            ``labelmapNode, sceneNode = logic.segment(...)`` works, too.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            Something given cannot be used, or an output is an input or the mask; the message names
            it.
        FuzzyVesselCoreLib.errors.DeviceError
            The device cannot be used.
        FuzzyVesselCoreLib.errors.Cancelled
            `progress` returned False, or an input was removed meanwhile.
        """
        from FuzzyConnectedGPUMRML.segmenting import segment

        options = RunOptions(
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
        outputs = output_options(sceneVolumeNode, labelmapNode, segmentationNode, segmentID)
        return segment(volumeNode, seedsNode, options, outputs, progress, self.kept)
