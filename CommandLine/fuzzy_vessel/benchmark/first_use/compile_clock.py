"""Seconds that numba takes to compile each function, without those of the functions it calls."""

import threading
from time import perf_counter, thread_time
from typing import Any

from numba.core import event

COMPILE = "numba:compile"


class CompileClock(event.Listener):
    """Context manager that adds up the compilations of this process, in all of its threads.

    Attributes
    ----------
    functions : dict of str to dict
        Module and name -> `parallel` (bool), `versions` (compiled for so many types), and the
        `seconds` and processor seconds (`cpu`) of all of them. Functions of numba itself are one.

    Examples
    --------
    >>> from numba import njit
    >>> @njit
    ... def twice(n):
    ...     return 2 * n
    >>> with CompileClock() as clock:
    ...     twice(2), twice(2.0)
    (4, 4.0)
    >>> [found["versions"] for found in clock.functions.values()]
    [2]
    """

    def __init__(self) -> None:
        self.functions: dict[str, dict[str, Any]] = {}
        self._open = threading.local()  # each thread's compilations that go on, innermost last

    def __enter__(self) -> "CompileClock":
        event.register(COMPILE, self)
        return self

    def __exit__(self, *_: Any) -> None:
        event.unregister(COMPILE, self)

    def on_start(self, event: Any) -> None:
        """A compilation begins."""
        self._begun().append((perf_counter(), thread_time(), [0.0, 0.0]))

    def on_end(self, event: Any) -> None:
        """A compilation ends; what its callees took is not its own."""
        wall, cpu, inner = self._begun().pop()
        wall, cpu = perf_counter() - wall, thread_time() - cpu
        if self._begun():
            outer = self._begun()[-1][2]
            outer[0] += wall
            outer[1] += cpu
        dispatcher = event.data["dispatcher"]
        function = dispatcher.py_func
        own = not function.__module__.startswith("numba.")
        name = f"{function.__module__}.{function.__name__}" if own else "numba's own functions"
        parallel = bool(dispatcher.targetoptions.get("parallel")) and own
        nothing = {"parallel": parallel, "versions": 0, "seconds": 0.0, "cpu": 0.0}
        found = self.functions.setdefault(name, nothing)
        found["versions"] += 1
        found["seconds"] += wall - inner[0]
        found["cpu"] += cpu - inner[1]

    def _begun(self) -> list[tuple[float, float, list[float]]]:
        if not hasattr(self._open, "list"):
            self._open.list = []
        return self._open.list
