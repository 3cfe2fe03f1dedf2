"""How far numba is with compiling the project's functions, in the first run on a computer."""

import sys

PACKAGES = ("FuzzyVesselCoreLib", "FuzzyConnectedGPULib", "PotentialSkeletonLib")


def compiled_functions() -> tuple[int, int]:
    """Return how many functions of the loaded modules are compiled, and how many there are.

    Some functions are not needed by every run, so the first number may stay below the second.

    Examples
    --------
    >>> ready, known = compiled_functions()
    >>> 0 <= ready <= known
    True
    """
    numba = sys.modules.get("numba.core.dispatcher")
    dispatcher = getattr(numba, "Dispatcher", None)  # None also while numba is being imported
    if dispatcher is None:
        return 0, 0
    # This is asked many times a second while numba compiles in a thread: thousands of `isinstance`
    # and lists of signatures would keep that thread waiting. It imports modules meanwhile: nothing
    # is added to a dictionary while it is copied, but it may be while a list of it is made.
    found = {
        id(each): each
        for name, module in sys.modules.copy().items()
        if name.partition(".")[0] in PACKAGES
        for each in vars(module).copy().values()
        if dispatcher in type(each).__mro__
    }
    return sum(bool(each.overloads) for each in found.values()), len(found)
