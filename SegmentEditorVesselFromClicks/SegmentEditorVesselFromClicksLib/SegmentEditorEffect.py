"""The effect as Slicer knows it: it forwards the Segment Editor's calls.

Slicer loads this file under the name of its folder: nothing can be imported from here.
"""

import math
import os
from typing import Any

import qt
import vtk
from SegmentEditorEffects import AbstractScriptedSegmentEditorEffect
from slicer.i18n import tr as _

DRAGGED_WITHIN = 8  # pixels from a point: a press there drags it


class SegmentEditorEffect(AbstractScriptedSegmentEditorEffect):
    """Segments a vessel from clicks; see `effect_panel.EffectPanel`.

    One is made when Slicer starts, and one for each Segment Editor; only these get widgets.
    """

    def __init__(self, scriptedEffect):
        AbstractScriptedSegmentEditorEffect.__init__(self, scriptedEffect)
        scriptedEffect.name = "Vessel from clicks"  # other modules ask for it: not translated
        scriptedEffect.title = _("Vessel from clicks")
        self.panel: Any = None

    def clone(self) -> Any:
        import qSlicerSegmentationsEditorEffectsPythonQt as effects

        effect = effects.qSlicerSegmentEditorScriptedEffect(None)
        effect.setPythonSource(__file__.replace("\\", "/"))
        return effect

    def icon(self) -> Any:
        return qt.QIcon(os.path.join(os.path.dirname(__file__), "SegmentEditorEffect.png"))

    def helpText(self) -> str:
        return "<html>" + _(
            "Segment a vessel from clicks in slice views.<br>"
            "<ul style='margin: 0'>"
            "<li><b>Click</b> in the vessel; each further click adds a branch."
            "<li><b>Ctrl-click</b> anything that is not vessel: that leak is removed."
            "<li>Drag a point to move it."
            "<li>Paths stay inside the editable area and intensity range of <i>Masking</i>."
            "<li><b>Apply</b> writes the preview into the selected segment."
            "</ul>Each segment has points of its own; vessels that touch are divided among the "
            "segments that have points. Research software, not for diagnosis."
        )

    def createCursor(self, viewWidget: Any) -> Any:
        return qt.QCursor(qt.Qt.CrossCursor)

    def setupOptionsFrame(self) -> None:
        from SegmentEditorVesselFromClicksPanel.effect_panel import EffectPanel

        self.panel = EffectPanel(self.scriptedEffect)

    def activate(self) -> None:
        self.panel.activate()

    def deactivate(self) -> None:
        self.panel.activate(False)

    def cleanup(self) -> None:
        if self.panel is not None:
            self.panel.cleanup()

    def referenceGeometryChanged(self) -> None:
        if self.panel is not None:
            self.panel.follow()

    def processInteractionEvents(
        self, callerInteractor: Any, eventId: int, viewWidget: Any
    ) -> bool:
        """Place a point where the left button is pressed in a slice."""
        pressed = eventId == vtk.vtkCommand.LeftButtonPressEvent
        pressed = pressed and not (callerInteractor.GetShiftKey() or callerInteractor.GetAltKey())
        if not pressed or viewWidget.className() != "qMRMLSliceWidget":
            return False
        x, y = callerInteractor.GetEventPosition()
        position = self.xyToRas((x, y), viewWidget)
        background = bool(callerInteractor.GetControlKey())
        reach = math.dist(position, self.xyToRas((x + DRAGGED_WITHIN, y), viewWidget))
        clicks = self.panel.clicks
        placed = [] if clicks is None else [each for kind in clicks.positions for each in kind]
        if not background and any(math.dist(position, each) <= reach for each in placed):
            return False  # the markups take it from here
        self.panel.click(position, background)
        return True
