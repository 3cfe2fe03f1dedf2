"""The sum over all charges as a zero-padded convolution, in float64, on the CPU or on CUDA.

``F(P) = sum over C of (P - C) / |P - C|^(m + 1)`` is the convolution of the charges with a kernel
of three components. It is transformed along I row by row, and then worked in groups of columns,
each of one frequency along I: only these are ever padded along J and K. So what waits between the
passes is a quarter of the padded size for the charges and for each component, and a run can be
cancelled between any two groups.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..convolution.fft_padding import Sizes
from ..convolution.kernel_spectra import KernelSpectra
from .distance_bands import distance_bands


def sum_forces(solid, strength, vectors, report, gpu=None):
    """Write the forces at the wanted voxels of a solid.

    Parameters
    ----------
    solid : Solid, or SolidOnCuda with `gpu`
    strength : int
    vectors : ndarray, shape (K, J, I, 3) of the solid's box
        Only the wanted voxels are written. With `gpu` float32 on the card.
    report : callable
        Called with the share that is done; raises to cancel.
    gpu : CudaDevice, optional
        By default the CPU is used.

    Returns
    -------
    on_host : bool
        Whether intermediate results waited in the host's memory, as the card's did not suffice.
    """
    bands = list(distance_bands(solid, strength))
    report(0.0)
    return sum_bands(solid, strength, bands, vectors, report, gpu)


def sum_bands(solid, strength, bands, vectors, report, gpu=None):
    """Write the forces at the voxels of some `distance_bands` of a solid."""
    sizes = Sizes(solid.classes.shape, on_card=gpu is not None)
    if gpu is None:
        from ..convolution.cpu_transforms import CpuTransforms as transforms_for
    else:
        from ..convolution.cuda_transforms import CudaTransforms as transforms_for
    transforms = transforms_for(sizes, strength, gpu)
    convolution = Convolution(solid.classes, sizes, transforms)

    def write(values, members, planes, component):
        transforms.write(values, members, planes, component, vectors)

    convolution.run(bands, write, report)
    if gpu is not None:
        gpu.forget_plans()  # the next solid has another size
    return transforms.on_host


class Convolution:
    """Convolves the charges of one solid with the kernel's components.

    Parameters
    ----------
    classes : ndarray, uint8, shape (K, J, I)
        Classes of the solid's voxels in its box: numpy's or CuPy's, as `transforms` has them.
    sizes : Sizes
    transforms : CpuTransforms or CudaTransforms
    """

    def __init__(self, classes, sizes, transforms):
        self._classes, self._sizes, self._transforms = classes, sizes, transforms
        nk, nj, ni = sizes.padded
        group = transforms.group
        self._planes = list(_slices(sizes.shape[0], group // (nj * ni)))
        self._offsets = list(_slices(nk // 2 + 1, group // (nj * ni)))
        self._columns = list(_slices(ni // 2 + 1, group // (nk * nj)))

    def run(self, bands, write, report):
        """Compute the forces for some bands of points.

        Parameters
        ----------
        bands : list of (int, object)
            A cut, and the voxels whose charges are all at least so far away.
        write : callable
            ``write(values, members, planes, component)`` takes one component of the force in some
            planes, as the transforms' `get_rows` gives it.
        report : callable
            Called with the share that is done; raises to cancel.
        """
        planes, passes = len(self._planes), 4 if self._transforms.on_host else 3
        often = len(self._offsets) + len(self._columns) + (passes + 1) * planes
        self._total = len(bands) * often
        self._done, self._report = 0, report
        for cut, members in bands:
            for component, result in enumerate(self._convolved(cut)):

                def pass_on(planes, result=result, members=members, component=component):
                    values = self._transforms.get_rows(result, planes, members)
                    write(values, members, planes, component)

                self._each(pass_on, self._planes)

    def _transformed_charges(self):
        charges = self._empty()
        charge = 1 / float(np.prod(self._sizes.padded))  # none of the transforms back scales

        def transform(planes):
            self._transforms.put_charges(self._classes, planes, charge, charges)

        self._each(transform, self._planes)
        return charges

    def _convolved(self, cut):
        """The three components, still transformed along I; charges nearer than `cut` left out."""
        work = self._transforms
        kernel = KernelSpectra(self._sizes.padded, work)
        self._each(lambda planes: kernel.begin(planes, cut), self._offsets)
        charges = self._transformed_charges()
        results = [self._empty(), self._empty(), charges]  # a group is read before it is written

        def touch(planes):
            for result in results[:2]:
                result[planes, :, 0] = 0

        if work.on_host:  # else the first columns would wait for all of the memory
            self._each(touch, self._planes)

        def convolve(some):
            components = work.convolved(work.load(charges, some), kernel, some)
            for component, product in enumerate(components):
                work.save(product, results[component], some)

        self._each(convolve, self._columns)
        return results

    def _empty(self):
        depth, rows, _ = self._sizes.shape
        return self._transforms.empty(depth, self._sizes.padded[2] // 2 + 1, rows)

    def _each(self, function, parts):
        """Call the function for each part, several at a time where there are workers."""
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

    def _step(self):
        self._transforms.wait()
        self._done += 1
        self._report(self._done / self._total)


def _slices(total, length):
    length = max(length, 1)
    return (slice(start, min(start + length, total)) for start in range(0, total, length))
