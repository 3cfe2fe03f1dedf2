"""The zero-padded convolution of one solid's charges, in groups of columns that fit the memory."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .fft_padding import Sizes
from .kernel_spectra import KernelSpectra
from .transforms import Transforms


class Convolution:
    """Convolves the charges of one solid with the kernel's components.

    Parameters
    ----------
    classes : ndarray of uint8, shape (K, J, I)
        Classes of the solid's voxels in its box, of numpy or CuPy.
    sizes : Sizes
    transforms : Transforms
    """

    def __init__(self, classes: Any, sizes: Sizes, transforms: Transforms) -> None:
        self._classes, self._sizes, self._transforms = classes, sizes, transforms
        nk, nj, ni = sizes.padded
        group = transforms.group
        self._planes = list(_slices(sizes.shape[0], group // (nj * ni)))
        self._offsets = list(_slices(nk // 2 + 1, group // (nj * ni)))
        self._columns = list(_slices(sizes.columns, group // (nk * nj)))

    def run(self, bands: list[tuple[int, Any]], vectors: Any, progress: Progress) -> None:
        """Write the forces in some bands.

        Parameters
        ----------
        bands : list of (int, ndarray of bool)
            A cut, and the voxels whose charges are all at least so far away.
        vectors : ndarray, shape (K, J, I, 3)
        progress : Progress
        """
        planes, passes = len(self._planes), 4 if self._transforms.touches_first else 3
        steps = len(self._offsets) + len(self._columns) + (passes + 1) * planes
        self._total = len(bands) * steps
        self._done, self._progress = 0, progress
        for cut, members in bands:
            for component, result in enumerate(self._convolved(cut, members)):

                def write(
                    planes: slice,
                    result: Any = result,
                    members: Any = members,
                    component: int = component,
                ) -> None:
                    values = self._transforms.get_rows(result, planes, members)
                    self._transforms.write(values, members, planes, component, vectors)

                self._each(write, self._planes)

    def _transformed_charges(self) -> Any:
        charges = self._transforms.empty_charges(self._classes)
        charge = 1 / float(np.prod(self._sizes.padded))  # none of the inverse transforms scales

        def transform(planes: slice) -> None:
            self._transforms.put_charges(self._classes, planes, charge, charges)

        self._each(transform, self._planes)
        return charges

    def _convolved(self, cut: int, members: Any) -> list[Any]:
        """Return the components, still transformed along I; charges nearer than `cut` left out."""
        transforms = self._transforms
        kernel = KernelSpectra(self._sizes.padded, cut, transforms)
        self._each(kernel.begin, self._offsets)
        charges = self._transformed_charges()
        results = transforms.empty_forces(members, charges)

        def touch(planes: slice) -> None:
            for result in results[:2]:
                result[planes, :, 0] = 0

        if transforms.touches_first:
            self._each(touch, self._planes)

        def convolve(some: slice) -> None:
            components = transforms.convolved(transforms.load(charges, some), kernel, some)
            for component, product in enumerate(components):
                transforms.save(product, results[component], some)

        self._each(convolve, self._columns)
        return results

    def _each(self, function: Callable[[slice], None], parts: list[slice]) -> None:
        """Call the function for each part, in parallel where there are workers."""
        if self._transforms.workers == 1 or len(parts) == 1:
            for part in parts:
                function(part)
                self._step()
            return
        pool = ThreadPoolExecutor(self._transforms.workers)
        try:
            for waiting in [pool.submit(function, part) for part in parts]:
                waiting.result()
                self._step()
        finally:
            pool.shutdown(cancel_futures=True)

    def _step(self) -> None:
        self._transforms.wait()
        self._done += 1
        self._progress.advance(self._done / self._total)


def _slices(total: int, length: int) -> Iterator[slice]:
    length = max(length, 1)
    return (slice(start, min(start + length, total)) for start in range(0, total, length))
