"""The points of the segment that is edited: shown in the views, and followed."""

from collections.abc import Callable

from slicer.util import VTKObservationMixin

from SegmentEditorVesselFromClicksMRML.clicks import Clicks

EVENTS = ("PointPositionDefinedEvent", "PointEndInteractionEvent", "PointRemovedEvent")


class FollowedPoints:
    """Shows the points of one segment at a time and tells when they change.

    Parameters
    ----------
    changed : callable
        Called without arguments when a point was placed, moved or removed.

    Attributes
    ----------
    clicks : Clicks or None
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed, self._observers = changed, VTKObservationMixin()
        self.clicks: Clicks | None = None

    def follow(self, clicks: Clicks | None) -> None:
        """Turn to the points of another segment, or of none; those of the last one are hidden."""
        if self.clicks is not None:
            self.clicks.show(False)
        self.clicks = clicks
        if clicks is not None:
            clicks.show(True)
        self.observe()

    def observe(self) -> None:
        """Follow the lists that there are now; lists begin with their first point."""
        self._observers.removeObservers()
        for node in self.clicks.nodes.values() if self.clicks is not None else ():
            for name in EVENTS:
                self._observers.addObserver(node, getattr(node, name), self._on_points)

    def _on_points(self, caller, event):
        self._changed()
