"""The button that removes the Python packages which the modules installed."""

from collections.abc import Callable
from typing import Any

import qt
from slicer.i18n import tr as _

from . import installed_packages


class RemovalButton:
    """At the end of a panel's section *Advanced*; hidden while there is nothing to remove.

    Parameters
    ----------
    section : ctkCollapsibleButton
    requester : str
        The module's title, for the question.
    say : callable
        Shows a sentence.
    busy : callable
        Why no package may be removed now; an empty text where it may.
    """

    def __init__(
        self, section: Any, requester: str, say: Callable[[str], None], busy: Callable[[], str]
    ) -> None:
        self._requester, self._say, self._busy = requester, say, busy
        self.button = qt.QPushButton(_("Remove installed packages ..."))
        self.button.toolTip = _("Removes the Python packages that these modules installed.")
        section.layout().addWidget(self.button)
        self.button.connect("clicked()", self.remove)
        section.connect("contentsCollapsed(bool)", lambda _collapsed: self.show())
        self.show()

    def show(self) -> None:
        """Show the button where there is something to remove."""
        self.button.setVisible(bool(installed_packages.installed_by_us()))

    def remove(self) -> None:
        """Remove the packages, after asking."""
        said = self._busy() or installed_packages.remove(self._requester)
        self.show()
        if said:
            self._say(said)
