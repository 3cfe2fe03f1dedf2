"""Whether the voxels of a volume were edited since a result was made of them.

VTK stamps each change of an image with a number that it gives out once only. The stamp of an input
is remembered under that of its result: nothing is read, whatever the size. A scene that was loaded
has other stamps; the volume is then taken as it was loaded.
"""

from typing import Any

_input_times: dict[int, int] = {}  # by the time of the result's own voxels


def voxel_time(volume_node: Any) -> int:
    """Return the stamp of a volume's last edit; 0 without voxels."""
    image = volume_node.GetImageData() if volume_node is not None else None
    return 0 if image is None else int(image.GetMTime())


def note_voxels(result_node: Any, time: int) -> None:
    """Remember the stamp that the input had when a result was computed from it.

    Parameters
    ----------
    result_node : vtkMRMLVolumeNode
        Filled already.
    time : int
        `voxel_time` of the input, from before the run.
    """
    _input_times[voxel_time(result_node)] = time


def voxels_changed(result_node: Any, volume_node: Any) -> bool:
    """Whether a volume was edited after a result was computed from it."""
    if volume_node is None:
        return False
    now = voxel_time(volume_node)
    return _input_times.setdefault(voxel_time(result_node), now) != now
