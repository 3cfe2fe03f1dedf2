"""All stand-ins together."""

from . import ctk_widgets, markups_widgets, mrml_widgets, segment_editor

CTK = ctk_widgets.WIDGETS
SLICER = (*mrml_widgets.WIDGETS, markups_widgets.qSlicerMarkupsPlaceWidget)
WIDGETS = (*CTK, *SLICER)
OTHERS = segment_editor.CLASSES  # in no `.ui` file
