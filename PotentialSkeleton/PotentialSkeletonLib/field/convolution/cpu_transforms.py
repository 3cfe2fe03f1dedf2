"""The steps of the convolution in numpy and scipy.fft; see `transforms`."""

from collections.abc import Iterator
from threading import local

import numpy as np

from FuzzyVesselCoreLib.threads import usable_cores

from ...object.voxel_classes import SURFACE
from ..near.near_part import NearPart, no_near_part
from .cpu_loops import extend_first, extend_last, multiply, write_component
from .fft_padding import Sizes
from .kernel_rows import KernelRows
from .kernel_spectra import KernelSpectra
from .waiting_rows import WaitingRows


class CpuTransforms:
    """`Transforms` on the CPU. All methods can be called in several threads at once.

    Parameters
    ----------
    sizes : Sizes
    strength : int
    near : NearPart, optional
        What is left out of the convolution, whose `sizes` can then have a narrow band.
    """

    group = 1 << 17  # complex numbers that fit the cache
    on_host = True
    touches_first = False

    def __init__(self, sizes: Sizes, strength: int, near: NearPart | None = None) -> None:
        from scipy import fft

        self._fft, self._sizes, self._strength = fft, sizes, strength
        self._near = near or no_near_part(sizes.shape[0])
        self.workers = usable_cores()
        self._workspaces = local()  # a thread allocates it once: new memory is slow

    def empty_kernel(self, cut: int) -> KernelRows:
        return KernelRows(self._sizes, self._strength, cut, self._near.powers)

    def empty_charges(self, classes: np.ndarray) -> WaitingRows:
        return self._empty(classes == SURFACE)

    def empty_forces(self, targets: np.ndarray, charges: WaitingRows) -> list[WaitingRows]:
        # A row that has targets goes through the surface round them and so has charges.
        return [self._empty(targets), self._empty(targets), self._empty(targets, charges)]

    def put_kernel(self, planes: slice, cut: int, kernel: KernelRows) -> None:
        kernel.put(planes, self.real_forward)

    def load_kernel(self, kernel: KernelRows, some: slice) -> np.ndarray:
        half_depth, half_rows = (n // 2 + 1 for n in self._sizes.padded[:2])
        columns = self._workspace("kernel", half_depth, some.stop - some.start, half_rows)
        kernel.load(some, columns)
        return columns

    def charge_rows(self, classes: np.ndarray, planes: slice, charge: float) -> np.ndarray:
        """Return rows along I of the charges of some planes."""
        return (classes[planes] == SURFACE) * charge

    def put_charges(
        self, classes: np.ndarray, planes: slice, charge: float, columns: WaitingRows
    ) -> None:
        rows = self.charge_rows(classes, planes, charge)
        rows = rows[np.any(rows, axis=2)]
        spectra = self._fft.rfft(rows, n=self._sizes.padded[2], axis=1, overwrite_x=True)
        columns.put(spectra[:, : self._sizes.columns], planes)

    def get_rows(self, columns: WaitingRows, planes: slice, targets: np.ndarray) -> np.ndarray:
        """Return only the rows that have targets, one after another; (rows, I or more)."""
        return self._fft.irfft(
            columns.get(planes), n=self._sizes.padded[2], axis=1, norm="forward", overwrite_x=True
        )

    def load(self, columns: WaitingRows, some: slice) -> np.ndarray:
        """Return columns (K, columns, padded J) of the planes of the box."""
        depth, rows = self._sizes.shape[0], self._sizes.padded[1]
        spectrum = self._workspace("rows", depth, some.stop - some.start, rows)
        columns.scatter(some, spectrum)
        return spectrum

    def save(self, product: np.ndarray, columns: WaitingRows, some: slice) -> None:
        columns.gather(product, some)

    def convolved(
        self, columns: np.ndarray, kernel: KernelSpectra, some: slice
    ) -> Iterator[np.ndarray]:
        spectrum = self.forward(columns)
        for component, factors in enumerate(kernel.factors(some)):
            yield self.inverse(self.multiply(spectrum, *factors, component))

    def forward(self, spectrum: np.ndarray) -> np.ndarray:
        """Transform columns along J and K."""
        depth, columns, _ = spectrum.shape
        found = self._fft.fft(spectrum, axis=2, overwrite_x=True)
        padded = self._workspace("spectrum", self._sizes.padded[0], columns, self._sizes.rows)
        half = self._sizes.rows // 2  # frequencies from 0 up, then negative ones
        padded[:depth, :, :half] = found[:, :, :half]
        padded[:depth, :, half:] = found[:, :, -half:]
        padded[depth:] = 0
        return self._fft.fft(padded, axis=0, overwrite_x=True)

    def inverse(self, product: np.ndarray) -> np.ndarray:
        """Transform back along K and J, without scale; return the box alone."""
        depth, rows, _ = self._sizes.shape
        product = self._fft.ifft(product, axis=0, norm="forward", overwrite_x=True)[:depth]
        half = self._sizes.rows // 2
        whole = self._workspace("rows", depth, product.shape[1], self._sizes.padded[1])
        whole[:, :, :half] = product[:, :, :half]
        whole[:, :, half:-half] = 0
        whole[:, :, -half:] = product[:, :, half:]
        return self._fft.ifft(whole, axis=2, norm="forward", overwrite_x=True)[:, :, :rows]

    def real_forward(self, lines: np.ndarray, axis: int) -> np.ndarray:
        found = self._fft.rfft(lines, axis=axis, overwrite_x=True)
        kept = self._sizes.rows // 2 + 1
        if axis == 2 and kept < found.shape[2]:
            return np.ascontiguousarray(found[:, :, :kept])
        return found

    def extended(
        self,
        half: np.ndarray,
        size: int,
        axis: int,
        imaginary: bool = False,
        add_odd: bool = False,
    ) -> np.ndarray:
        whole = np.empty(tuple(size if a == axis else n for a, n in enumerate(half.shape)))
        extend = extend_first if axis == 0 else extend_last
        extend(half, imaginary, add_odd, whole)
        return whole

    def multiply(
        self, spectrum: np.ndarray, factors: np.ndarray, imaginary: bool, odd_axis: int
    ) -> np.ndarray:
        """Multiply a spectrum by -i and by real factors.

        Parameters
        ----------
        factors, imaginary
            From `KernelSpectra.factors`, for frequencies from 0 up.
        odd_axis : int
            The axis along which the factors of negative frequencies have the other sign.
        """
        product = self._workspace("product", *spectrum.shape)
        multiply(spectrum, factors, imaginary, odd_axis, product)
        return product

    def _workspace(self, name: str, depth: int, columns: int, rows: int) -> np.ndarray:
        """Return the thread's own memory for columns (K, columns, J)."""
        workspace = getattr(self._workspaces, name, None)
        if workspace is None or workspace.shape[1] < columns:
            workspace = np.empty((depth, columns, rows), complex)
            setattr(self._workspaces, name, workspace)
        return workspace[:, :columns]

    def write(
        self,
        values: np.ndarray,
        targets: np.ndarray,
        planes: slice,
        component: int,
        vectors: np.ndarray,
    ) -> None:
        near = self._near.of_planes(planes)
        write_component(values, targets[planes], component, near, vectors[planes])

    def _empty(self, mask: np.ndarray, memory: WaitingRows | None = None) -> WaitingRows:
        return WaitingRows(np.asarray(mask.any(axis=2)), self._sizes.columns, memory)

    def wait(self) -> None:
        """Return at once: there is nothing to wait for."""
