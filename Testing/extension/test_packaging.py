"""What Slicer's build, the Extensions Index and pip look at, and what may be imported where."""

import json
import re
import subprocess
import sys
import zipfile

import pytest

from support.places import ROOT

# Packages that go into Slicer; fuzzy_vessel does not.
PACKAGES = {
    "FuzzyVesselCore": ("FuzzyVesselCoreLib",),
    "FuzzyConnectedGPU": ("FuzzyConnectedGPULib", "FuzzyConnectedGPUMRML"),
    "PotentialSkeleton": ("PotentialSkeletonLib", "PotentialSkeletonMRML"),
    "SegmentEditorVesselFromClicks": (),
}
# Those that need Slicer with its user interface; pip does not install them.
PANELS = {
    "FuzzyVesselCore": ("FuzzyVesselCoreLib/widgets",),
    "FuzzyConnectedGPU": ("FuzzyConnectedGPUPanel",),
    "PotentialSkeleton": ("PotentialSkeletonPanel",),
    "SegmentEditorVesselFromClicks": tuple(
        f"SegmentEditorVesselFromClicks{name}" for name in ("Lib", "Panel")
    ),
}
# .. but for the words, which are the page's, too.
WORDS = {
    "FuzzyVesselCoreLib/widgets/__init__.py", "FuzzyVesselCoreLib/widgets/wording.py",
    "FuzzyConnectedGPUPanel/__init__.py", "FuzzyConnectedGPUPanel/wording.py",
}  # fmt: skip
HIDDEN = ("FuzzyVesselCore", "SegmentEditorVesselFromClicks")
MODULES = [ROOT / name for name in PACKAGES]
VISIBLE = [module for module in MODULES if module.name not in HIDDEN]
CODE = (".py", ".cu", ".cuh")
TOP = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


def listed(module, variable):
    """The files that a module's CMakeLists.txt collects in a list."""
    text = (module / "CMakeLists.txt").read_text(encoding="utf-8")
    text = text.replace("${MODULE_NAME}", module.name)
    patterns = re.search(rf"GLOB_RECURSE {variable} .*?CONFIGURE_DEPENDS\s(.*?)\)", text, re.DOTALL)
    found = []
    for pattern in patterns[1].split():
        folder, _, name = pattern.rpartition("/")
        paths = (module / folder).rglob(name) if folder else module.glob(name)
        found += [path.relative_to(module).as_posix() for path in paths]
    return found


def in_tree(module, *suffixes, packages=PACKAGES):
    """Files of a module's packages, relative to its folder."""
    files = [path for name in packages[module.name] for path in (module / name).rglob("*")]
    found = [path for path in files if path.suffix in suffixes]
    return sorted(path.relative_to(module).as_posix() for path in found)


def each_module(test):
    """Run a test once for each module."""
    return pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)(test)


def literal(name):
    """The value of an EXTENSION_ variable; the Extensions Index reads literals only."""
    value = re.search(rf'^set\({name} "([^"$]*)"\)', TOP, re.MULTILINE)
    assert value, name
    return value[1]


# --- CMake


@each_module
def test_every_file_of_the_module_is_listed_once(module):
    scripts = listed(module, "MODULE_PYTHON_SCRIPTS")
    packages = {*in_tree(module, ".py"), *in_tree(module, ".py", packages=PANELS)}
    assert sorted(scripts) == sorted([f"{module.name}.py", *packages])
    resources = listed(module, "MODULE_PYTHON_RESOURCES")
    places = ("Resources/Icons/*.png", "Resources/UI/*", "*Lib/*.png", "*Lib/Resources/*.txt")
    shown = [path for place in places for path in module.glob(place)]
    shown = [path.relative_to(module).as_posix() for path in shown]
    assert f"Resources/Icons/{module.name}.png" in shown or module.name in HIDDEN
    assert sorted(resources) == sorted(shown + in_tree(module, ".cu", ".cuh"))


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


def test_the_indexs_entry_is_named_as_the_project_and_leads_to_its_home():
    name = re.search(r"^project\((\w+)\)", TOP, re.MULTILINE)[1]
    entry = json.loads((ROOT / "Resources" / f"{name}.json").read_text(encoding="utf-8"))
    assert {"$schema", "category", "scm_url"} <= set(entry)
    assert entry["scm_url"] == literal("EXTENSION_HOMEPAGE") + ".git"
    assert entry["build_dependencies"] == []
    assert literal("EXTENSION_DEPENDS") == "NA"


# --- pip


def test_wheel_holds_the_packages_their_kernels_and_the_command(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("fuzzy_vessel_gpu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (points,) = [name for name in names if name.endswith("entry_points.txt")]
        assert "fuzzy-vessel" in archive.read(points).decode()
    for module in VISIBLE:
        assert names >= {f"{module.name}.py", *in_tree(module, *CODE)}
    core = {name for name in in_tree(MODULES[0], *CODE) if "/widgets/" not in name}
    assert names >= core
    in_slicer = ("/widgets/", "Panel/", "SegmentEditor")
    there = {name for name in names for each in in_slicer if each in name}
    assert there == WORDS
    command = ROOT / "CommandLine" / "fuzzy_vessel"
    files = [path for path in command.rglob("*") if path.suffix in (*CODE, ".xml")]
    assert names >= {path.relative_to(command.parent).as_posix() for path in files}
