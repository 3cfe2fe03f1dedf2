"""Links in the documents lead to files, and the architecture names files that exist."""

import re
import shlex

from support.places import PACKAGE_FOLDERS, ROOT

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
