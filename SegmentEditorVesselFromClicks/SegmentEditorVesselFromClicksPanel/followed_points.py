"""The points of the segment that is edited: shown in the views, and followed."""

from collections.abc import Callable

from slicer.util import VTKObservationMixin

from SegmentEditorVesselFromClicksMRML.clicks import Clicks

EVENTS = ("PointPositionDefinedEvent", "PointRemovedEvent")


class FollowedPoints:
    """Shows the points of one segment at a time and tells when they change.

    Parameters
    ----------
    changed : callable
        Called without arguments when a point was placed, moved or removed.
    dragged : callable
        Called without arguments when a point that is held is somewhere else.

    Attributes
    ----------
    clicks : Clicks or None
    dragging : bool
        Whether a point is held.
    """

    def __init__(self, changed: Callable[[], None], dragged: Callable[[], None]) -> None:
        self._changed, self._dragged, self._observers = changed, dragged, VTKObservationMixin()
        self.clicks: Clicks | None = None
        self.dragging = False

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
        self.dragging = False
        for node in self.clicks.nodes.values() if self.clicks is not None else ():
            for name in EVENTS:
                self._observers.addObserver(node, getattr(node, name), self._on_points)
            for event, method in (
                (node.PointStartInteractionEvent, self._on_drag),
                (node.PointModifiedEvent, self._on_move),
                (node.PointEndInteractionEvent, self._on_drop),
            ):
                self._observers.addObserver(node, event, method)

    def _on_points(self, caller, event):
        self._changed()

    def _on_drag(self, caller, event):
        self.dragging = True

    def _on_move(self, caller, event):
        if self.dragging:
            self._dragged()

    def _on_drop(self, caller, event):
        self.dragging = False
        self._changed()
