"""Each file, extra, library and program that the Dockerfile names is there."""

import importlib
import json
import re
import tomllib

import pytest

from support.places import ROOT

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


def test_system_libraries_are_those_that_the_environments_need():
    wanted = (ROOT / "requirements/environment.sh").read_text(encoding="utf-8")
    (named,) = re.findall(r"EGL.*?\n.*?\(Debian: apt-get install ([\w -]+)\)", wanted, re.DOTALL)[
        :1
    ]
    (installed,) = re.findall(r"--no-install-recommends ([\w -]+?) +&&", " ".join(LINES))
    assert set(named.split()) == set(installed.split())


def test_the_program_that_starts_lists_its_modules(capsys):
    (entry,) = lines_of("ENTRYPOINT")
    python, flag, module = json.loads(entry)
    assert (python, flag) == ("python", "-m")
    program = importlib.import_module(f"{module}.__main__")
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
