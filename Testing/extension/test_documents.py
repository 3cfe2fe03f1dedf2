"""Links in the documents lead to files, and the architecture names files that exist."""

import re

import pytest

from support.places import PACKAGE_FOLDERS, ROOT

FOLDERS = (ROOT / "Documentation", ROOT / "Testing")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(p for folder in FOLDERS for p in folder.rglob("*.md"))])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (path.parent / target).exists(), target


def test_the_architecture_names_files_that_exist():
    text = (ROOT / "Documentation" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+/[\w/.]+\.py)`", text))
    assert len(named) > 30
    for name in named:
        assert any((folder / name).is_file() for folder in (ROOT, *PACKAGE_FOLDERS)), name


def test_the_architecture_names_every_room():
    """By its path, or by a file in it."""
    text = (ROOT / "Documentation" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+(?:/\w+)+)(?:\.py)?`", text))
    named |= {name.rpartition("/")[0] for name in named}
    rooms = {
        file.parent.relative_to(folder).as_posix()
        for folder in PACKAGE_FOLDERS
        for file in folder.rglob("*.py")
    } - {"."}
    assert len(rooms) > 60
    assert rooms - named == set()
