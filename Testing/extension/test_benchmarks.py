"""The benchmark's tables run on small volumes, and README's figures come from its file."""

import json

import numpy as np
import pytest

from Benchmarks import clicks, figures, frame
from Benchmarks.__main__ import main


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["Benchmarks", *map(str, arguments)])
    main()


def test_tables_run_are_stored_and_drawn(tmp_path, monkeypatch, capsys):
    path = tmp_path / "measured.json"
    names = ["kfoe-english", "connectedness", "segment", "skeleton"]
    run(monkeypatch, "--quick", "--device", "cpu", "--repeats", "1", "--json", path, *names)
    tables = json.loads(path.read_text())["tables"]
    assert list(tables) == names
    assert {row["errors"] for row in tables["kfoe-english"]["rows"]} == {0}
    assert all("equal" in row["check"] for row in tables["connectedness"]["rows"])
    assert all("guarantees hold" in row["check"] for row in tables["skeleton"]["rows"])
    run(monkeypatch, "--json", path, "--plots", tmp_path)
    assert "English paper, table 1" in capsys.readouterr().out
    assert {f.stem for f in tmp_path.glob("*.svg")} == set(names)
    with pytest.raises(SystemExit):
        run(monkeypatch, "speed-of-light")
    assert "unknown table 'speed-of-light'" in capsys.readouterr().err


def test_the_simulated_person_clicks_the_deepest_voxel_of_the_largest_error():
    error = np.zeros((9, 9, 20), bool)
    error[2:7, 2:7, 2:7] = True
    error[4, 4, 10:16] = True
    assert clicks.deepest_voxel(error, (1, 1, 1)) == ((4, 4, 4), 125)
    assert clicks.deepest_voxel(error & False, (1, 1, 1)) == (None, 0)


def test_clicks_of_the_default_are_obeyed():
    setting = frame.Setting(quick=True)
    rows = [row for row in clicks.by_clicks(setting).rows if row["method"] == "ours"]
    assert rows[0]["disobeyed"] == 0
    assert rows[0]["2"] >= rows[0]["1"] > 0.3


@pytest.mark.skipif(not figures.MEASURED.is_file(), reason="nothing was measured")
def test_the_figures_of_the_readme_are_measured():
    text = figures.README.read_text()
    assert figures.with_figures(text) == text, "python -m Benchmarks.figures"
    with pytest.raises(SystemExit, match="other"):
        figures.with_figures(text.replace("figures: clicks -->", "figures: other -->"))
