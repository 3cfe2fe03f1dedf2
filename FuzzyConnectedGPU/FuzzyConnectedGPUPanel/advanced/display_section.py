"""How the result is shown: its surface in 3D, and the connectedness map over the image."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views as slice_layers

from ..result_surface import ResultSurface


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
