"""The points of the segment that is edited: shown in the views, and followed."""

from collections.abc import Callable

from slicer.util import VTKObservationMixin

from FuzzyConnectedGPUPanel.point_drag import PointDrag
from SegmentEditorVesselFromClicksMRML.clicks import Clicks

EVENTS = ("PointPositionDefinedEvent", "PointRemovedEvent")  # of no drag


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
    """

    def __init__(self, changed: Callable[[], None], dragged: Callable[[], None]) -> None:
        self._changed, self._observers = changed, VTKObservationMixin()
        self._drag = PointDrag(_nothing, dragged, changed)
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
        self._drag.forget()
        for node in self.clicks.nodes.values() if self.clicks is not None else ():
            for name in EVENTS:
                self._observers.addObserver(node, getattr(node, name), self._on_points)
            for event, method in (
                (node.PointStartInteractionEvent, self._on_press),
                (node.PointModifiedEvent, self._on_move),
                (node.PointEndInteractionEvent, self._on_release),
            ):
                self._observers.addObserver(node, event, method)

    def _on_points(self, caller, event):
        self._drag.forget()
        self._changed()

    def _on_press(self, caller, event):
        self._drag.press()

    def _on_move(self, caller, event):
        self._drag.change()

    def _on_release(self, caller, event):
        self._drag.let_go()


def _nothing() -> None:
    """The first move needs no more than the others."""
