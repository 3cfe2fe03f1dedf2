"""What the array tools call now and then, made of a run's progress function."""

from collections.abc import Callable
from typing import Any

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.translation import tr as _


def reporter(progress: Callable[[float], bool] | None) -> Callable[..., None]:
    """A function ``report(share)`` that raises `Cancelled` where the progress function says so.

    Without a share it says that the work goes on.
    """
    last = [0.0]

    def report(*share: Any) -> None:
        last[0] = float(share[0]) if share else last[0]
        if progress is not None and progress(last[0]) is False:
            raise Cancelled(_("Cancelled; nothing was changed."))

    return report
