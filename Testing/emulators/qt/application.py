"""The application round the stand-ins: `qt`, `ctk`, `slicer.q...`, and what `slicer.app` has more.

With the environment variable FUZZYVESSEL_SLICER_SOURCE naming a checkout of Slicer, its own
`ScriptedLoadableModule.py` and `parameterNodeWrapper` are used in the place of the project's.
"""

import atexit
import ctypes
import functools
import os
import shutil
import sys
import tempfile
import types
from pathlib import Path

SOURCE = os.environ.get("FUZZYVESSEL_SLICER_SOURCE")


# Widgets that Slicer's own parameter nodes ask for by name, and no panel has.
NAMED_ONLY = {
    "ctk": (
        "ctkCheckBox ctkCheckablePushButton ctkColorPickerButton ctkComboBox ctkDirectoryButton "
        "ctkDoubleRangeSlider ctkDoubleSlider ctkDoubleSpinBox ctkPathLineEdit ctkRangeWidget"
    ),
    "slicer": "qMRMLRangeWidget qMRMLSliderWidget qMRMLSpinBox qSlicerSimpleMarkupsWidget",
}

# What modules want to be called when the application has started: tests call it.
started = []


@functools.cache
def install():
    """Make everything, once in a process; returns what Slicer calls `qt`."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _keep_constants()
    from emulators.slicer_files import use_files
    from fuzzy_vessel import headless

    use_files()
    application = headless.start()
    from .pythonqt import qt_module

    qt = sys.modules["qt"] = qt_module()
    window_system = qt.QApplication.instance() or qt.QApplication(["Slicer"])
    window_system.setStyle("Fusion")
    _keep_settings_apart(qt)
    import slicer

    from . import stand_ins

    ctk = sys.modules["ctk"] = types.ModuleType("ctk")
    for module, classes in ((ctk, stand_ins.CTK), (slicer, stand_ins.SLICER + stand_ins.OTHERS)):
        for cls in classes:
            setattr(module, cls.__name__, cls)
    _extend(application, qt, window_system)
    stand_ins.segment_editor.make_modules(SOURCE)
    if SOURCE:
        _use_source(Path(SOURCE))
    else:
        from . import packaging

        slicer.packaging = sys.modules["slicer.packaging"] = packaging
    return qt


def _keep_constants():
    """Hold on to None, True and False: this PySide6 gives them back once too often.

    It does so in calls without a result, and when a signal is disconnected. Since Python 3.12
    nobody counts who holds them; before, the process ends when nobody does.
    """
    if sys.version_info < (3, 12):
        for constant in (None, True, False):
            ctypes.c_ssize_t.from_address(id(constant)).value += 1 << 40


def _keep_settings_apart(qt):
    folder = tempfile.mkdtemp(prefix="settings")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    qt.QSettings.setDefaultFormat(qt.QSettings.IniFormat)
    qt.QSettings.setPath(qt.QSettings.IniFormat, qt.QSettings.UserScope, folder)
    qt.QCoreApplication.setOrganizationName("stand-ins")


def _extend(application, qt, window_system):
    """Give the headless application what it has with a user interface."""
    # Slicer's own base class of panels connects to it.
    manager = types.SimpleNamespace(connect=lambda signal, slot: None)
    application.moduleManager = lambda: manager
    application.processEvents = lambda *_flags: window_system.processEvents()
    application.setOverrideCursor = window_system.setOverrideCursor
    application.restoreOverrideCursor = window_system.restoreOverrideCursor
    application.settings = application.userSettings = lambda: qt.QSettings()
    application.userSettings().setValue("Developer/SelfTestDisplayMessageDelay", 0)
    application.connect = lambda signal, slot: started.append(slot)
    application.keyboardModifiers = window_system.keyboardModifiers
    application.mouseButtons = window_system.mouseButtons


def _use_source(checkout):
    """Slicer's own files before the project's stand-ins for them."""
    import slicer

    folder = checkout / "Base" / "Python" / "slicer"
    if not (folder / "ScriptedLoadableModule.py").is_file():
        raise RuntimeError(f"FUZZYVESSEL_SLICER_SOURCE: there is no Slicer's source in {checkout}")
    loaded = {"FuzzyConnectedGPU", "PotentialSkeleton"} & set(sys.modules)
    assert not loaded, f"imported too early: {loaded}"
    for name in ("ScriptedLoadableModule", "parameterNodeWrapper", "i18n"):
        del sys.modules[f"slicer.{name}"]
        delattr(slicer, name)
    for module, names in NAMED_ONLY.items():
        for name in names.split():
            setattr(sys.modules[module], name, type(name, (sys.modules["qt"].QWidget,), {}))
    slicer.__path__.insert(0, str(folder))
    sys.path.append(str(checkout / "Modules" / "Loadable" / "Markups"))
    import MarkupsLib.parameterNodeWrapper.guiConnectors  # noqa: F401
    import slicer.packaging
