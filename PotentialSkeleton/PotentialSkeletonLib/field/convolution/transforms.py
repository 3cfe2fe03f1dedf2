"""The steps of the convolution: what `CpuTransforms` and `CudaTransforms` both do.

Arrays of columns hold one complex number for each plane K, frequency along I (called column) and
row J, and are seen in this order while they are worked on. Between the steps they wait in an order
of the device's own.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .kernel_spectra import KernelSpectra


class Transforms(Protocol):
    """Fourier transforms and products of a zero-padded convolution.

    Attributes
    ----------
    group : int
        Complex numbers that are worked on at a time.
    workers : int
        Number of parts that are worked on at once, in threads.
    on_host : bool
        Whether arrays of columns wait in host memory.
    touches_first : bool
        Whether forces are set to 0 first: else the first columns would wait for all of the memory.
    """

    group: int
    workers: int
    on_host: bool
    touches_first: bool

    def empty_kernel(self, cut: int) -> Any:
        """Allocate what keeps the kernel transformed along I, for offsets K, J >= 0."""

    def empty_charges(self, classes: Any) -> Any:
        """Allocate what keeps the columns of the charges."""

    def empty_forces(self, targets: Any, charges: Any) -> list[Any]:
        """Allocate what keeps the columns of the three components.

        The charges can be among them: a group is read before it is written.
        """

    def put_kernel(self, planes: slice, cut: int, kernel: Any) -> None:
        """Transform even and odd part along I, added together, for some planes of offsets K >= 0.

        Both are 0 where all offsets are below `cut`.
        """

    def load_kernel(self, kernel: Any, some: slice) -> Any:
        """Return some of the kernel's columns (K, columns, J)."""

    def put_charges(self, classes: Any, planes: slice, charge: float, columns: Any) -> None:
        """Transform the rows of charges of some planes and keep them."""

    def get_rows(self, columns: Any, planes: slice, targets: Any) -> Any:
        """Return rows of some planes, transformed back along I, for `write`."""

    def load(self, columns: Any, some: slice) -> Any:
        """Return some of the columns (K, columns, J), to be worked on."""

    def save(self, product: Any, columns: Any, some: slice) -> None:
        """Keep some columns of a component that `convolved` gave."""

    def convolved(self, columns: Any, kernel: "KernelSpectra", some: slice) -> Iterator[Any]:
        """Yield the components (K, columns, J) of the box.

        Parameters
        ----------
        columns : ndarray
            Of the charges, from `load`.
        kernel : KernelSpectra
        some : slice
            Which columns they are.
        """

    def real_forward(self, lines: Any, axis: int) -> Any:
        """Transform real lines."""

    def extended(
        self, half: Any, size: int, axis: int, imaginary: bool = False, add_odd: bool = False
    ) -> Any:
        """Return a real even sequence of even size from its values at 0 to size / 2.

        Parameters
        ----------
        half : complex ndarray, shape (K, columns, J)
            Its real part, or with `imaginary` the imaginary one with the sign turned, is the even
            sequence along the axis.
        size : int
        axis : int
            0 or 2.
        add_odd : bool
            Add the real part times the distance from 0, which is odd. It is not 0 at size / 2, as
            it should be; no offset is as large.
        """

    def write(self, values: Any, targets: Any, planes: slice, component: int, vectors: Any) -> None:
        """Write one component of the force, from `get_rows`, to vectors (K, J, I, 3)."""

    def wait(self) -> None:
        """Wait until all work is done."""
