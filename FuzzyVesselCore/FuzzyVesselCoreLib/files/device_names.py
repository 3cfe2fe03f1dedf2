"""Names that Windows keeps for devices: no file or folder can be called so there."""

import re

DEVICES = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL)


def is_device_name(name: str) -> bool:
    """Whether Windows takes a name, whatever its ending, for one of its devices.

    Parameters
    ----------
    name : str
        Of a file or folder, without those above it.

    References
    ----------
    Microsoft, "Naming Files, Paths, and Namespaces", Windows App Development documentation.

    Examples
    --------
    >>> is_device_name("nul.nrrd"), is_device_name("nullus")
    (True, False)
    """
    return DEVICES.fullmatch(name) is not None
