"""What the widget classes of both modules do besides handing calls on to their panel.

Slicer looks up `setup`, `enter`, `exit` and `cleanup` when it makes a module's widget, and knows
the folder of this package only later: these four and `onReload` are written in each module's file.
"""

import sys
from typing import Any


def prepare_reload(widget: Any) -> None:
    """Cancel the module's run and unload its own packages, so that Reload reads them again.

    `FuzzyVesselCoreLib` stays: the other module holds its classes, and an error of a class that
    was loaded twice is caught by nobody. To read changes of it, restart Slicer.

    Parameters
    ----------
    widget : ScriptedLoadableModuleWidget
        With `panel`, which is None where its `setup` failed.
    """
    if widget.panel is not None:
        widget.panel.running.cancel()
    for name in packages_of(widget.moduleName):
        del sys.modules[name]


def packages_of(module_name: str) -> list[str]:
    """Return the loaded packages, and modules in them, that belong to one of the modules alone.

    Their names begin with the module's: FuzzyConnectedGPULib, FuzzyConnectedGPUMRML, ...
    """
    files = (module_name, f"{module_name}Widget")
    return [
        name
        for name in sys.modules.copy()
        if name.startswith(module_name) and name.partition(".")[0] not in files
    ]
