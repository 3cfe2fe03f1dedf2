"""Spectra of the rows that hold something, as they wait between the passes on the CPU."""

import numpy as np


class WaitingRows:
    """Transforms along I of some rows (K, J) of a box; a vessel goes through a quarter of them.

    What is kept is ordered by frequency, as groups of frequencies are what is worked on.

    Parameters
    ----------
    used : ndarray of bool, shape (K, J)
        The rows that are kept.
    frequencies : int
    memory : WaitingRows, optional
        Is overwritten, frequency by frequency, where it has room for all rows. New memory is slow.
    """

    def __init__(
        self, used: np.ndarray, frequencies: int, memory: "WaitingRows | None" = None
    ) -> None:
        self._k, self._j = np.nonzero(used)  # ordered by K
        self._first = np.searchsorted(self._k, np.arange(len(used) + 1))
        count = len(self._k)
        self._spectra: np.ndarray
        if memory is None or memory._spectra.shape[1] < count:
            self._spectra = np.empty((frequencies, count), complex)
        else:
            self._spectra = memory._spectra[:, :count]

    def put(self, spectra: np.ndarray, planes: slice) -> None:
        """Keep the spectra (rows, frequencies) of the used rows of some planes."""
        self._spectra[:, self._of(planes)] = spectra.T

    def get(self, planes: slice) -> np.ndarray:
        """Return the spectra (rows, frequencies) of the used rows of some planes; a copy."""
        return np.array(self._spectra[:, self._of(planes)].T, order="C")

    def scatter(self, some: slice, columns: np.ndarray) -> None:
        """Set columns (K, some frequencies, J) to what is kept, and to 0 where that is nothing."""
        columns[...] = 0
        columns[self._k, :, self._j] = self._spectra[some].T

    def gather(self, columns: np.ndarray, some: slice) -> None:
        """Keep the used rows of columns (K, some frequencies, J)."""
        self._spectra[some] = columns[self._k, :, self._j].T

    def _of(self, planes: slice) -> slice:
        return slice(self._first[planes.start], self._first[planes.stop])
