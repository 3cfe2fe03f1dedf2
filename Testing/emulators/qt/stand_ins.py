"""All stand-ins together."""

from . import ctk_widgets, markups_widgets, mrml_widgets

CTK = ctk_widgets.WIDGETS
SLICER = (*mrml_widgets.WIDGETS, *markups_widgets.WIDGETS)
WIDGETS = (*CTK, *SLICER)
