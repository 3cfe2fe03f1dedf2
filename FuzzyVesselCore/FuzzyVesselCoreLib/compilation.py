"""What is said where numba is missing, which compiles the loops over voxels."""

from contextlib import contextmanager

from .errors import DeviceError
from .numba_log import quiet_numba


@contextmanager
def compiled_code():
    """Around imports of compiled modules: `DeviceError` with the way out if numba is missing."""
    quiet_numba()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise DeviceError(
            "Skeletons are computed by code that numba compiles, and numba is not installed: "
            "pip install numba."
        ) from error
