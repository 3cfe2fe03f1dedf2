"""Progress callbacks: how a long run tells where it stands, and how it is cancelled."""

from .errors import Cancelled


def reporter(progress):
    """Return ``report(fraction)``, which raises `Cancelled` where `progress` asks for it.

    Parameters
    ----------
    progress : callable or None
        ``progress(fraction) -> bool``; False cancels, and a callback without a result does not.
    """

    def report(fraction):
        if progress is None:
            return
        go_on = progress(float(fraction))
        if go_on is not None and not go_on:  # numpy's False is not Python's
            raise Cancelled("Cancelled; nothing was changed.")

    return report
