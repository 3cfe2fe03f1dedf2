"""The benchmark command: tables on the CPU and an emulated device, JSON, plots, without Slicer."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import ndimage

from fuzzy_vessel.__main__ import main
from fuzzy_vessel.benchmark import plots, results, table_text, tables, volumes
from fuzzy_vessel.benchmark.blocks import block_runs, block_table, card_rows, label_table
from fuzzy_vessel.benchmark.connectedness import fresh_process, papers, peers
from fuzzy_vessel.benchmark.drag import drag_table
from fuzzy_vessel.benchmark.goals import Goal, cut_that_keeps, dial_levels, difference
from fuzzy_vessel.benchmark.setting import Setting, Sizes
from fuzzy_vessel.benchmark.tables import TABLES
from FuzzyConnectedGPULib.distributed.cuda import cards
from support.places import PACKAGE_FOLDERS, ROOT

TINY = Sizes(
    tree=(12, 14, 18),
    cube=10,
    liver=(10, 24, 24),
    plane=(16, 16),
    english=(6, 7),
    chinese=(6, 7),
    field_sides=(16, 20),
    field_length=30,
    threads_side=16,
    clicks=(8, 20, 20),
    confidence=((24, 5), (24, 30)),
    confidence_sessions=3,
    blocks=24,
    blocks_on_cards=16,
    blocks_largest=16,
    blocks_predicted=500,
    labels=50,
    skeleton_of_labels=96,  # a tree
)


FIRST_USE = ("first-use-cpu", "compilation-cpu")
BLOCKS = ("blocks", "blocks-1e10", "blocks-model")  # in the order in which the model uses them
IN_PROCESSES = (*FIRST_USE, *BLOCKS, "labels-cpu")


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Of a dragged point."""
    monkeypatch.setattr(drag_table, "STEPS", drag_table.QUICK_STEPS)


def tiny(**options):
    return Setting(sizes=TINY, repeats=2, limit=5.0, tell=lambda name: None, **options)


@pytest.fixture
def emulated(cpu_cuda, monkeypatch):
    """A setting whose GPU is emulated on the CPU."""
    cpu_cuda.ordinal = 0

    def chosen(device):
        return "cpu" if device == "cpu" else cpu_cuda

    def card(device):
        return "cpu" if device == "cpu" else type(cpu_cuda)()  # one for each task

    monkeypatch.setattr(cards, "choose_device", card)
    monkeypatch.setattr(cards, "cuda_status", lambda number: None)
    monkeypatch.setattr(cards, "_card_count", lambda: 2)
    for module in (
        "FuzzyConnectedGPULib.contrast.contrast_model",
        "FuzzyConnectedGPULib.contrast.live.live_labels",
        "FuzzyConnectedGPULib.fuzzy_connectedness",
        "FuzzyConnectedGPULib.several.several_vessels",
        "PotentialSkeletonLib.field.force_field",
    ):
        monkeypatch.setattr(import_module(module), "choose_device", chosen)
    run = fresh_process.FIRST_RUN.replace('"cuda"', '"cpu"')
    monkeypatch.setattr(fresh_process, "FIRST_RUN", run)
    monkeypatch.setattr(fresh_process, "FRESH_PROCESSES", 1)
    monkeypatch.setattr(papers, "REPEATS", 1)
    return tiny(gpu=cpu_cuda)


# --- tables


# Those of the first use start processes: test_first_use.py. Those of blocks share their runs.
@pytest.mark.parametrize("name", [name for name in TABLES if name not in IN_PROCESSES])
def test_tables_without_a_gpu_say_so(name):
    checked_without_a_gpu(name, tiny(no_gpu="no GPU here"))


def test_tables_of_blocks_without_a_gpu_say_so():
    setting = tiny(no_gpu="no GPU here")
    for name in BLOCKS:
        checked_without_a_gpu(name, setting)


def test_the_table_of_labels(monkeypatch):
    monkeypatch.setattr(label_table, "in_own_process", lambda work, *arguments: work(*arguments))
    checked_without_a_gpu("labels-cpu", tiny())


def checked_without_a_gpu(name, setting):
    table = TABLES[name](setting)
    told = json.dumps([table.rows, table.notes])
    on_cpu_alone = name.endswith("-cpu") or name in ("blocks", "peers", "vessels")
    assert "no GPU here" in told or on_cpu_alone
    assert "differ" not in told
    assert table_text.plain_text(table).startswith(table.title)


@pytest.mark.parametrize("cpu_cuda", ["ascending"], indirect=True)
@pytest.mark.parametrize("name", [n for n in TABLES if not n.endswith("-cpu") and n not in BLOCKS])
def test_tables_with_a_gpu(name, emulated):
    checked_with_a_gpu(name, emulated)


@pytest.mark.parametrize("cpu_cuda", ["ascending"], indirect=True)
def test_tables_of_blocks_with_a_gpu(emulated, monkeypatch):
    # Processes of their own, for the CPU's peak memory, are started in the test without a GPU.
    monkeypatch.setattr(block_table, "in_own_process", lambda work, *arguments: work(*arguments))
    # Other processes have no emulated cards: test_card_processes.py.
    monkeypatch.setattr(block_runs, "CardProcesses", lambda device: ThreadPoolExecutor(2))
    # The emulated device takes a second for a few blocks: 8 instead of up to 64.
    for module in (block_table, card_rows):
        monkeypatch.setattr(module, "partitions", eight_blocks)
    monkeypatch.setattr(card_rows, "partitions_of_largest", eight_blocks)
    for name in BLOCKS:
        checked_with_a_gpu(name, emulated)


def eight_blocks(side):
    half, quarter = side // 2, side // 4
    return [(side, half, quarter), (half, half, half)]  # joined in two steps, and in one


def checked_with_a_gpu(name, emulated):
    table = TABLES[name](emulated)
    assert table.rows
    keys = {"goals": "figure", "bars": table.plot.get("value"), "lines": table.plot.get("y")}
    if table.plot.get("kind") in keys:
        for row in table.rows:
            absent = "not installed" in (row.get("check") or "")
            assert absent or row[keys[table.plot["kind"]]] is not None, row
    told = json.dumps(table.rows)
    assert "differ" not in told
    assert "nan" not in told.lower()
    if table.plot:
        ElementTree.fromstring(plots.draw(table, "an emulated device"))


def test_wrong_voxels_are_told():
    levels = np.zeros((2, 3, 4), np.uint16)
    wrong = levels.copy()
    wrong[0, 0, :2] = 5
    assert difference(levels, levels) == "equal to dial, bit for bit"
    assert difference(wrong, levels) == "2 voxels differ from dial"
    assert "instead of" in difference(levels.astype(np.int32), levels)


def test_goals():
    assert Goal(12, "ms").met_by(12.0) is True
    assert Goal(12, "ms").met_by(12.1) is False
    assert Goal(40, "Mvoxel/s", least=True).met_by(39.0) is False
    assert Goal(12, "ms").met_by(None) is None


def test_the_cut_keeps_its_share():
    levels = np.repeat(np.array([0, 100, 3000, 65535], np.uint16), (600, 300, 80, 20))
    cut, kept = cut_that_keeps(levels, 0.1)
    assert kept == 0.1
    assert 100 / 65535 < cut <= 3000 / 65535


# --- volumes


def test_the_serpentine_is_one_path():
    case = volumes.serpentine(7)
    corridor = case.volume < volumes.WALL
    neighbours = ndimage.convolve(
        corridor.astype(int), ndimage.generate_binary_structure(3, 1).astype(int), mode="constant"
    )
    degrees = neighbours[corridor] - 1
    assert np.bincount(degrees).tolist() == [0, 2, corridor.sum() - 2]
    levels = dial_levels(case)
    assert ((levels > 0) == corridor).all()


def test_the_vessel_tree_is_bright_and_its_seeds_lie_in_it():
    case = volumes.vessel_tree((40, 50, 60))
    assert case.volume.dtype == np.int16
    assert case.volume.shape == (40, 50, 60)
    assert (case.volume[tuple(case.seeds.T)] > 150).all()
    assert abs(np.median(case.volume) - volumes.TISSUE) < 20
    np.testing.assert_array_equal(volumes.vessel_tree((40, 50, 60)).volume, case.volume)


def test_the_real_scan_is_read(data_folder):
    case = volumes.scan(data_folder)
    assert case.volume.shape == (129, 512, 512)
    assert (case.volume[tuple(case.seeds.T)] > 100).all()
    _, mask, spacing = volumes.vessels(data_folder, None)
    assert (mask.shape, np.count_nonzero(mask)) == (case.volume.shape, 103533)
    np.testing.assert_allclose(spacing, (1.6, 0.57, 0.57), atol=0.005)


def test_reconstruction_solves_its_own_problem():
    pytest.importorskip("skimage")
    case = volumes.white_noise(9)
    levels = peers.by_reconstruction(case)
    own = case.affinity(case.volume, case.volume)
    assert (levels <= own).all()
    assert levels[tuple(case.seeds[0])] == own[tuple(case.seeds[0])]


@pytest.mark.skipif(find_spec("higra") is None, reason="higra is not installed")
def test_the_partition_tree_equals_dial():
    case = volumes.vessel_tree((14, 13, 12))
    np.testing.assert_array_equal(peers.by_partition_tree(case), dial_levels(case))


# --- the command


def test_it_runs_without_vtk_slicer_and_optional_packages(tmp_path):
    missing = (
        "vtk",
        "vtkmodules",
        "slicer",
        "PIL",
        "cupy",
        "skimage",
        "higra",
        "itk",
        "matplotlib",
    )
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
        "from fuzzy_vessel.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    paths = os.pathsep.join(map(str, PACKAGE_FOLDERS))
    arguments = ["benchmark", "--quick", "--repeats", "1", "--json", "figures.json"]
    for table in ("connectedness-cpu", "connectedness", "field-sizes", "kfoe-directions"):
        arguments += ["--table", table]
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "CuPy" in run.stderr
    assert "equal to dial, bit for bit" in run.stdout
    content, tables = results.read(tmp_path / "figures.json")
    assert content["environment"]["card"] is None
    assert content["environment"]["versions"]["numpy"] == np.__version__
    assert len(tables) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]


def test_later_tables_join_earlier_ones_and_plots_are_drawn_from_the_file(tmp_path, capsys):
    path = tmp_path / "figures.json"
    run = ["benchmark", "--quick", "--repeats", "1", "--device", "cpu", "--json", str(path)]
    assert main([*run, "--table", "peers"]) == 0
    assert main([*run, "--table", "kfoe-directions"]) == 0
    content, tables = results.read(path)
    assert list(tables) == ["peers", "kfoe-directions"]
    assert content["environment"]["quick"] is True
    capsys.readouterr()
    assert main(["benchmark", "--json", str(path), "--plots", str(tmp_path / "plots")]) == 0
    assert "| volume | program |" in capsys.readouterr().out
    # Nothing is known of the directions without a GPU, so there is no plot of them.
    assert [plot.name for plot in (tmp_path / "plots").iterdir()] == ["peers.svg"]
    picture = ElementTree.parse(tmp_path / "plots" / "peers.svg").getroot()
    told = " ".join(picture.itertext())
    assert "dial, on the CPU" in told
    assert "Mvoxel/s" in told


def test_a_run_that_is_interrupted_keeps_its_finished_tables(tmp_path, monkeypatch, capsys):
    def interrupted(setting):
        raise KeyboardInterrupt

    first = results.Table("First", {"a": "a"}, [{"a": 1}])
    monkeypatch.setattr(tables, "TABLES", {"first": lambda setting: first, "second": interrupted})
    path = tmp_path / "figures.json"
    run = ["benchmark", "--quick", "--device", "cpu", "--json", str(path)]
    with pytest.raises(SystemExit) as end:
        main(run)
    assert end.value.code == 130
    assert "has the tables before" in capsys.readouterr().err
    assert list(results.read(path)[1]) == ["first"]
    monkeypatch.setattr(tables, "TABLES", {"second": interrupted})
    assert main(run) == 130
    assert "nothing was written" in capsys.readouterr().err


def test_figures_of_another_machine_are_left_alone(tmp_path, capsys):
    path = tmp_path / "figures.json"
    results.merge_into(path, {"card": "another one", "cpu": "x", "cores": 3}, {})
    before = path.read_bytes()
    assert main(["benchmark", "--quick", "--device", "cpu", "--json", str(path)]) == 2
    assert "another one" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--table", "speed"], "connectedness-cpu"),
        (["--json", "nowhere/figures.json"], "nowhere"),
        (["--plots", "plots"], "--json"),
        (["--plots", "plots", "--json", "no.json"], "no.json"),
        (["--data", "no-folder"], "no-folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["benchmark", "--quick", "--device", "cpu", *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert told in error
    assert "\n" not in error
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "figures.json"
    results.merge_into(path, {"card": None}, {})
    before = path.read_bytes()

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(results.InputError, match="No space left"):
        results.merge_into(path, {"card": None}, {"t": results.Table("T", {}, [])})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["figures.json"]


def test_plots_without_matplotlib_name_the_way_out(tmp_path, monkeypatch, capsys):
    path = tmp_path / "figures.json"
    plot = {"kind": "goals"}
    results.merge_into(path, {"card": None}, {"t": results.Table("T", {}, [], plot)})
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["benchmark", "--json", str(path), "--plots", str(tmp_path / "plots")]) == 2
    assert "fuzzy-vessel-gpu[pictures]" in capsys.readouterr().err
    assert list((tmp_path / "plots").iterdir()) == []


def test_all_committed_tables_can_be_drawn():
    drawn = {}
    for path in sorted((ROOT / "Resources" / "benchmarks").glob("*.json")):
        content, read = results.read(path)
        for name, table in read.items():
            drawn[name] = plots.draw(table, results.described(content["environment"]))
    committed = {path.stem for path in (ROOT / "Resources" / "benchmarks").glob("*.svg")}
    assert {name for name, picture in drawn.items() if picture} == committed
