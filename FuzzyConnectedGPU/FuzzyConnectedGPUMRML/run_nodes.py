"""What a run reads of the scene and how it computes: the same for one vessel and for several."""

from collections.abc import Callable
from typing import Any

from FuzzyConnectedGPULib.input_errors import SameVoxelError
from FuzzyConnectedGPULib.threshold.choice import check_threshold
from FuzzyVesselCoreLib.errors import InputRemoved
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.points import Seeds, placed_points, seeds_of
from FuzzyVesselCoreLib.mrml.provenance import voxel_time
from FuzzyVesselCoreLib.mrml.regions import region_mask

from . import run_inputs
from .logic.run_options import RunOptions
from .same_place import named


class RunNodes:
    """Voxels, region and background points of a run.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    options : RunOptions
    inputs : list of vtkMRMLNode
        A run ends where one of them leaves the scene.

    Attributes
    ----------
    voxels : ndarray, shape (K, J, I)
    region : ndarray of bool, same shape, or None
        Of mask and box.

    Raises
    ------
    InputError
        One of the nodes, or the threshold, cannot be used.
    """

    def __init__(self, volume_node: Any, options: RunOptions, inputs: list[Any]) -> None:
        self._volume_node, self._options, self._inputs = volume_node, options, inputs
        self.voxels, self._time = mrml.voxels_of(volume_node), voxel_time(volume_node)
        check_threshold(options.threshold, options.cut or 0.0)
        self.region = region_of(options, volume_node, self.voxels.shape)

    @property
    def choices(self) -> dict[str, Any]:
        """The inputs that the connectedness depends on, as `run_inputs.inputs_text` takes them."""
        options = self._options
        return dict(
            mask_node=options.maskNode,
            segment_id=options.maskSegmentID,
            roi_node=options.roiNode,
            background_node=options.backgroundSeedsNode,
            **options.of_model(),
        )

    def read_background(self) -> None:
        """Read the background points, and what of them the threshold or filled gaps heed."""
        node, options = self._options.backgroundSeedsNode, self._options
        self._background = background_seeds(node, self._volume_node, self.voxels.shape)
        self._heeded: str | None = None
        if options.threshold is None or options.fillGaps:
            self._heeded = run_inputs.threshold_text(self._volume_node, node)

    def compute(
        self,
        function: Callable[..., Any],
        points: Any,
        seeds: Seeds,
        progress: Callable[[float], bool | None] | None,
        kept: Any,
        **more: Any,
    ) -> Any:
        """Call ``function(voxels, points, ...)`` of the library with all that was read.

        Parameters
        ----------
        function : callable
            `FuzzyConnectedGPULib.segment` or `segment_several`.
        points
            What it takes.
        seeds : Seeds
            The same with labels, for an error that names them.
        progress : callable or None
        kept : FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness or None
        **more
            Further arguments.
        """
        background = self._background
        try:
            found = function(
                self.voxels,
                points,
                spacing=self._volume_node.GetSpacing()[::-1],
                background_seeds=background and background.voxels,
                mask=self.region,
                progress=while_there(self._inputs, progress),
                cached=kept,
                **self._options.of_arrays(),
                **more,
            )
        except SameVoxelError as error:
            raise named(error, seeds, background) from error
        refuse_without(self._inputs)
        return found

    def warnings(self) -> list[str]:
        """Background points that were left out."""
        return list(self._background.warnings) if self._background else []

    def mark(self, scene_node: Any, seeds_node: Any, text: str, found: Any) -> None:
        """Write on a connectedness map what it was computed from."""
        chosen = found.threshold if self._options.threshold is None else None
        run_inputs.mark(
            scene_node,
            self._volume_node,
            seeds_node,
            text,
            found.contrast,
            self._heeded,
            chosen,
            self._time,
        )


def region_of(options: RunOptions, volume_node: Any, shape: tuple[int, ...]) -> Any:
    """The voxels that mask and box leave: ndarray (K, J, I), bool; None without them."""
    return region_mask(options.maskNode, options.roiNode, volume_node, shape, options.maskSegmentID)


def background_seeds(node: Any, volume_node: Any, shape: tuple[int, ...]) -> Any:
    """The points of a list as background seeds; None without a list, or if it has no point."""
    if node is None or not placed_points(node).labels:
        return None
    return seeds_of(node, volume_node, shape, kind="background seed")


def while_there(
    nodes: list[Any], progress: Callable[[float], bool | None] | None
) -> Callable[[float], bool | None] | None:
    """A progress callback that ends the run when one of its inputs leaves the scene."""
    if progress is None:
        return None  # nobody else gets a turn in the meantime

    def go_on(fraction: float) -> bool | None:
        carry_on = progress(fraction)
        refuse_without(nodes)
        return carry_on

    return go_on


def refuse_without(nodes: list[Any]) -> None:
    """Raise `InputRemoved` where an input is no longer in the scene."""
    for node in nodes:
        if not in_scene(node):
            raise InputRemoved(mrml.node_name(node))


def in_scene(node: Any) -> bool:
    """Whether there is a node, and it is in the scene."""
    import slicer

    return node is not None and bool(slicer.mrmlScene.IsNodePresent(node))
