"""The folder of a run: what a killed run leaves is taken, what is of somebody else is not."""

import json

import pytest

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.files.step_folder import PART, StepFolder

MANIFEST = {"source": "a", "block": [1, 2, 3]}


def test_a_run_that_was_killed_before_its_first_file_was_whole(tmp_path):
    folder = StepFolder(tmp_path / "run")
    folder.path.mkdir()
    (folder.path / f"{PART}x").write_text("{")
    assert folder.begin(MANIFEST) == MANIFEST
    folder.remove()
    assert not folder.path.exists()


@pytest.mark.parametrize("content", ["[]", '"x"', '{"distance": 5}', "{", ""])
def test_a_file_of_that_name_which_no_run_has_written(tmp_path, content):
    """Nobody is advised to delete a folder that is not of a run."""
    (tmp_path / StepFolder.MANIFEST).write_text(content)
    with pytest.raises(InputError, match="holds other files; name a new"):
        StepFolder(tmp_path).begin(MANIFEST)
    assert (tmp_path / StepFolder.MANIFEST).read_text() == content


def test_a_run_of_something_else_names_what_differs(tmp_path):
    StepFolder(tmp_path).begin(MANIFEST)
    with pytest.raises(InputError, match="unfinished run whose block differed"):
        StepFolder(tmp_path).begin({**MANIFEST, "block": 1})
    assert json.loads((tmp_path / StepFolder.MANIFEST).read_text()) == MANIFEST
