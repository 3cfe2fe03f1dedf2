"""Graphs that join blocks, on the emulated device: the CPU's levels, and as good a forest."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from FuzzyConnectedGPULib.distributed.cuda import joining
from FuzzyConnectedGPULib.distributed.face_graph import JoinedGraph, levels_on_cpu
from FuzzyConnectedGPULib.distributed.forest import levels_from, spanning_forest
from FuzzyConnectedGPULib.solvers.cpu.blocks.nodes import sorted_by_level
from FuzzyVesselCoreLib.errors import DeviceMemoryError


def random_graph(vertices, edges, levels, number):
    """A graph in three lists of edges; the last vertex is the source."""
    random = np.random.default_rng(number)
    ends = random.integers(0, vertices, (2, edges)).astype(np.int32)
    heights = random.integers(1, levels + 1, edges).astype(np.uint16)
    parts = np.array_split(np.arange(edges), 3)
    lists = [(ends[0, part], ends[1, part], heights[part]) for part in parts]
    kept = np.full(vertices, -1, np.int32)
    chosen = np.flatnonzero(random.random(vertices - 1) < 0.5)
    kept[chosen] = random.permutation(chosen.size)
    kept[-1] = chosen.size
    return JoinedGraph(lists, np.array([0, vertices - 1])), kept


def assert_as_good(forest, graph, kept):
    count = int(kept[-1])
    expected = spanning_forest(sorted_by_level(graph.edges), kept)
    assert forest[0].size == expected[0].size
    for start in {0, count // 2, count}:
        found, wanted = (
            levels_from(start, sorted_by_level([each]), count + 1) for each in (forest, expected)
        )
        np.testing.assert_array_equal(found, wanted)


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    vertices=st.integers(2, 40),
    edges=st.integers(0, 90),
    levels=st.sampled_from([1, 4, 65535]),
    number=st.integers(0, 2**32 - 1),
)
def test_small_graphs(cpu_cuda, vertices, edges, levels, number):
    graph, kept = random_graph(vertices, edges, levels, number)
    np.testing.assert_array_equal(joining.face_levels(graph, cpu_cuda), levels_on_cpu(graph))
    assert_as_good(joining.forest(graph, kept, cpu_cuda), graph, kept)


def test_a_graph_of_several_blocks_of_threads_has_no_race(interleaved_cuda):
    graph, kept = random_graph(900, 2500, 300, 5)
    np.testing.assert_array_equal(
        joining.face_levels(graph, interleaved_cuda), levels_on_cpu(graph)
    )
    assert_as_good(joining.forest(graph, kept, interleaved_cuda), graph, kept)


def test_a_graph_for_which_the_card_has_no_memory(monkeypatch, cpu_cuda):
    def refuse(*_):
        raise DeviceMemoryError("the card has too little memory")

    monkeypatch.setattr(joining, "_add", refuse)
    graph, kept = random_graph(40, 90, 300, 6)
    np.testing.assert_array_equal(joining.face_levels(graph, cpu_cuda), levels_on_cpu(graph))
    assert_as_good(joining.forest(graph, kept, cpu_cuda), graph, kept)


@pytest.mark.gpu
def test_more_vertices_than_24_bits_number_on_a_real_card():
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    graph, kept = random_graph((1 << 24) + 1000, 1 << 25, 60_000, 7)
    with CudaDevice(0) as gpu:
        np.testing.assert_array_equal(joining.face_levels(graph, gpu), levels_on_cpu(graph))
        assert_as_good(joining.forest(graph, kept, gpu), graph, kept)
