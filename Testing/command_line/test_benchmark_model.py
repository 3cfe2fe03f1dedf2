"""The model of the costs of a run over blocks: what it counts, and that a fit finds the rates."""

import numpy as np
import pytest
from scipy import ndimage

from fuzzy_vessel.benchmark.blocks import prediction_table
from fuzzy_vessel.benchmark.blocks.block_runs import by_blocks
from fuzzy_vessel.benchmark.blocks.cost_model import Run, best_partition, fit
from fuzzy_vessel.benchmark.blocks.run_steps import OF_PROCESS, Steps
from FuzzyConnectedGPULib.distributed.needs import run_need
from FuzzyConnectedGPULib.distributed.partition import Partition

PHASES = ("contract", "merge", "solve", "finish")
PARTITIONS = [
    Partition((60, 50, 40), (30, 25, 20)),
    Partition((60, 50, 40), (15, 13, 10)),
    Partition((60, 50, 40), (20, 50, 7)),
    Partition((90, 50, 40), (11, 12, 10)),
]
UNITS = {
    (phase, unit): rate
    for rate, (phase, unit) in enumerate(
        [
            *((phase, unit) for phase in ("contract", "finish") for unit in ("voxel", OF_PROCESS)),
            *((phase, "face voxel") for phase in ("contract", "finish")),
            *((phase, "vertex") for phase in ("merge", "solve")),
        ],
        start=3,
    )
}


def rate(key):
    """A known rate: a card is ten times as fast, and the CPU needs no process's own part."""
    phase, unit, place = key
    if place == "CPU":
        return 0.0 if unit == OF_PROCESS else 10.0 * UNITS[phase, unit]
    return float(UNITS[phase, unit])


def known_seconds(partition, workers, place, processes=1):
    work = Steps(partition).work(workers, place, processes)
    return {
        phase: sum(rate(key) * amount for key, amount in of.items())
        for phase, of in work.items()
        if of
    }


def run(partition, workers, place, processes=1):
    written = 23.0 * Steps(partition).kept_faces()
    seconds = known_seconds(partition, workers, place, processes)
    return Run(partition, workers, place, processes, seconds, written)


def test_faces_are_those_of_the_voxels():
    partition = PARTITIONS[2]
    number = np.zeros(partition.shape, int)
    for n, group in enumerate(partition.groups(0)):
        number[partition.box(group).slices] = n
    low, high = ndimage.minimum_filter, ndimage.maximum_filter
    cross = ndimage.generate_binary_structure(3, 1)
    faces = low(number, footprint=cross) != high(number, footprint=cross)
    steps = Steps(partition)
    assert sum(steps.faces[0]) == np.count_nonzero(faces)
    assert sum(steps.joined[1]) == sum(steps.faces[0])
    assert sum(steps.voxels) == number.size
    work = steps.work(1, "CPU")
    assert work["contract"]["contract", "face voxel", "CPU"] == np.count_nonzero(faces)
    assert work["solve"]["solve", "vertex", "CPU"] == sum(map(sum, steps.joined))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_memory_is_the_estimate_of_a_run(partition):
    assert Steps(partition).memory(1, 1) == run_need(partition, 2).task_memory


def test_work_is_divided_by_the_workers_but_for_the_last_group():
    steps = Steps(PARTITIONS[1])
    one, many = (sum(steps.work(n, "CPU")["solve"].values()) for n in (1, 1000))
    assert one == sum(map(sum, steps.joined))
    assert many == sum(max(joined) for joined in steps.joined[1:])
    assert many >= steps.joined[-1][0]


def test_a_fit_finds_the_rates():
    runs = [run(partition, 1, "CPU") for partition in PARTITIONS]
    runs += [run(partition, 1, "card") for partition in PARTITIONS]
    runs += [run(PARTITIONS[0], 2, "card"), run(PARTITIONS[1], 4, "card", 4)]
    costs, other = fit(runs), Partition((200, 200, 200), (25, 40, 50))
    assert costs.face_bytes == pytest.approx(23.0)
    for cluster in ((1, "CPU", 1), (64, "CPU", 64), (8, "card", 1), (8, "card", 8)):
        found = costs.seconds(Steps(other).work(*cluster))
        assert found == pytest.approx(known_seconds(other, *cluster), rel=1e-6)
    (phase, unit, place), seconds = costs.bound(Steps(other).work(8, "card"))
    assert (phase, place) == ("finish", "card")
    assert seconds == pytest.approx(UNITS[phase, unit] * 200**3)


def test_without_runs_on_several_workers_all_work_is_divided():
    costs = fit([run(partition, 1, "CPU") for partition in PARTITIONS])
    assert costs.rates["finish", OF_PROCESS, "CPU"] == 0
    with pytest.raises(KeyError, match="card"):
        costs.seconds(Steps(PARTITIONS[0]).work(1, "card"))


def test_the_best_partition_respects_the_limits():
    costs, shape = fit([run(partition, 1, "CPU") for partition in PARTITIONS]), (400, 400, 400)
    free = best_partition(costs, shape, (8, "CPU", 8), (1e12, np.inf))
    assert free.partition.block == (100, 100, 100)  # the largest that is tried
    limited = best_partition(costs, shape, (8, "CPU", 8), (1e12, 40**3))
    assert limited.partition.block == (40, 40, 40)
    small = best_partition(costs, shape, (8, "CPU", 8), (free.memory(8, 1) * 0.7, np.inf))
    assert small is None or small.memory(8, 1) <= free.memory(8, 1) * 0.7
    assert best_partition(costs, shape, (8, "CPU", 8), (1000, np.inf)) is None


def test_traffic_reads_the_source_twice():
    steps = Steps(PARTITIONS[1])
    assert steps.traffic(0.0) == 60 * 50 * 40 * (2 + 2 + 2)
    below, last = sum(steps.faces[0]) + sum(steps.faces[1]), steps.levels
    assert last == 2
    written, merged, solved, finished = below, sum(steps.faces[0]), below, sum(steps.faces[0])
    upper = sum(steps.faces[1])  # a group's own faces, for its solution
    total = written + merged + solved + finished + upper
    assert steps.traffic(1.0) - steps.traffic(0.0) == total


def test_the_table_of_measured_runs():
    shape = (60, 50, 40)
    rows = [by_blocks(shape, partition.block)[0] for partition in PARTITIONS[:3]]
    table = prediction_table.table_of(rows, (500, 500, 500), True, "no GPU here")
    told, kinds = table.rows[-1], [row["kind"] for row in table.rows]
    assert kinds == ["run"] * 3 + ["predicted"]
    assert told["device"] == "64 workers on the CPU"
    assert told["seconds"] == pytest.approx(sum(told[phase] for phase in PHASES))
    assert told["traffic"] > 6 * 500**3 / 1e9
    assert "CPU" in told["check"]
    assert "No prediction for 8 cards, one process: no GPU here" in table.notes
