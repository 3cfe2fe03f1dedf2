"""What the product's code must not do, whatever it is given; and what it says it is not for."""

import ast
import functools
import os
import re
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from fuzzy_vessel.writing import ResultsFolder
from support.places import PACKAGE_FOLDERS

SOURCES = sorted(path for folder in PACKAGE_FOLDERS for path in folder.rglob("*.py"))
# Names whose call runs text as code, or a shell.
FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "tempfile.mktemp",
    "os.execv", "os.execvp", "os.spawnv", "os.spawnl", "subprocess.getoutput",
    "subprocess.getstatusoutput", "builtins.eval", "builtins.exec", "vtk.vtkPythonInterpreter",
}  # fmt: skip
# Modules that unpack objects from files, or that reach the network.
FORBIDDEN_MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve",
    "urllib", "urllib3", "http", "ftplib", "smtplib", "socket", "socketserver", "ssl", "requests",
    "httpx", "aiohttp", "xmlrpc", "telnetlib", "webbrowser", "asyncio", "paramiko",
}  # fmt: skip
# The one room that serves, to whoever knows its key, and what it serves with.
SERVES, SERVING = "fuzzy_vessel_browser", {"aiohttp", "asyncio", "webbrowser"}
# What starts another process, each by a list of arguments: Python itself, with code of ours.
STARTS_PROCESSES = {
    "fuzzy_vessel/rendering.py", "reading/process.py", "fuzzy_vessel/cohort.py",
}  # fmt: skip
# What installs packages, when the user has asked for it and has said yes to Slicer's question.
INSTALLS = {"widgets/packages.py"}


def named(node):
    """A dotted name in the source; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and named(node.value):
        return f"{named(node.value)}.{node.attr}"
    return ""


@functools.cache
def nodes_of(path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))))


def calls_of(path):
    return [(named(node.func), node) for node in nodes_of(path) if isinstance(node, ast.Call)]


def one_of(path, ends):
    return any(path.as_posix().endswith(end) for end in ends)


def forbidden_in(path):
    """Calls and imports that a file must not have."""
    wrong = [name for name, _ in calls_of(path) if name in FORBIDDEN_CALLS]
    for name, call in calls_of(path):
        options = {keyword.arg: keyword.value for keyword in call.keywords}
        if "shell" in options or getattr(options.get("allow_pickle"), "value", False):
            wrong.append(f"{name}, line {call.lineno}")
    imported = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.append(node.module or "")
    forbidden = FORBIDDEN_MODULES - (SERVING if path.parent.name == SERVES else set())
    wrong += [name for name in imported if name.split(".")[0] in forbidden]
    if not one_of(path, STARTS_PROCESSES):
        wrong += [name for name in imported if name in ("subprocess", "pty")]
    if not one_of(path, INSTALLS):
        wrong += [name for name, _ in calls_of(path) if re.search(r"\bpip_(install|ensure)$", name)]
    return wrong


def test_no_input_becomes_code_and_nothing_reaches_the_network():
    assert len(SOURCES) > 60
    found = [path for path in SOURCES if one_of(path, STARTS_PROCESSES | INSTALLS)]
    assert len(found) == len(STARTS_PROCESSES | INSTALLS)
    wrong = {str(path): forbidden_in(path) for path in SOURCES}
    assert {path: each for path, each in wrong.items() if each} == {}


def test_processes_are_started_by_a_list_that_begins_with_python():
    for path in filter(lambda path: one_of(path, STARTS_PROCESSES), SOURCES):
        starts = [call for name, call in calls_of(path) if name.startswith("subprocess.run")]
        assert starts
        for call in starts:
            assert isinstance(call.args[0], ast.List)
            assert named(call.args[0].elts[0]) == "sys.executable"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_temporary_folders_are_private(tmp_path):
    pytest.importorskip("slicer", reason="slicer-core is not installed")
    from fuzzy_vessel import headless

    earlier = os.umask(0)
    try:
        folder = Path(headless.start().temporaryPath)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.parent == Path(tempfile.gettempdir())
        with ResultsFolder(tmp_path / "out") as place:  # patients' data until it is moved
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
    finally:
        os.umask(earlier)
