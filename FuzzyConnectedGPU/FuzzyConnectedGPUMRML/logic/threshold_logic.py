"""Thresholds of a connectedness map that is there."""

from typing import Any

from .run_options import RunOptions, output_options


class ThresholdLogic:
    """Methods of `FuzzyConnectedGPULogic` on a connectedness map; nothing is computed anew."""

    def thresholdScene(
        self,
        sceneVolumeNode: Any,
        threshold: float | None = None,
        *,
        backgroundSeedsNode: Any = None,
        cut: float = 0.0,
        fillGaps: int = 0,
        maskNode: Any = None,
        maskSegmentID: str = "",
        roiNode: Any = None,
        labelmapNode: Any = None,
        segmentationNode: Any = None,
        segmentID: str = "",
        showDisputed: bool = False,
    ) -> Any:
        """Cut a fuzzy scene at another threshold, without computing it again.

        Parameters
        ----------
        sceneVolumeNode : vtkMRMLScalarVolumeNode
            Of an earlier run, also of one that was saved and loaded.
        threshold, backgroundSeedsNode, cut, labelmapNode, segmentationNode, segmentID
            As in `segment`.
        fillGaps, maskNode, maskSegmentID, roiNode
            As in `segment`: gaps are filled within mask and box.
        showDisputed : bool
            As in `segmentSeveral`, for a scene of several vessels.

        Returns
        -------
        FuzzyConnectedGPUMRML.result.SegmentationResult
            Its affinity and scene are None. For a scene of several vessels the result is as of
            `segmentSeveral`.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
        """
        from FuzzyConnectedGPUMRML.segmenting import threshold_scene
        from FuzzyConnectedGPUMRML.several.segmenting_several import (
            threshold_several,
            vessels_of_scene,
        )

        options = RunOptions(
            threshold=threshold,
            backgroundSeedsNode=backgroundSeedsNode,
            cut=cut,
            fillGaps=fillGaps,
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
        )
        outputs = output_options(None, labelmapNode, segmentationNode, segmentID)
        if vessels_of_scene(sceneVolumeNode):
            outputs["showDisputed"] = showDisputed
            return threshold_several(sceneVolumeNode, options, outputs)
        return threshold_scene(sceneVolumeNode, options, outputs)

    def automaticThreshold(
        self, sceneVolumeNode: Any, backgroundSeedsNode: Any = None, cut: float = 0.0
    ) -> float:
        """The threshold that `segment` would choose: a float, mostly with a reason."""
        from FuzzyConnectedGPULib.threshold.choice import choose_threshold
        from FuzzyConnectedGPUMRML.run_inputs import contrast_threshold
        from FuzzyConnectedGPUMRML.run_nodes import background_seeds
        from FuzzyConnectedGPUMRML.volume_curve import scene_values

        values = scene_values(sceneVolumeNode)
        known = contrast_threshold(sceneVolumeNode)
        if known is not None:
            return known
        background = background_seeds(backgroundSeedsNode, sceneVolumeNode, values.shape)
        return choose_threshold(values, background and background.voxels, cut)

    def backgroundThreshold(self, sceneVolumeNode: Any, backgroundSeedsNode: Any) -> float:
        """The lowest threshold (float) that keeps every background seed out of the object."""
        from FuzzyConnectedGPULib import background_threshold
        from FuzzyConnectedGPUMRML.volume_curve import scene_values
        from FuzzyVesselCoreLib.mrml.points import seeds_of

        values = scene_values(sceneVolumeNode)
        seeds = seeds_of(backgroundSeedsNode, sceneVolumeNode, values.shape, kind="background seed")
        return background_threshold(values, seeds.voxels)

    def volumeCurve(self, sceneVolumeNode: Any) -> Any:
        """V(t) of a fuzzy scene: `FuzzyConnectedGPUMRML.volume_curve.VolumeCurve`, in ml."""
        from FuzzyConnectedGPUMRML.volume_curve import VolumeCurve

        return VolumeCurve(sceneVolumeNode)
