"""The Dockerfile's steps, one after the other, as far as they can be run without Docker.

COPY fills a folder; RUN runs in a shell whose apt-get, rm and pip note what they are asked for; the
wheel of that folder goes into a fresh environment, and ENTRYPOINT runs there with ENV.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import venv

import pytest

from support.places import ROOT

LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
STEPS = [line.split(None, 1) for line in LINES if line and not line.startswith("#")]
INSTRUCTIONS = {"ARG", "FROM", "RUN", "ENV", "WORKDIR", "COPY", "ENTRYPOINT"}
NOTE = '#!/bin/sh\nprintf "%s" "$(basename "$0")" >>"$NOTES"\n'
NOTE += 'for each; do printf "\\t%s" "$each" >>"$NOTES"; done\nprintf "\\n" >>"$NOTES"\n'


def of(instruction):
    return [rest for name, rest in STEPS if name == instruction]


def environment():
    """What ENV sets."""
    return dict(pair.split("=", 1) for line in of("ENV") for pair in line.split())


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """The folder /src after all COPY steps."""
    folder = tmp_path_factory.mktemp("src")
    unwanted = shutil.ignore_patterns("__pycache__")
    for line in of("COPY"):
        *sources, target = line.split()
        for source in sources:
            path = ROOT / source
            if path.is_dir():
                shutil.copytree(path, folder / target, ignore=unwanted)
            else:
                shutil.copy(path, folder / target / source)
    return folder


def test_there_is_no_instruction_that_these_tests_do_not_know():
    assert {name for name, _ in STEPS} == INSTRUCTIONS


@pytest.mark.skipif(os.name == "nt", reason="the steps are for a POSIX shell")
@pytest.mark.parametrize("cuda", ["", "cuda12", "cuda13"])
def test_the_shell_runs_each_step(tmp_path, cuda):
    tools, notes = tmp_path / "bin", tmp_path / "notes"
    tools.mkdir()
    for name in ("apt-get", "pip", "rm"):
        (tools / name).write_text(NOTE)
        (tools / name).chmod(stat.S_IRWXU)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    for command in of("RUN"):
        subprocess.run(
            ["/bin/sh", "-ec", command], check=True, cwd=tmp_path,
            env={"PATH": path, "NOTES": str(notes), "CUDA": cuda},
        )  # fmt: skip
    calls = [line.split("\t") for line in notes.read_text().splitlines()]
    assert [call[:2] for call in calls[:2]] == [["apt-get", "update"], ["apt-get", "install"]]
    assert "--yes" in calls[1]  # nobody is there to answer
    assert calls[2][0] == "rm"
    extras = ",".join(("mrml", "zarr", "tiff", *([cuda] if cuda else [])))
    assert calls[3:] == [["pip", "install", "--no-cache-dir", f".[{extras}]"]]


@pytest.fixture(scope="module")
def python(context, tmp_path_factory):
    """A fresh environment with the wheel that is built from the copied files alone."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    wheels, place = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("environment")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    quiet = dict(check=True, capture_output=True)
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(wheels), ".")
    subprocess.run([*pip, *build], cwd=context, **quiet)
    (wheel,) = wheels.glob("*.whl")
    venv.create(place, symlinks=os.name != "nt", with_pip=False)
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run(
        [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)], **quiet
    )
    own = sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})["purelib"]
    for name in ("purelib", "platlib"):  # the packages that the wheel needs, behind its own
        with open(os.path.join(own, "needed.pth"), "a", encoding="utf-8") as file:
            file.write(sysconfig.get_paths()[name] + "\n")
    return python


def run(python, folder, *arguments):
    """The entry point in a folder, with ENV and nothing else, as in a container."""
    folder.mkdir(exist_ok=True)
    caches = {
        name: str(folder / "caches") if value.startswith("/tmp/") else value
        for name, value in environment().items()
    }
    (entry,) = of("ENTRYPOINT")
    program, *rest = json.loads(entry)
    assert program == "python"
    return subprocess.run(
        [str(python), *rest, *map(str, arguments)], cwd=folder, text=True, capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **caches},
    )  # fmt: skip


def test_the_program_is_the_one_that_was_copied(python, context, tmp_path):
    code = (
        "import fuzzy_vessel, PotentialSkeletonLib as p; print(fuzzy_vessel.__file__, p.__file__)"
    )
    found = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True,
        env={"PATH": os.environ["PATH"]},
    ).stdout.split()  # fmt: skip
    assert all(str(python.parent.parent) in place for place in found)


def test_the_entry_point_answers(python, tmp_path):
    listed = run(python, tmp_path / "data", "--list_cli")
    assert listed.returncode == 0, listed.stderr
    names = list(json.loads(listed.stdout))
    assert len(names) == 2
    for name in names:
        described = run(python, tmp_path / "data", name, "--xml")
        assert described.stdout.startswith("<?xml"), described.stderr
        helped = run(python, tmp_path / "data", name, "--help")
        assert (helped.returncode, name in helped.stdout) == (0, True)
    assert "fuzzy-vessel segment" in run(python, tmp_path / "data", "--help").stdout
    assert run(python, tmp_path / "data", "FuzzyVesselNothing").returncode == 2


def test_a_job_that_cannot_be_done_is_refused_in_a_line(python, tmp_path):
    done = run(python, tmp_path / "data", "segment", "no.nrrd", "--seed", "1,1,1", "--out", "x")
    assert (done.returncode, "no.nrrd" in done.stderr) == (2, True)
    assert len(done.stderr.strip().splitlines()) == 1
