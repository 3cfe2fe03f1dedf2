"""Public entry point: the curve skeleton of a labelled volume, component by component."""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.folder_lock import FolderLock
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from ..jit_warmup import prepare, wait_for_warm_up
from ..object.preparing import Prepared, cavity_counts, input_warnings, small_components
from ..options import SkeletonOptions, checked_spacing
from ..report import ComponentSkeleton
from .component_folder import ComponentFolder
from .component_needs import refuse_large
from .filled_components import FilledComponents, fill_components
from .large_object import LargeComponents


def skeletonize_components(
    labels: Any,
    sizes: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    spacing: Sequence[float] = (1.0, 1.0, 1.0),
    *,
    options: SkeletonOptions | None = None,
    folder: str | Path | None = None,
    memory_limit: int | None = None,
    progress: Progress | ProgressCallback | None = None,
) -> CurveSkeleton:
    """Curve skeleton of a volume of numbered components that need not fit in memory.

    Equals `skeletonize` of the whole, bit for bit; the package's docstring has the proof. One
    component is in memory at a time, in its box. What an ended run has finished is not done again
    if it is called with the same folder.

    Parameters
    ----------
    labels : array, shape (K, J, I), of integers
        Each 26-connected component has a number of its own, from 1, in the order of first voxels.
        Read by slices, each component's box once: an array of zarr, NumPy (also in a file) or Dask.
    sizes : ndarray of int, (n,)
        Voxels of each component.
    low, high : ndarray of int, (n, 3)
        Each one's first voxel and the one after the last, along K, J, I. These three are what
        `FuzzyConnectedGPULib.distributed.labels` returns as its table.
    spacing : 3 floats K, J, I
        Voxel size in mm.
    options : SkeletonOptions, optional
        As of `skeletonize`; `close_tunnels` must be 0.
    folder : str or Path, optional
        Where filled components (a bit for each voxel of their boxes) and their skeletons are kept
        until the end; a temporary one by default.
    memory_limit : int, optional
        Bytes; a component that may need more on the CPU is refused before anything is computed.
    progress : callable, optional
        ``progress(share) -> bool``; the run is cancelled where it returns False.

    Returns
    -------
    CurveSkeleton

    Raises
    ------
    InputError, DeviceError, Cancelled
        As `skeletonize`; `InputError` also names a component that is too large, or that cannot be
        read.

    Examples
    --------
    >>> bar = np.zeros((5, 5, 30), np.uint32)
    >>> bar[1:4, 1:4, 1:29] = 1
    >>> boxes = np.array([[1, 1, 1]]), np.array([[4, 4, 29]])
    >>> skeleton = skeletonize_components(bar, np.array([252]), *boxes)
    >>> [node.kind for node in skeleton.nodes]
    ['end', 'end']
    """
    options, checked = options or SkeletonOptions(), checked_spacing(spacing)
    sizes, low, high = _checked(labels, sizes, low, high, options)
    refuse_large(sizes, low, high, memory_limit)
    root = Progress.of(progress)
    if root.has_callback:
        prepare()
    wait_for_warm_up(root)
    with needs_numba(), ExitStack() as stack:
        from ..assembly import assemble

        place = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="skeleton-"))
        kept = ComponentFolder(Path(place))
        lock = stack.enter_context(FolderLock(kept.path))
        kept.begin(_manifest(labels, sizes, low, high, checked, options))
        large = _Large(labels, sizes, low, high, kept)
        skeleton = assemble(
            lambda part: large.prepare(checked, options, part),
            tuple(labels.shape), checked, options, root, large.recall,
        )  # fmt: skip
        lock.check()
        kept.remove()
    return skeleton


class _Large:
    """The object, for the stages of the whole."""

    def __init__(
        self,
        labels: Any,
        sizes: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        folder: ComponentFolder,
    ) -> None:
        self._labels, self._sizes, self._low, self._high = labels, sizes, low, high
        self._folder = folder
        self._numbers = np.empty(0, np.int64)

    def prepare(
        self,
        spacing: tuple[float, float, float],
        options: SkeletonOptions,
        progress: Progress,
    ) -> Prepared:
        """The `Prepared` object."""
        shape = tuple(self._labels.shape)
        is_full = int(self._sizes.sum()) == int(np.prod(shape, dtype=object))
        warnings = input_warnings(np.zeros(1, bool), is_full, options.strength)
        filled = fill_components(self._labels, self._low, self._high, self._folder, progress)
        changes = cavity_counts([filled.cavities, filled.cavity_voxels])
        kept, dropped = _without_islands(filled, options.drop_islands)
        self._numbers = filled.numbers[kept]
        rows = self._numbers - 1
        boxes = self._low[rows], self._high[rows]
        parts = LargeComponents(self._folder, self._numbers, boxes[0])
        components = ((parts.origin(n), parts.mask(n)) for n in range(len(rows)))
        return Prepared(filled.sizes[kept], changes | dropped, warnings, components)

    def recall(self, number: int, compute: Callable[[], ComponentSkeleton]) -> ComponentSkeleton:
        """The skeleton of a component, from the folder if it is there."""
        own = int(self._numbers[number])
        if self._folder.has("skeleton", own):
            return self._folder.skeleton(own)
        found = compute()
        self._folder.put_skeleton(own, found)
        return found


def _without_islands(filled: FilledComponents, smallest: int) -> tuple[np.ndarray, dict[str, int]]:
    """Which components stay (bool), and the report's counts."""
    small = np.zeros(filled.sizes.size, bool)
    if smallest > 1:
        small = small_components(np.concatenate([[0], filled.sizes]), smallest)[1:]
    return ~small, dict(
        islands_dropped=int(small.sum()), island_voxels=int(filled.sizes[small].sum()),
        tunnels_closed=0, tunnel_voxels=0,
    )  # fmt: skip


def _checked(
    labels: Any, sizes: np.ndarray, low: np.ndarray, high: np.ndarray, options: SkeletonOptions
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes and boxes as int64, if the inputs fit together."""
    if options.close_tunnels:
        raise InputError(
            _(
                "close_tunnels is {width:g}, but closing tunnels needs the object as a whole: give "
                "0, or fill gaps when the labels are made."
            ).format(width=options.close_tunnels)
        )
    shape = tuple(getattr(labels, "shape", ()))
    if len(shape) != 3 or np.dtype(labels.dtype).kind not in "iu":
        raise InputError(
            _("The labels have shape {shape}; K x J x I numbers are needed.").format(shape=shape)
        )
    sizes, low, high = (np.asarray(each, np.int64) for each in (sizes, low, high))
    if not sizes.size:
        raise InputError(_("The labelmap is empty: there is no object to take a skeleton of."))
    if low.shape != (sizes.size, 3) or high.shape != low.shape or (low >= high).any():
        raise InputError(_("Each component needs a size and a box, low below high."))
    if (low < 0).any() or (high > shape).any():
        raise InputError(_("A component's box lies outside the labels."))
    return sizes, low, high


def _manifest(labels: Any, *given: Any) -> dict[str, Any]:
    """What a run must agree in with the one that it continues."""
    *arrays, spacing, options = given
    digest = hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16)
    return {
        "shape": [int(n) for n in labels.shape],
        "components": digest.hexdigest(),
        "spacing": list(spacing),
        "options": {name: value for name, value in asdict(options).items() if name != "device"},
    }
