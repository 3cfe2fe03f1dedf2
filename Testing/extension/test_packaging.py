"""What Slicer's build, the Extensions Index and pip look at, and what may be imported where."""

import doctest
import importlib
import json
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile

import numpy as np
import pytest

from support.places import PACKAGE_FOLDERS, ROOT

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


def test_extension_describes_itself_as_its_entry_in_the_index_does():
    name = re.search(r"^project\((\w+)\)$", TOP, re.MULTILINE)[1]
    entry = json.loads((ROOT / "Resources" / f"{name}.json").read_text(encoding="utf-8"))
    assert {"$schema", "category"} <= set(entry)
    assert entry["scm_url"] == literal("EXTENSION_HOMEPAGE") + ".git"
    assert (entry["build_dependencies"], literal("EXTENSION_DEPENDS")) == ([], "NA")
    assert literal("EXTENSION_CONTRIBUTORS")
    assert len(literal("EXTENSION_DESCRIPTION")) > 40
    raw = literal("EXTENSION_HOMEPAGE").replace("github.com", "raw.githubusercontent.com")
    pictures = [literal("EXTENSION_ICONURL"), *literal("EXTENSION_SCREENSHOTURLS").split()]
    for address in pictures:
        assert (ROOT / address.removeprefix(f"{raw}/main/")).is_file(), address


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


# ---- Links in the documents lead to files, and the architecture names files that exist


FOLDERS = (ROOT / "Documentation", ROOT / "Testing")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(p for folder in FOLDERS for p in folder.rglob("*.md"))])


def test_links_lead_to_files():
    for path in DOCUMENTS:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            assert "://" in target or (path.parent / target).exists(), (path.name, target)


def test_the_architecture_names_files_that_exist():
    text = (ROOT / "Documentation" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w[\w/]+\.py)`", text))
    assert len(named) > 30
    libraries = [folder / f"{folder.name}Lib" for folder in PACKAGE_FOLDERS]
    for name in named:
        assert any((folder / name).is_file() for folder in (ROOT, *PACKAGE_FOLDERS, *libraries)), (
            name
        )


def test_commands_in_the_documents_are_known_to_the_command_line():
    """Each that is given in full; the change log names options alone."""
    from fuzzy_vessel.arguments import make_parser

    commands = {
        (path.name, line.strip())
        for path in DOCUMENTS
        if path.name != "CHANGELOG.md"
        for line in re.findall(
            r"(?:^|`)(fuzzy-vessel [^`\n#]*)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        if "COMMAND" not in line
    }
    assert len(commands) > 5
    for _name, line in commands:
        make_parser().parse_args(shlex.split(line)[1:])  # exits where it is wrong


# ---- The examples in docstrings run and give what they show


EXAMPLE_FOLDERS = (
    ROOT / "FuzzyVesselCore" / "FuzzyVesselCoreLib",
    ROOT / "FuzzyConnectedGPU" / "FuzzyConnectedGPULib",
    ROOT / "PotentialSkeleton" / "PotentialSkeletonLib",
)
# Need Slicer's application, or slicer-core; their examples are for Slicer's Python console.
NEED_SLICER = ("mrml", "widgets")
EXAMPLE_MODULES = sorted(
    path.relative_to(folder.parent).with_suffix("").as_posix().replace("/", ".")
    for folder in EXAMPLE_FOLDERS
    for path in folder.rglob("*.py")
    if re.search(r">>> (?!.*\+SKIP)", path.read_text(encoding="utf-8"))
    and path.parent.name not in NEED_SLICER
)


@pytest.mark.parametrize("name", EXAMPLE_MODULES)
def test_examples_of(name):
    module = importlib.import_module(name.removesuffix(".__init__"))
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


# ---- The examples in README.md run as they stand there


EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def example_with(word):
    (code,) = (example for example in EXAMPLES if word in example)
    return code


def test_the_console_example_segments_the_phantom(slicer_scene, capsys):
    import slicer

    space = {"slicer": slicer}
    exec(example_with("FuzzyConnectedGPULogic"), space)
    assert re.fullmatch(r"[\d.]+ ml at threshold 0\.\d+\n", capsys.readouterr().out)
    assert slicer.util.arrayFromVolume(space["result"].labelmapNode).any()


def test_the_array_example_finds_vessels():
    space = {}
    exec(example_with("import segment"), space)
    phantom, labels = space["phantom"], space["found"].labels
    found = np.count_nonzero(labels & phantom.mask)
    assert found > 0.5 * np.count_nonzero(labels & phantom.liver)


def test_the_block_example_writes_levels(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr", minversion="3")
    monkeypatch.chdir(tmp_path)
    volume = np.full((12, 44, 44), 220, np.int16)
    zarr.create_array("brain.zarr", data=volume, chunks=(8, 16, 16))
    exec(example_with("distributed"), {})
    assert (zarr.open("levels.zarr", mode="r")[:] == 65535).all()


# ---- Each file, extra, library and program that the Dockerfile names is there


TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINES = TEXT.replace("\\\n", " ").splitlines()


def lines_of(instruction):
    return [line.split(None, 1)[1] for line in LINES if line.startswith(instruction + " ")]


def test_each_file_that_is_copied_is_there_and_not_ignored():
    copied = {name for line in lines_of("COPY") for name in line.split()[:-1]}
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert rules[0] == "*"
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in rules, name
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    folders = build["build"]["targets"]["wheel"]["sources"]
    assert {*folders, PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml"} <= copied


def test_the_program_that_starts_lists_its_modules(capsys):
    (entry,) = lines_of("ENTRYPOINT")
    python, flag, module = json.loads(entry)
    assert (python, flag) == ("python", "-m")
    program = importlib.import_module(module)
    assert program.main(["--list_cli"]) == 0
    listed = json.loads(capsys.readouterr().out)
    scripts = set(PROJECT["scripts"]) - {"fuzzy-vessel"}
    assert set(listed) == scripts
    for name in listed:
        assert program.main([name, "--xml"]) == 0
        assert capsys.readouterr().out.startswith("<?xml")
    with pytest.raises(SystemExit) as end:
        program.main(["--help"])
    assert end.value.code == 0
    assert "fuzzy-vessel segment" in capsys.readouterr().out
