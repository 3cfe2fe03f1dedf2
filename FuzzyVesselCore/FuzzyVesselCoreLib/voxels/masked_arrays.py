"""Masked arrays of numpy, whose mask no algorithm here heeds."""

from typing import Any

from ..errors import InputError


def refuse_masked(array: Any, name: str) -> None:
    """Raise `InputError` where an array hides some of its values: they would come back unseen.

    Parameters
    ----------
    array : array_like
    name : str
        What the message calls it, such as "volume".

    Examples
    --------
    >>> import numpy as np
    >>> refuse_masked(np.ma.masked_greater([1, 2, 3], 2), "volume")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FuzzyVesselCoreLib.errors.InputError: The volume is a masked array with 1 hidden value, ...
    """
    if not hasattr(array, "filled"):  # numpy.ma is not imported for those that have none
        return
    import numpy as np

    count = int(np.ma.count_masked(array))
    if count:
        values = "value" if count == 1 else "values"
        raise InputError(
            f"The {name} is a masked array with {count:,} hidden {values}, which would be shown: "
            f"give {name}.filled(...) with the value that they shall have."
        )
