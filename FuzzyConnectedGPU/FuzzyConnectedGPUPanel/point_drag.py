"""Whether a point is dragged just now: by the events of its list, and by the mouse."""

from collections.abc import Callable

import qt
import slicer

# Slicer's key S (snap to slice) starts an interaction that never ends, and a point can be taken
# away while it is held: without a move for so long, and with no button down, a drag is over.
STILL = 300  # milliseconds


class PointDrag:
    """A drag: from the first move after a press to the release, or to what cannot belong to it.

    Parameters
    ----------
    begin : callable
        Called without arguments when a point that is held moves for the first time.
    move : callable
        Called without arguments at every move, also at the first one.
    end : callable
        Called without arguments when a point is let go; not if it was pressed and never moved.

    Attributes
    ----------
    dragging : bool
        Whether a point is held and was moved.

    Examples
    --------
    >>> drag = PointDrag(begin, move, end)
    >>> observe(node, node.PointStartInteractionEvent, drag.press)
    """

    def __init__(
        self, begin: Callable[[], None], move: Callable[[], None], end: Callable[[], None]
    ) -> None:
        self._begin, self._move, self._end = begin, move, end
        self.dragging = self._held = False
        self._still = qt.QTimer()
        self._still.setSingleShot(True)
        self._still.setInterval(STILL)
        self._still.connect("timeout()", self._look)

    def press(self) -> None:
        """An interaction begins; whether it is a drag is not known yet."""
        self._held = True

    def change(self) -> None:
        """A point is changed: it moves if it is held."""
        if not self._held:
            return
        self._still.start()
        if not self.dragging:
            self.dragging = True
            self._begin()
        self._move()

    def let_go(self) -> None:
        """The interaction ends."""
        unmoved = self._held and not self.dragging
        self.forget()
        if not unmoved:
            self._end()

    def interrupt(self) -> None:
        """Something happens that no drag goes on with, such as a point placed or removed."""
        if self._held:
            self.let_go()

    def forget(self) -> None:
        """The lists are others now, or gone."""
        self._still.stop()
        self.dragging = self._held = False

    def _look(self) -> None:
        if slicer.app.mouseButtons():
            self._still.start()  # it is held still
        else:
            self.interrupt()
