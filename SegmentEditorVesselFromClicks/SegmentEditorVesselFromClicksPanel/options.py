"""The effect's options: the widgets and what they are connected to."""

from typing import Any

import ctk
import qt
from slicer.i18n import tr as _


class Options:
    """The widgets of the options frame.

    Attributes
    ----------
    more : ctkSliderWidget
        -1 (less) to 1 (more).
    keep : QCheckBox
        Add to what the segment holds, instead of replacing it.
    last, clear, apply, cancel, centrelines : QPushButton
    bar : QProgressBar
    """

    def __init__(self, scripted_effect: Any) -> None:
        self._effect, self._connected = scripted_effect, []
        self._points = qt.QLabel()
        self._add_row(_("Points:"), self._points)
        self.last = self._button(_("Remove last"), _("Remove the point that was placed last."))
        self.clear = self._button(_("Remove all"), _("Remove all points of the selected segment."))
        self._add_row("", self.last, self.clear)
        self.more = ctk.ctkSliderWidget()
        self.more.minimum, self.more.maximum, self.more.value = -1.0, 1.0, 0.0
        self.more.singleStep, self.more.pageStep, self.more.decimals = 0.05, 0.25, 2
        self.more.spinBoxVisible = False
        self.more.toolTip = _("Less or more of what hangs together with the points.")
        self._add_row(_("Threshold:"), qt.QLabel(_("less")), self.more, qt.QLabel(_("more")))
        self.keep = qt.QCheckBox(_("Keep what the segment holds"))
        self.keep.toolTip = _(
            "Apply replaces what it has written before and keeps what else the segment holds; "
            "unchecked, it replaces everything."
        )
        scripted_effect.addOptionsWidget(self.keep)
        self.cancel = self._button(_("Cancel"), _("Drop the preview; the points stay."))
        self.apply = self._button(_("Apply"), _("Write the preview into the selected segment."))
        self._add_row("", self.cancel, self.apply)
        self.centrelines = self._button(
            _("Centrelines"), _("Open Potential Skeleton with the selected segment.")
        )
        self._add_row("", self.centrelines)
        self.bar = qt.QProgressBar()
        scripted_effect.addOptionsWidget(self.bar)
        self._sentence = qt.QLabel()
        self._sentence.wordWrap = True
        scripted_effect.addOptionsWidget(self._sentence)
        self.say("")

    def connect(self, sender: Any, signal: str, slot: Any) -> None:
        """Connect a widget until `disconnect`."""
        sender.connect(signal, slot)
        self._connected.append((sender, signal, slot))

    def disconnect(self) -> None:
        """Undo all connections: they would keep the effect from ending."""
        for sender, signal, slot in self._connected:
            sender.disconnect(signal, slot)
        self._connected = []

    def say(self, text: str) -> None:
        """Show a sentence below the buttons; an empty one hides the line."""
        self._sentence.text = text
        self._sentence.setVisible(bool(text))

    def show_points(self, vessel: int, background: int) -> None:
        """Show how many points there are."""
        if vessel or background:
            text = _("{vessel} in the vessel, {background} in the background")
            self._points.text = text.format(vessel=vessel, background=background)
        else:
            self._points.text = _("click into the vessel, Ctrl-click what is none")
        self.last.enabled = self.clear.enabled = bool(vessel or background)

    def show_value(self, widget: Any, name: str, value: Any) -> None:
        """Set a widget's property without telling anybody."""
        blocked = widget.blockSignals(True)
        setattr(widget, name, value)
        widget.blockSignals(blocked)

    def _button(self, text, tooltip):
        button = qt.QPushButton(text)
        button.toolTip = tooltip
        return button

    def _add_row(self, label, *widgets):
        row = qt.QHBoxLayout()
        for widget in widgets:
            row.addWidget(widget)
        if label:
            self._effect.addLabeledOptionsWidget(label, row)
        else:
            self._effect.addOptionsWidget(row)
