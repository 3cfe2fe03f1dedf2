"""The stand-ins, the panels' .ui files and the modules use nothing that the real widgets lack."""

import ast
import xml.etree.ElementTree as ElementTree

import pytest

from emulators.qt import stand_ins_of, table
from emulators.qt.application import install
from support.places import ROOT, SLICER_MODULES

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")


qt = install()
UI_FILES = sorted(ROOT.glob("*/Resources/UI/*.ui"))
SOURCES = [path for name in SLICER_MODULES for path in sorted((ROOT / name).rglob("*.py"))]
PYTHONQT = {"connect", "disconnect", "name", "className", "delete", "exec_"}
APPLICATION = ("qSlicerApplication", "qSlicerCoreApplication")


def real_qt_base(name):
    """The class of Qt that a class of the table derives from."""
    names = [base for each in table.bases_of(name) for base in table.widgets()[each]["bases"]]
    (found,) = {base for base in names if base.startswith("Q")} or {"QWidget"}
    return getattr(qt, found)


def names_of(class_name):
    """Everything that Python can ask a widget for, of the table or of Qt."""
    if class_name in table.widgets():
        return PYTHONQT | table.names_of(class_name) | set(dir(real_qt_base(class_name)))
    return PYTHONQT | set(dir(getattr(qt, class_name)))


def has(kind, class_name, name):
    """Whether a class has a signal or slot of this signature, or a property of this name."""
    lists = {"signal": "signals", "slot": "methods", "property": "properties"}
    for base in table.bases_of(class_name):
        if name in table.widgets()[base][lists[kind]]:
            return True
    cls = real_qt_base(class_name) if class_name in table.widgets() else getattr(qt, class_name)
    return getattr(cls.staticMetaObject, f"indexOf{kind.capitalize()}")(name) >= 0


# --- the stand-ins


@pytest.mark.parametrize("cls", stand_ins_of(), ids=lambda cls: cls.__name__)
def test_a_stand_in_offers_nothing_that_the_real_widget_lacks(cls):
    own = [each for each in cls.__mro__ if each.__module__.startswith("emulators.qt")]
    names = {name for each in own for name in vars(each) if not name.startswith("_")}
    base = next(each for each in cls.__mro__ if each.__module__.startswith("PySide6"))
    extra = names - set(dir(base)) - table.names_of(cls.__name__) - {"staticMetaObject"}
    assert not extra


# --- the .ui files


def widgets_in(path):
    """Name to element; without Designer's own class Line, a QFrame that lies or stands."""
    root = ElementTree.parse(path).getroot()
    return {each.get("name"): each for each in root.iter("widget") if each.get("class") != "Line"}


@pytest.mark.parametrize("path", UI_FILES, ids=lambda path: path.stem)
def test_ui_files_set_and_connect_what_there_is(path):
    widgets = widgets_in(path)
    for widget in widgets.values():
        for found in widget.findall("property"):
            own = found.get("stdset") == "0"  # a dynamic property, as SlicerParameterName
            own = own or found.find("cstring") is not None  # a label's buddy, by name
            assert own or has("property", widget.get("class"), found.get("name")), found.get("name")
    for connection in ElementTree.parse(path).getroot().iterfind("connections/connection"):
        sender = widgets[connection.findtext("sender")].get("class")
        receiver = widgets[connection.findtext("receiver")].get("class")
        assert has("signal", sender, connection.findtext("signal")), connection.findtext("signal")
        assert has("slot", receiver, connection.findtext("slot")), connection.findtext("slot")


@pytest.mark.parametrize("path", UI_FILES, ids=lambda path: path.stem)
def test_ui_files_give_every_mrml_widget_the_scene(path):
    root, takes_scene = ElementTree.parse(path).getroot(), "setMRMLScene(vtkMRMLScene*)"
    (top,) = root.findall("widget")
    assert top.get("class") == "qMRMLWidget"
    reached = {
        each.findtext("receiver")
        for each in root.iterfind("connections/connection")
        if each.findtext("sender") == top.get("name")
        and each.findtext("signal") == "mrmlSceneChanged(vtkMRMLScene*)"
        and each.findtext("slot") == takes_scene
    }
    wanting = {
        name
        for name, widget in widgets_in(path).items()
        if name != top.get("name") and has("slot", widget.get("class"), takes_scene)
    }
    assert wanting == reached


@pytest.mark.parametrize("path", UI_FILES, ids=lambda path: path.stem)
def test_ui_files_bind_parameters_that_there_are(path):
    import importlib

    owner = path.parts[-4]  # a module may have more than one file
    name = f"{owner}ParameterNode"
    module = importlib.import_module(owner)
    if owner.startswith("SegmentEditor"):
        return  # an effect has no parameter node of its own
    if not hasattr(module, name):
        module = importlib.import_module(f"{owner}MRML.parameters")
    parameters = getattr(module, name).allParameters
    bound = [
        found.findtext("string")
        for widget in widgets_in(path).values()
        for found in widget.findall("property")
        if found.get("name") == "SlicerParameterName"
    ]
    assert len(bound) == len(set(bound))
    assert set(bound) <= set(parameters)
    assert bound or path.stem != owner


# --- the modules


def attributes(tree):
    """Pairs of a dotted name as far as it is one, and the place."""
    for node in ast.walk(tree):
        parts, part = [], node
        while isinstance(part, ast.Attribute):
            parts.insert(0, part.attr)
            part = part.value
        if parts and isinstance(part, ast.Name):
            yield [part.id, *parts], node


@pytest.mark.parametrize("owner", sorted({path.parts[-4] for path in UI_FILES}))
def test_modules_ask_widgets_for_what_they_have(owner):
    """`self.ui.<widget>.<name>`, wherever it stands in the module's own file and packages."""
    classes = {
        name: widget.get("class")
        for path in UI_FILES
        if path.parts[-4] == owner
        for name, widget in widgets_in(path).items()
    }
    used = 0
    for source in (ROOT / owner).rglob("*.py"):
        for names, _node in attributes(ast.parse(source.read_text(encoding="utf-8"))):
            if "ui" not in names[:-1]:
                continue
            name, *rest = names[names.index("ui") + 1 :]
            assert name in classes, f"{source.name}: the module has no widget {name}"
            if rest:
                used += 1
                assert rest[0] in names_of(classes[name]), f"{source.name}: {name}.{rest[0]}"
    assert used


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_modules_ask_slicer_and_qt_for_what_they_have(path):
    application = {name for each in APPLICATION for name in table.names_of(each)}
    application |= set(dir(qt.QApplication)) | {"testingEnabled", "applicationName"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for names, _node in attributes(tree):
        place = f"{path.name}: {'.'.join(names)}"
        if names[0] == "qt":
            assert hasattr(qt, names[1]), place
            assert len(names) < 3 or hasattr(getattr(qt, names[1]), names[2]), place
            assert len(names) < 4, f"{place}: PythonQt has no enumerators in enumerations"
        elif names[0] == "ctk" or (names[0] == "slicer" and names[1].startswith("q")):
            assert names[1] in table.widgets(), place
        elif names[:2] == ["slicer", "app"] and len(names) > 2:
            assert names[2] in application, place
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("qt.Q", "ctk.ctk")):
            constructor = "." not in ast.unparse(node.func).removeprefix("qt.").removeprefix("ctk.")
            assert not (constructor and node.keywords), f"{path.name}: {ast.unparse(node)}"
