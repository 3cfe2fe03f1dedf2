"""PySide6 with the habits of PythonQt, which Slicer's Python sees Qt through.

A property is read and set without parentheses (`button.enabled`), signals are connected by their
signature (`button.connect("clicked(bool)", f)`), and nothing can be set that a widget does not
have. `qt_module()` is what Slicer calls `qt`. The classes of PySide6 are changed for the whole
process.
"""

import functools
import inspect
import types

from PySide6 import QtCore, QtGui, QtWidgets

from . import table

MODULES = (QtCore, QtGui, QtWidgets)
ANY = 99  # arguments
# Qt calls the first two itself, where a class of Python has them: they become values in
# `_getattribute`. And `qt.QTimer.singleShot(msec, f)` is more used than the property of that name.
METHODS = HINTS = ("sizeHint", "minimumSizeHint")
METHODS += ("singleShot",)
ARGUMENTS = {"int": int, "bool": bool, "double": float, "QString": str}

_property, _set_property = QtCore.QObject.property, QtCore.QObject.setProperty
_get_attribute = QtCore.QObject.__getattribute__


def is_own(cls):
    """Whether a class is a module's own: it may have any attribute, in PythonQt, too."""
    return not cls.__module__.startswith(("PySide6", __package__))


def _as_property(name):
    def read(self):
        return _property(self, name)

    def write(self, value):
        if not _set_property(self, name, value):
            raise TypeError(f"{name} of {type(self).__name__} cannot be {value!r}")

    return property(read, write)


def _make_properties(cls):
    meta = cls.staticMetaObject
    for index in range(meta.propertyOffset(), meta.propertyCount()):
        name = meta.property(index).name()
        if name not in METHODS:
            setattr(cls, name, _as_property(name))
    cls.__setattr__ = _guarded_setattr  # each class of PySide6 has its own


def _guarded_setattr(self, name, value):
    """Refuse what PythonQt refuses: a new attribute, or another value for a method."""
    there = next((vars(each)[name] for each in type(self).__mro__ if name in vars(each)), None)
    if isinstance(there, QtCore.Property):
        there.fset(self, value)
    elif hasattr(there, "__set__"):
        there.__set__(self, value)
    elif is_own(type(self)) or name.startswith("_") or _is_part(self, name, value):
        self.__dict__[name] = value
    else:
        raise AttributeError(f"{type(self).__name__} has no property {name}")


def _is_part(self, name, value):
    """PySide6 gives a window its children, and a widget its signals, as attributes."""
    if isinstance(value, QtCore.SignalInstance):
        return True
    if not isinstance(value, QtCore.QObject) or _property(value, "objectName") != name:
        return False
    parent = value.parent()
    while parent is not None and parent is not self:
        parent = parent.parent()
    return parent is self


def _signal(self, signature):
    """The signal of this signature; ValueError where the real widget has none such."""
    signature = signature.replace(" ", "")
    name, _, arguments = signature.partition("(")
    arguments = arguments.rstrip(")").replace("const", "").replace("&", "")
    # Not self.metaObject(): it would end with this object, for all others of the class, too.
    meta = type(self).staticMetaObject
    if (
        meta.indexOfSignal(signature) < 0
        and signature not in table.signals_of(type(self))
        and not is_own(type(self))
    ):
        raise ValueError(f"{type(self).__name__} has no signal {signature}")
    signal = _get_attribute(self, name)
    kinds = tuple(ARGUMENTS.get(each, object) for each in arguments.split(",")) if arguments else ()
    try:
        return signal[kinds[0] if len(kinds) == 1 else kinds] if kinds else signal, len(kinds)
    except (KeyError, IndexError, TypeError):
        return signal, len(kinds)


def _connect(self, signature, *target):
    """`connect("sig(type)", f)` and `connect("sig(type)", receiver, "slot(type)")`."""
    slot = target[0] if len(target) == 1 else getattr(target[0], target[1].partition("(")[0])
    signal, count = _signal(self, signature)
    most = _most_arguments(slot)

    def call(*values):
        slot(*values[: min(count, most)])

    signal.connect(call)
    return True


def _most_arguments(slot):
    """How many arguments a slot takes; PythonQt hands over no more."""
    try:
        parameters = inspect.signature(slot).parameters.values()
    except (TypeError, ValueError):
        return ANY
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return ANY
    return sum(
        each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters
    )


def _getattribute(self, name):
    # PySide6 looks for `connect` itself: an attribute of the class does not do.
    if name == "connect":
        return functools.partial(_connect, self)
    value = _get_attribute(self, name)
    return value() if name in HINTS and not inspect.ismethod(value) else value


def _first_of(function):
    """PySide6 gives a file's name and the filter, PythonQt the name alone."""
    return staticmethod(lambda *arguments: function(*arguments)[0])


@functools.cache
def qt_module():
    """The module that Slicer calls `qt`; the first call changes PySide6."""
    module = types.ModuleType("qt")
    for each in MODULES:
        for name in dir(each):
            thing = getattr(each, name)
            if name.startswith("Q"):
                setattr(module, name, thing)
            if inspect.isclass(thing) and issubclass(thing, QtCore.QObject):
                _make_properties(thing)
    objects = QtCore.QObject
    objects.name = property(lambda self: self.objectName, lambda self, v: self.setObjectName(v))
    objects.className = lambda self: type(self).__name__
    objects.__getattribute__ = _getattribute
    QtWidgets.QMenu.__getattribute__ = _getattribute  # it has one of its own
    for name in ("getSaveFileName", "getOpenFileName"):
        setattr(QtWidgets.QFileDialog, name, _first_of(getattr(QtWidgets.QFileDialog, name)))
    from .ui_files import UiLoader

    module.QUiLoader = UiLoader
    return module
