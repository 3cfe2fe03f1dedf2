"""Labels that follow a point while it is held; nothing of it waits for a whole run."""

from collections.abc import Callable
from typing import Any

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.widgets.latest_run import LatestRun
from SegmentEditorVesselFromClicksMRML.clicks import Clicks
from SegmentEditorVesselFromClicksMRML.editor_grid import EditorGrid
from SegmentEditorVesselFromClicksMRML.growing import CachedEvidence
from SegmentEditorVesselFromClicksMRML.live_clicks import LiveClicks

PREPARE = None  # in place of points


class HeldPoint:
    """Computes labels of where the points are, on the evidence of the last whole run.

    Parameters
    ----------
    scripted_effect : qSlicerSegmentEditorScriptedEffect
    cached : CachedEvidence
    show : callable
        ``show(labels, grid, box, exact)``: labels of a part of an `EditorGrid`, and whether a whole
        run would find the same.
    fail : callable
        Called with an error that a person can do something about.
    """

    def __init__(
        self,
        scripted_effect: Any,
        cached: CachedEvidence,
        show: Callable[[Any, EditorGrid, Any, bool], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._effect, self._cached, self._show, self._fail = scripted_effect, cached, show, fail
        self._clicks: Clicks | None = None
        self._live: LiveClicks | None = None
        self._held = False
        self._run = LatestRun(self._read, self._compute, self._follow, self._failed)

    @property
    def working(self) -> bool:
        return self._run.pending

    def drag(self, clicks: Clicks) -> None:
        """A point is held, and somewhere else than before."""
        self._clicks, self._held = clicks, True
        self._run.request()

    def prepare(self, clicks: Clicks) -> None:
        """A whole run has ended: compute what all positions of a later drag share."""
        self._clicks = clicks
        self._run.request()

    def end(self) -> None:
        """The point is let go, or nothing is wanted any more."""
        self._run.stop()
        self._live, self._held = None, False

    # --- `_compute` alone runs in another thread

    def _read(self):
        if self._live is None:
            node, image = self._effect.parameterSetNode(), self._effect.sourceVolumeImageData()
            self._live = LiveClicks(node, image, self._clicks, self._cached)
        return self._live, self._live.points() if self._held else PREPARE

    @staticmethod
    def _compute(inputs, progress):
        live, points = inputs
        if not live.ready:
            return None  # the whole run finds the evidence when the point is let go
        return live.prepare(progress) if points is PREPARE else live.labels(points, progress)

    def _follow(self, found):
        if not self._held:
            self._live = None  # the evidence of a run to come needs its memory
        if found is not None and self._live is not None and self._held:
            self._show(found.labels, self._live.inputs.grid, found.box, found.exact)

    def _failed(self, error):
        if not isinstance(error, FuzzyVesselError):
            raise error
        if self._held:
            self._fail(error)
