"""Seeds: found without a click, and what lies round them."""

from collections.abc import Callable
from typing import Any


class SeedsLogic:
    """Methods of `FuzzyConnectedGPULogic` on lists of points."""

    kept: Any  # FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness

    def findSeeds(
        self,
        volumeNode: Any,
        *,
        maskNode: Any = None,
        maskSegmentID: str = "",
        roiNode: Any = None,
        count: int = 6,
        seedsNode: Any = None,
        device: str = "auto",
        progress: Callable[[float], bool | None] | None = None,
    ) -> Any:
        """Find seeds without a click: where the contrast is most tubular, in volume or region.

        They are proposals: look at them and delete what is no vessel. In a whole CT other bright
        tubes (contrast in the bowel, calcifications) may be among them: give the organ as mask.

        Parameters
        ----------
        volumeNode : vtkMRMLScalarVolumeNode
        maskNode, maskSegmentID, roiNode
            As in `segment`; seeds lie inside.
        count : int
            Seeds at most (6).
        seedsNode : vtkMRMLMarkupsFiducialNode, optional
            Keeps its points and gets the new ones, labelled automatic-1, automatic-2, ...; by
            default a new list is added.
        device : str
            As in `segment`; the search runs on the CPU.
        progress : callable, optional
            ``progress(fraction) -> bool``; False cancels.

        Returns
        -------
        vtkMRMLMarkupsFiducialNode
            The strongest seed first.

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            Something given cannot be used, or nothing is tubular.
        FuzzyVesselCoreLib.errors.DeviceError
            The device cannot be used, or numba is missing.
        FuzzyVesselCoreLib.errors.Cancelled
            `progress` returned False, or an input was removed meanwhile.
        """
        from FuzzyConnectedGPUMRML.finding import find_seeds

        options = dict(
            maskNode=maskNode,
            maskSegmentID=maskSegmentID,
            roiNode=roiNode,
            count=count,
            device=device,
        )
        return find_seeds(volumeNode, options, seedsNode, progress, self.kept)

    def estimateAffinity(
        self, volumeNode: Any, seedsNode: Any, radius: int = 2, side: str = "both"
    ) -> Any:
        """The affinity that the intensities round the seeds give.

        Returns
        -------
        FuzzyConnectedGPULib.GaussianAffinity

        Raises
        ------
        FuzzyVesselCoreLib.errors.InputError
            There is no seed in the volume.
        """
        from FuzzyConnectedGPULib import estimate_affinity
        from FuzzyVesselCoreLib.mrml.points import seeds_of
        from FuzzyVesselCoreLib.mrml.reading import voxels_of

        voxels = voxels_of(volumeNode, copy=False)
        seeds = seeds_of(seedsNode, volumeNode, voxels.shape)
        return estimate_affinity(voxels, seeds.voxels, radius=radius, side=side)

    def seedRows(self, volumeNode: Any, seedsNode: Any, radius: int = 2) -> list:
        """Label, voxel, intensity and neighbourhood of each seed; see `seed_rows.SeedRow`."""
        from FuzzyConnectedGPUMRML.seed_rows import seed_rows

        return seed_rows(volumeNode, seedsNode, radius)
