"""The preview that follows the points: one run at a time, and the last change wins."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUPanel.wording import worded
from FuzzyVesselCoreLib.errors import Cancelled, FuzzyVesselError
from FuzzyVesselCoreLib.widgets.run import Run
from SegmentEditorVesselFromClicksMRML.clicks import Clicks
from SegmentEditorVesselFromClicksMRML.editor_grid import editor_grid
from SegmentEditorVesselFromClicksMRML.growing import CachedEvidence
from SegmentEditorVesselFromClicksMRML.preview import Preview
from SegmentEditorVesselFromClicksMRML.segmenting import vessel_of_clicks

from .options import Options

SOON = 50  # ms: changes that follow one another within it are one


class LivePreview:
    """Computes the vessel of some points and shows it in the slice views.

    A run begins when the events that belong to a change are over. A change during a run cancels it
    and starts the next one. While a point is held, slices follow without whole runs.

    Parameters
    ----------
    scripted_effect : qSlicerSegmentEditorScriptedEffect
    options : Options
    changed : callable
        Called without arguments when a run or a preview begins or ends.
    """

    def __init__(self, scripted_effect: Any, options: Options, changed: Callable[[], None]) -> None:
        self._effect, self._options, self._changed = scripted_effect, options, changed
        self._preview, self._cached = (
            Preview(_("Vessel from clicks preview")),
            CachedEvidence(),
        )
        self._clicks: Any = None
        self._vessel: Any = None  # what the preview is cut from
        self._again = False
        self._run = Run(options.bar, self._on_run_changed, _("Vessel from clicks"))
        self._soon = qt.QTimer()
        self._soon.setSingleShot(True)
        self._soon.interval = SOON
        options.connect(self._soon, "timeout()", self._compute)

    @property
    def running(self) -> bool:
        return self._run.active

    @property
    def ready(self) -> bool:
        """Whether what is shown belongs to the points as they are."""
        return self._vessel is not None and self._preview.shown

    def labels(self) -> np.ndarray:
        """Labels (K, J, I; uint8) of the preview, on the editor's voxels."""
        return self._vessel.labels(self._clicks.more)

    def follow(self, clicks: Clicks | None) -> None:
        """Turn to other points; nothing is shown until `update_soon`."""
        self.stop()
        self._clicks = clicks

    def update_soon(self) -> None:
        """Points or settings are others: show what follows from them."""
        self._vessel = None
        if self._run.active:
            self._again = True
            self._run.cancel()
        else:
            self._soon.start()

    def stop(self) -> None:
        """Show nothing, and compute nothing until the next `update_soon`."""
        self._again = False
        self._run.cancel()
        self._soon.stop()
        self._drop()

    def forget(self) -> None:
        """Give the memory back that makes the next run faster."""
        self._cached.forget()

    def leave(self) -> None:
        """The widgets are about to end."""
        self._run.leave()
        self.stop()
        self.forget()

    def show(self, notes: Sequence[str] = ()) -> None:
        """Show as much of the vessel as is wanted now; nothing is computed anew."""
        grid = editor_grid(self._effect.sourceVolumeImageData())
        self._show_labels(self.labels(), grid, notes)
        self._changed()

    def _show_labels(self, labels, grid, notes=()):
        meant = self._clicks.segmentation_node, self._clicks.segment_id
        volume = self._preview.show_on_grid(labels, grid, *meant)
        self._options.say(
            "\n".join([_("Preview: {volume:.2f} ml.").format(volume=volume), *map(worded, notes)])
        )

    def _compute(self):
        if self._clicks is None or self._run.active:
            return
        if self._run.busy:
            self._again = True
            self._options.say(self._run.why_busy())
            return
        clicks, self._again = self._clicks, False
        self._options.say("")
        try:
            with self._run as run:
                vessel, notes = vessel_of_clicks(
                    self._effect.parameterSetNode(),
                    self._effect.sourceVolumeImageData(),
                    clicks,
                    progress=run.progress,
                    cached=self._cached,
                )
        except Cancelled:
            self._changed()
        except FuzzyVesselError as error:
            self._fail(error)
        except Exception as error:
            self._fail(error)
            raise
        else:
            if clicks is self._clicks and not self._again:
                self._vessel = vessel
                self.show(notes)

    def _fail(self, error):
        self._drop()
        self._say(error)

    def _say(self, error):
        self._options.say(worded(error))

    def _drop(self):
        self._vessel = None
        self._preview.drop()
        self._changed()

    def _on_run_changed(self):
        self._changed()
        if self._again and not self._run.busy:
            self._soon.start()
