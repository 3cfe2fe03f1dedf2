"""Which files of the project a press on Apply runs through."""

import sys
import threading
from pathlib import Path

from support.places import ROOT


def files_run_by(action) -> set[Path]:
    """The project's Python files whose code runs, in any thread, while a function is called."""
    names = set()

    def note(frame, _event, _argument):
        names.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    paths = [Path(name) for name in names if name.endswith(".py")]
    inside = [path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT)]
    return {path for path in inside if path.parts[0] not in ("Testing", ".venv")}


def open_panel(name):
    """A panel on the phantom of 48^3 voxels, ready for Apply, and its scene's nodes."""
    from emulators.qt.application import install

    install()
    from emulators.qt.panel import Panel

    return Panel(name, [])


def files_of_apply(panel) -> set[Path]:
    """Files that a press on Apply runs through; what only the first import runs does not count."""
    panel.click("applyButton")
    if hasattr(panel.widget.logic, "forget"):
        panel.widget.logic.forget()
    return files_run_by(lambda: panel.click("applyButton"))


def files_of_both() -> tuple[set[Path], set[Path]]:
    """Files that Apply runs through in FuzzyConnectedGPU, then in PotentialSkeleton."""
    from fuzzy_vessel.slicer_host import headless

    headless.start()
    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom
    from FuzzyVesselCoreLib.phantom.liver import liver_phantom

    volume, seeds, _background = add_phantom(liver_phantom((48, 48, 48)))
    connectedness = open_panel("FuzzyConnectedGPU")
    connectedness.parameters.inputVolume = volume
    connectedness.parameters.seeds = seeds
    connectedness.process_events()
    first = files_of_apply(connectedness)
    connectedness.widget.exit()  # as Slicer does when another module is entered
    skeleton = open_panel("PotentialSkeleton")
    skeleton.parameters.input = connectedness.parameters.labelmap
    skeleton.process_events()
    return first, files_of_apply(skeleton)
