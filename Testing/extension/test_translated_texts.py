"""Every sentence that a panel can show goes through `tr`."""

import ast
import re

from support.places import PACKAGE_FOLDERS

# Rooms whose texts reach a panel as they are. The algorithms' own are for the console: where one
# has fields, the panel makes its sentence (`wording.py`).
ROOMS = re.compile(r"(MRML|Panel)/|^FuzzyVesselCoreLib/(mrml|widgets)/|^Segment.*Effect\.py")
SENTENCE = re.compile(r"[A-Z{].* .* .*([.:?!]|[a-z][.:] \{\})", re.DOTALL)
WORDS = re.compile(r"[A-Za-z]+ ")
OWN_ERRORS = ("InputError", "InputRemoved", "DeviceError", "Cancelled", "FuzzyVesselError")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FILES = [
    folder / path
    for folder in PACKAGE_FOLDERS
    for path in sorted(path.relative_to(folder) for path in folder.rglob("*.py"))
    if ROOMS.search(path.as_posix()) and "self_test" not in path.name
]


def untranslated(tree):
    """Line and text of each sentence outside of `_`, and of whatever else an error says."""
    pending = [(tree, False)]
    while pending:
        node, raised = pending.pop()
        if _translated(node) or _has_fields(node):
            continue
        text = _text(node)
        if text is not None:
            if SENTENCE.fullmatch(text) or (raised and WORDS.search(text)):
                yield node.lineno, text
            continue
        raised = raised or (isinstance(node, ast.Raise) and _of_a_user(node))
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            children.remove(node.body[0])
        pending += [(child, raised) for child in children]


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
    found = {path: list(untranslated(ast.parse(path.read_text("utf-8")))) for path in FILES}
    assert {path.name: texts for path, texts in found.items() if texts} == {}
