"""An object whose components are in memory one after another."""

import numpy as np

from .component_folder import ComponentFolder

KEPT_BYTES = 1 << 26  # of packed components that stay in memory


class LargeComponents:
    """Components `numbers` (n,) from a folder; `low` (n, 3): the first voxels of their boxes."""

    def __init__(self, folder: ComponentFolder, numbers: np.ndarray, low: np.ndarray) -> None:
        self._folder, self._numbers, self._low = folder, numbers, low
        self._kept: dict[int, tuple[np.ndarray, tuple[int, ...]]] = {}
        self._kept_bytes = 0

    def origin(self, number: int) -> np.ndarray:
        return self._low[number] - 1

    def mask(self, number: int, margin: int = 1) -> np.ndarray:
        packed, shape = self._packed(number)
        filled = np.zeros([n + 2 * margin for n in shape], np.uint8)
        inner = tuple(slice(margin, margin + n) for n in shape)
        count = int(np.prod(shape, dtype=object))
        filled[inner] = np.unpackbits(packed, count=count).reshape(shape)
        return filled.view(bool)

    def _packed(self, number: int) -> tuple[np.ndarray, tuple[int, ...]]:
        """A component's box, a bit for each voxel, and the box's shape."""
        if number in self._kept:
            return self._kept[number]
        record = self._folder.get("filled", int(self._numbers[number]))
        found = record["packed"], tuple(record["shape"].tolist())
        if self._kept_bytes + found[0].nbytes <= KEPT_BYTES:
            self._kept[number] = found
            self._kept_bytes += found[0].nbytes
        return found
