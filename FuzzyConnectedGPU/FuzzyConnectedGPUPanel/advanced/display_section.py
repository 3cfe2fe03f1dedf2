"""How the result is shown: its surface in 3D, and the connectedness map over the image."""

from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import slice_layers
from FuzzyVesselCoreLib.mrml.surfaces import (
    drop_surface,
    make_surface,
    put_surface,
    surface_of,
    without_surface,
)

SURFACE_WAIT = 250  # milliseconds of rest before the surface is made


class DisplaySection:
    """Surface and overlay."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.surface = ResultSurface(panel)
        self._overlay: tuple[str, float] | None = None

    def react(self, parameters: Any) -> None:
        """Follow the choices of what is shown."""
        self.surface.react(parameters)
        scene_node, wanted = self._panel.result_scene(), None
        if scene_node is not None:
            opacity = parameters.overlayOpacity if parameters.showOverlay else 0.0
            wanted = (scene_node.GetID(), opacity)
        if wanted != self._overlay:
            if wanted is not None and (wanted[1] or self._overlay):
                slice_layers.show_scene(scene_node, wanted[1])
            self._overlay = wanted

    def show(self, parameters: Any) -> None:
        self._panel.enable(self.ui.show3DCheckBox, self.surface.why_not(parameters))
        there = self._panel.result_scene() is not None
        why = "" if there else _("There is no connectedness map yet: press Apply.")
        self._panel.enable(self.ui.overlayCheckBox, why)
        self._panel.enable(self.ui.overlaySlider, why)

    def forget(self) -> None:
        """All nodes are gone."""
        self.surface.forget()
        self._overlay = None


class ResultSurface:
    """The closed surfaces of the result's segments, made when nothing moves any more.

    Until it is made anew the last one stays, so that the 3D views do not blink.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._seen: tuple[Any, bool] | None = None  # segmentation and "Show in 3D", last time
        self._last: dict[tuple[Any, str], Any] = {}  # of each segmentation and segment
        self._timer = qt.QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(SURFACE_WAIT)
        self._timer.connect("timeout()", self.make)

    @property
    def waits(self) -> bool:
        """Whether the surface is still to be made."""
        return self._timer.active

    def follow(self, parameters: Any) -> None:
        """Segments were written: their surfaces follow."""
        if not parameters.show3D:
            return
        for (segmentation, segment_id), surface in self._last.items():
            if segmentation is parameters.segmentation:
                put_surface(segmentation, segment_id, surface)
        self._timer.start()

    def make(self) -> None:
        """Make the surfaces of the result's segments for the 3D views, or take them away."""
        # The module may have been left since: the parameters are in the scene all the same.
        parameters = self._panel.parameters or self._panel.logic.getParameterNode()
        segmentation = parameters.segmentation
        segment_ids = self._panel.output.result_segments(parameters)
        if segmentation is None or not segment_ids:
            return
        if self._panel.seeds.dragging or self._panel.running.active:
            self._timer.start()
        elif parameters.show3D:
            last, self._last = self._last, {}
            for each in segment_ids:
                make_surface(segmentation, each, anew=(segmentation, each) in last)
                self._last[segmentation, each] = surface_of(segmentation, each)
        else:
            self._last = {}
            for each in segment_ids:
                drop_surface(segmentation, each)

    def react(self, parameters: Any) -> None:
        """Follow "Show in 3D"; a segmentation that was only chosen stays as it is."""
        segmentation, before = parameters.segmentation, self._seen
        self._seen = (segmentation, parameters.show3D)
        if before in (None, self._seen) or before[0] is not segmentation:
            return
        segment_ids = self._panel.output.result_segments(parameters)
        for each in segment_ids if parameters.show3D else ():
            segmentation.GetDisplayNode().SetSegmentVisibility3D(each, True)
        if segment_ids:
            self._timer.start()

    def why_not(self, parameters: Any) -> str:
        """What stands against a surface, as a sentence; or an empty text."""
        segment_ids = self._panel.output.result_segments(parameters)
        others = without_surface(parameters.segmentation, segment_ids[0]) if segment_ids else []
        if not others:
            return ""
        return _(
            "The segmentation has no surfaces of {others}: press Show 3D in the module "
            "Segmentations to see all segments."
        ).format(others=", ".join(others))

    def forget(self) -> None:
        """The segmentation is gone."""
        self._timer.stop()
        self._seen, self._last = None, {}
