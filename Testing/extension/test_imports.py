"""Imports run downwards only, and each package imports at load time only what it may need."""

import ast
import functools
import os
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fuzzy_vessel.writing import ResultsFolder
from support.places import PACKAGE_FOLDERS

# What each package may import of the project, anywhere: only what lies below it.
CORE = {"FuzzyVesselCoreLib"}
BELOW = {
    "FuzzyVesselCoreLib": set(),
    "FuzzyConnectedGPULib": CORE,
    "FuzzyConnectedGPUMRML": CORE | {"FuzzyConnectedGPULib"},
    "FuzzyConnectedGPUPanel": CORE | {"FuzzyConnectedGPULib", "FuzzyConnectedGPUMRML"},
    "PotentialSkeletonLib": CORE,
    "PotentialSkeletonMRML": CORE | {"PotentialSkeletonLib"},
    "PotentialSkeletonPanel": CORE | {"PotentialSkeletonLib", "PotentialSkeletonMRML"},
    "SegmentEditorVesselFromClicksPanel": CORE
    | {"FuzzyConnectedGPULib", "FuzzyConnectedGPUMRML", "FuzzyConnectedGPUPanel"},
    "SegmentEditorVesselFromClicksLib": {"SegmentEditorVesselFromClicksPanel"},
    "SegmentEditorVesselFromClicks": CORE,
    "FuzzyVesselCore": CORE,
    "FuzzyConnectedGPU": CORE
    | {"FuzzyConnectedGPULib", "FuzzyConnectedGPUMRML", "FuzzyConnectedGPUPanel"},
    "PotentialSkeleton": CORE
    | {"PotentialSkeletonLib", "PotentialSkeletonMRML", "PotentialSkeletonPanel"},
}
BELOW["fuzzy_vessel_napari"] = CORE | {"FuzzyConnectedGPULib", "PotentialSkeletonLib"}
BELOW["fuzzy_vessel"] = {name for name in BELOW if not name.endswith("Panel")}
BELOW["fuzzy_vessel_browser"] = BELOW["fuzzy_vessel"] | {"fuzzy_vessel", "FuzzyConnectedGPUPanel"}
FILES = {
    path.relative_to(folder).as_posix(): path
    for folder in PACKAGE_FOLDERS
    for path in sorted(folder.rglob("*.py"))
}


@functools.cache
def imported(path):
    """Dotted names that a file imports anywhere."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(_absolute(path, node))
    return names


def _absolute(path, node):
    if not node.level:
        return node.module
    folder = next(each for each in PACKAGE_FOLDERS if path.is_relative_to(each))
    package = path.relative_to(folder).parent.parts
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def top_names(names):
    return {name.split(".")[0] for name in names}


def test_a_package_imports_only_what_lies_below_it():
    wrong = {}
    for name, path in FILES.items():
        own = name.split("/")[0].removesuffix(".py")
        wrong[name] = (top_names(imported(path)) & set(BELOW)) - BELOW[own] - {own}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize("package", ["FuzzyConnectedGPULib", "PotentialSkeletonLib"])
def test_algorithms_know_nothing_of_slicer(package):
    files = [path for name, path in FILES.items() if name.startswith(f"{package}/")]
    assert len(files) > 5
    for path in files:
        text = " ".join(imported(path))
        assert not re.search(r"\b(slicer|vtk|qt|ctk|mrml\w*)\b", text, re.IGNORECASE), path.name


def run_without(missing, code):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS))}
    task = [sys.executable, "-c", f"import sys; sys.modules |= dict.fromkeys({missing})\n{code}"]
    return subprocess.run(task, capture_output=True, text=True, env=environment)


def test_importing_the_algorithms_needs_numpy_only():
    run = run_without(
        ("cupy", "numba", "scipy", "vtk", "vtkmodules", "slicer", "PIL"),
        "from FuzzyConnectedGPULib import *\n"  # its names are imported when they are asked for
        "import FuzzyVesselCoreLib.phantom.liver, FuzzyVesselCoreLib.mrml.points\n"
        "import FuzzyVesselCoreLib.gpu.device, PotentialSkeletonLib\n"
        "import PotentialSkeletonMRML.outputs; print(sorted(SOLVERS))",
    )
    assert "exact" in run.stdout, run.stderr


def test_the_field_of_a_hollow_object_needs_no_numba_but_direct_sums_do():
    run = run_without(
        ("numba",),
        "import numpy as np; from PotentialSkeletonLib import force_field\n"
        "print(force_field(np.pad([[[0]]], 4, constant_values=1), method='fft').notes)\n"
        "force_field(np.ones((9, 9, 9)), method='direct-serial', device='cpu')",
    )
    assert "Filled 1 cavity" in run.stdout
    assert "pip install numba" in run.stderr


# ---- What the product's code must not do, whatever it is given (more of it: ruff, pyproject.toml)


def test_no_text_is_compiled_and_no_array_unpickled():
    forbidden = re.compile(r"(?<![.\w])(compile|__import__)\(|allow_pickle=(?!False)")
    found = {
        name: forbidden.search(path.read_text(encoding="utf-8")) for name, path in FILES.items()
    }
    assert len(found) > 60
    assert not any(found.values()), found


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


# ---- Every sentence that a panel can show goes through `tr`


# Rooms whose texts reach a panel as they are. The algorithms' own are for the console: where one
# has fields, the panel makes its sentence (`wording.py`).
ROOMS = re.compile(r"(MRML|Panel)/|^FuzzyVesselCoreLib/(mrml|widgets)/|^Segment.*Effect\.py")
SENTENCE = re.compile(r"[A-Z{].* .* .*([.:?!]|[a-z][.:] \{\})", re.DOTALL)
WORDS = re.compile(r"[A-Za-z]+ ")
OWN_ERRORS = ("InputError", "InputRemoved", "DeviceError", "Cancelled", "FuzzyVesselError")
TRANSLATED = [
    path for name, path in FILES.items() if ROOMS.search(name) and "self_test" not in name
]


def untranslated(tree):
    """Line and text of each sentence outside of `_`, and of whatever else an error says."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        text, around = _text(node), [node]
        while around[-1] in parents:
            around.append(parents[around[-1]])
        if text is None or isinstance(around[1], ast.Expr | ast.JoinedStr):
            continue  # a docstring, or a part of another text
        raised = any(isinstance(each, ast.Raise) and _of_a_user(each) for each in around)
        says = SENTENCE.fullmatch(text) or (raised and WORDS.search(text))
        if says and not any(_translated(each) or _has_fields(each) for each in around):
            yield node.lineno, text


def _translated(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "_"


def _of_a_user(node):
    """Whether an error is one of the project's own: others are mistakes of the program."""
    return isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) in OWN_ERRORS


def _has_fields(node):
    """An error or note that the panel words from its fields."""
    return isinstance(node, ast.ClassDef) and any(
        ast.unparse(base) == "str" or ast.unparse(base).endswith("Error") for base in node.bases
    )


def _text(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
    return None


def test_every_sentence_goes_through_tr():
    found = {path: list(untranslated(ast.parse(path.read_text("utf-8")))) for path in TRANSLATED}
    assert {path.name: texts for path, texts in found.items() if texts} == {}
