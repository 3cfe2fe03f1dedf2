"""A host for the wheel `slicer-core`: a MRML scene and Slicer's logics without the application.

The wheel holds Slicer's C++ libraries and `slicer.util`, but no application; `slicer.util` asks for
`slicer.mrmlScene`, `slicer.app` and `slicer.modules`. `start()` makes these, so that

>>> from fuzzy_vessel.slicer_host import headless
>>> application = headless.start()
>>> import slicer
>>> volume = slicer.util.loadVolume("ct.nrrd", {})
>>> slicer.modules.volumes.logic().CreateAndAddLabelVolume(volume, "vessels")

work as in Slicer's Python console. `slicer.util` keeps the properties of one call for the next
(a default argument that it writes to): hand it `{}` each time.
"""

import types
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError

from .application import Application
from .vtk_messages import vtk_messages

__all__ = ["Application", "start", "vtk_messages"]

_application: Application | None = None


def start() -> Application:
    """Return the process's application; the first call makes it and fills the module `slicer`.

    Returns
    -------
    Application
        Its `scene` is `slicer.mrmlScene`, and it is `slicer.app`.

    Raises
    ------
    InputError
        slicer-core is not installed, or another package named `slicer` hides it.
    """
    global _application
    if _application is None:
        slicer = _import_slicer()
        # Base classes of scripted modules, which the wheel leaves out; see slicer_parts.
        slicer.__path__.append(str(Path(__file__).parent / "slicer_parts"))
        _application = Application()
        slicer.app = _application
        slicer.mrmlScene = _application.scene
        slicer.modules = types.SimpleNamespace(**_application.modules)
    return _application


def _import_slicer():
    way_out = "install it with: pip install 'fuzzy-vessel-gpu[mrml]'"
    try:
        import slicer
    except ImportError as error:
        raise InputError(f"The MRML scene needs slicer-core ({error}); {way_out}") from error
    if not hasattr(slicer, "vtkMRMLScene"):
        raise InputError(
            f"The package 'slicer' at {getattr(slicer, '__file__', 'an unknown place')} is not "
            f"3D Slicer's: remove it (pip uninstall slicer), then reinstall slicer-core; {way_out}"
        )
    return slicer
