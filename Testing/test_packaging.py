"""What Slicer's build, the Extensions Index and pip look at, and what may be imported where."""

import ast
import re
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from conftest import ROOT

MODULE = ROOT / "FuzzyConnectedGPU"
# Packages that go into Slicer; FuzzyVesselCommand does not.
PACKAGES = ("FuzzyConnectedGPULib", "FuzzyVesselCommon")
CODE = (".py", ".cu", ".cuh")
TOP = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")

# Slicer's CMake functions, played: they write what they were given.
STUB = """
cmake_minimum_required(VERSION 3.20)
project(Stub NONE)
set(BUILD_TESTING ON)
function(slicerMacroBuildScriptedModule)
  cmake_parse_arguments(MY "WITH_GENERIC_TESTS" "NAME" "SCRIPTS;RESOURCES" ${ARGN})
  foreach(file ${MY_SCRIPTS} ${MY_RESOURCES})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "nonexistent file '${file}'")
    endif()
  endforeach()
  message(STATUS "module=${MY_NAME} generic=${MY_WITH_GENERIC_TESTS}")
  message(STATUS "unknown=${MY_UNPARSED_ARGUMENTS};")
endfunction()
function(slicer_add_python_unittest)
  message(STATUS "unittest=${ARGN}")
endfunction()
add_subdirectory("@MODULE@" module)
"""


def listed(variable):
    """The entries of a list in the module's CMakeLists.txt."""
    text = (MODULE / "CMakeLists.txt").read_text(encoding="utf-8")
    text = text.replace("${MODULE_NAME}", "FuzzyConnectedGPU")
    return re.search(rf"set\({variable}\s+(.*?)\)", text, re.DOTALL)[1].split()


def in_tree(*suffixes):
    """Files of the packages that go into Slicer, relative to the module's folder."""
    files = [path for name in PACKAGES for path in (MODULE / name).rglob("*")]
    found = [path for path in files if path.suffix in suffixes]
    return sorted(path.relative_to(MODULE).as_posix() for path in found)


def literal(name):
    """The value of an EXTENSION_ variable; the Extensions Index reads literals only."""
    value = re.search(rf'^set\({name} "([^"$]*)"\)', TOP, re.MULTILINE)
    assert value, name
    return value[1]


def imported_at_file_scope(path):
    """Top names of the packages that a file imports when it is imported itself."""
    names, pending = set(), [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += ast.iter_child_nodes(node)
    return names


# --- CMake


def test_every_file_of_the_module_is_listed_once():
    scripts = listed("MODULE_PYTHON_SCRIPTS")
    assert sorted(scripts) == sorted(["FuzzyConnectedGPU.py", *in_tree(".py")])
    resources = listed("MODULE_PYTHON_RESOURCES")
    icons = ["Resources/Icons/FuzzyConnectedGPU.png"]
    assert sorted(resources) == sorted(icons + in_tree(".cu", ".cuh"))


def test_module_has_one_main_file_and_no_strange_ones():
    """Slicer loads every .py in the folder as a module, one that begins with #! as a program."""
    assert [path.name for path in MODULE.glob("*.py")] == ["FuzzyConnectedGPU.py"]
    assert not (MODULE / "FuzzyConnectedGPU.py").read_bytes().startswith(b"#!")
    assert not [path for path in MODULE.rglob("*") if path.suffix in (".h", ".cxx", ".cpp")]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_reads_the_module(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(STUB.replace("@MODULE@", MODULE.as_posix()))
    run = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "module=FuzzyConnectedGPU generic=TRUE" in run.stdout
    assert "unknown=;" in run.stdout
    assert "unittest=SCRIPT;FuzzyConnectedGPU.py" in run.stdout


def test_extension_describes_itself():
    assert re.search(r"^project\(FuzzyVesselGPU\)$", TOP, re.MULTILINE)
    home = "https://github.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU"
    assert literal("EXTENSION_HOMEPAGE") == home
    assert literal("EXTENSION_CONTRIBUTORS") == "The FuzzyVesselGPU developers"
    assert literal("EXTENSION_DEPENDS") == "NA"
    assert len(literal("EXTENSION_DESCRIPTION")) > 40
    raw = "https://raw.githubusercontent.com/FuzzyVesselGPU/SlicerFuzzyVesselGPU/main/"
    assert literal("EXTENSION_ICONURL") == raw + "Resources/FuzzyVesselGPU.png"
    for address in literal("EXTENSION_SCREENSHOTURLS").split():
        assert (ROOT / address.removeprefix(raw)).is_file(), address


def test_modules_are_the_folders_that_are_added():
    added = re.findall(r"^add_subdirectory\((\w+)\)", TOP, re.MULTILINE)
    assert sorted(added) == sorted(path.parent.name for path in ROOT.glob("*/CMakeLists.txt"))


@pytest.mark.parametrize(
    "path",
    [
        ROOT / "Resources" / "FuzzyVesselGPU.png",
        MODULE / "Resources" / "Icons" / "FuzzyConnectedGPU.png",
    ],
    ids=lambda path: path.name,
)
def test_icons_have_the_size_that_the_index_wants(path):
    image = pytest.importorskip("PIL.Image").open(path)
    assert image.size == (128, 128)
    assert len(np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0)) > 50


# --- imports


def test_module_file_imports_only_what_every_slicer_has():
    allowed = {*sys.stdlib_module_names, "slicer", "vtk", "numpy"}
    assert imported_at_file_scope(MODULE / "FuzzyConnectedGPU.py") <= allowed


@pytest.mark.parametrize("name", in_tree(".py"))
def test_packages_import_only_numpy_and_each_other(name):
    """Anything else (cupy, numba, scipy, slicer, vtk) is imported where it is used."""
    allowed = {*sys.stdlib_module_names, "numpy", *PACKAGES}
    # Solvers of numba are imported only after its absence was ruled out.
    if name.startswith("FuzzyConnectedGPULib/solvers/"):
        allowed |= {"numba"}
    assert imported_at_file_scope(MODULE / name) <= allowed


def test_algorithms_know_nothing_of_slicer():
    for path in (MODULE / "FuzzyConnectedGPULib").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        text = " ".join(ast.unparse(node) for node in names)
        assert not re.search(r"\b(slicer|vtk|qt|ctk|mrml\w*)\b", text), path.name


def test_importing_the_algorithms_needs_numpy_only():
    """cupy, numba, scipy, vtk and slicer are made missing."""
    missing = ("cupy", "numba", "scipy", "vtk", "vtkmodules", "slicer", "PIL")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
        "import FuzzyConnectedGPULib, FuzzyVesselCommon.phantom, FuzzyVesselCommon.cuda\n"
        "import FuzzyVesselCommon.mrml_outputs, FuzzyVesselCommon.mrml_phantom\n"
        "print(sorted(FuzzyConnectedGPULib.SOLVERS))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=MODULE)
    assert run.returncode == 0, run.stderr
    assert "exact" in run.stdout


# --- pip


def test_wheel_holds_the_packages_their_kernels_and_the_command(tmp_path):
    source = tmp_path / "source"
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for folder in ("FuzzyConnectedGPU", "PotentialSkeleton"):
        shutil.copytree(ROOT / folder, source / folder, ignore=unwanted)
    for name in ("pyproject.toml", "README.md", "LICENSE.txt"):
        shutil.copy(ROOT / name, source / name)
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", str(source), "--wheel-dir", str(tmp_path)),
            *("--no-deps", "--no-build-isolation", "--no-index", "--quiet"),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("fuzzy_vessel_gpu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (points,) = [name for name in names if name.endswith("entry_points.txt")]
        assert "fuzzy-vessel" in archive.read(points).decode()
    assert names >= {"FuzzyConnectedGPU.py", *in_tree(*CODE)}
    others = (MODULE / "FuzzyVesselCommand", ROOT / "PotentialSkeleton" / "PotentialSkeletonLib")
    for package in others:
        files = [path for path in package.rglob("*") if path.suffix in CODE]
        assert names >= {path.relative_to(package.parent).as_posix() for path in files}
