"""Imports run downwards only, and each package imports at load time only what it may need."""

import ast
import functools
import os
import re
import subprocess
import sys

import pytest

from support.places import PACKAGE_FOLDERS, SLICER_MODULES

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
SLICER = set(SLICER_MODULES)
# Rooms of the core, from the bottom up: a room imports only rooms before it.
CORE_ROOMS = ("", "gpu", "voxels", "phantom", "mrml", "widgets")
FILES = {
    path.relative_to(folder).as_posix(): path
    for folder in PACKAGE_FOLDERS
    for path in sorted(folder.rglob("*.py"))
}


@functools.cache
def imported(path, at_load_time=False):
    """Dotted names that a file imports anywhere, or only when it is imported itself."""
    names, pending = set(), [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(_absolute(path, node))
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if not (inside and at_load_time) and not _for_types_only(node):
            pending += ast.iter_child_nodes(node)
    return frozenset(names)


def _absolute(path, node):
    if not node.level:
        return node.module
    folder = next(each for each in PACKAGE_FOLDERS if path.is_relative_to(each))
    package = path.relative_to(folder).parent.parts
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _for_types_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def top_names(names):
    return {name.split(".")[0] for name in names}


def test_a_package_imports_only_what_lies_below_it():
    wrong = {}
    for name, path in FILES.items():
        own = name.split("/")[0].removesuffix(".py")
        wrong[name] = (top_names(imported(path)) & set(BELOW)) - BELOW[own] - {own}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_room_of_the_core_imports_only_rooms_below_it():
    def level(parts):
        return CORE_ROOMS.index(parts[1] if len(parts) > 1 and parts[1] in CORE_ROOMS else "")

    for name, path in FILES.items():
        if name.startswith("FuzzyVesselCoreLib"):
            for other in imported(path):
                if other.startswith("FuzzyVesselCoreLib"):
                    own = level(name.split("/")[:-1])
                    assert level(other.split(".")) <= own, (name, other)


@pytest.mark.parametrize("package", ["FuzzyConnectedGPULib", "PotentialSkeletonLib"])
def test_algorithms_know_nothing_of_slicer(package):
    files = [path for name, path in FILES.items() if name.startswith(f"{package}/")]
    assert len(files) > 5
    for path in files:
        text = " ".join(imported(path))
        assert not re.search(r"\b(slicer|vtk|qt|ctk|mrml\w*)\b", text, re.IGNORECASE), path.name


def test_importing_the_algorithms_needs_numpy_only():
    """cupy, numba, scipy, vtk and slicer are made missing."""
    missing = ("cupy", "numba", "scipy", "vtk", "vtkmodules", "slicer", "PIL")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
        "import FuzzyConnectedGPULib\n"
        "from FuzzyConnectedGPULib import *\n"  # its names are imported when they are asked for
        "import FuzzyVesselCoreLib.phantom.liver, FuzzyVesselCoreLib.gpu.device\n"
        "import FuzzyVesselCoreLib.mrml.ownership, FuzzyVesselCoreLib.mrml.points\n"
        "import PotentialSkeletonLib, PotentialSkeletonMRML.outputs\n"
        "print(sorted(SOLVERS))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PACKAGE_FOLDERS))}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert "exact" in run.stdout
