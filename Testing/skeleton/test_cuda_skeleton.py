"""Whole skeletons with all volumes on a card: played by the CPU, and on a real one."""

import numpy as np
import pytest

import support.solids as solids
from emulators.cuda import what_is_missing
from PotentialSkeletonLib import assembly, skeletonize
from PotentialSkeletonLib.cuda_component_volumes import CudaComponentVolumes
from PotentialSkeletonLib.field import cuda_tiles as tiles
from support.played_card import PlayedCard, installed
from support.solid_shapes import wavy_tube

if what_is_missing():
    pytest.skip(what_is_missing(), allow_module_level=True)


def with_cavity_and_island():
    """A thick bar with a cavity, a handle, and an island of one voxel."""
    mask = np.zeros((14, 20, 40), bool)
    mask[3:11, 4:12, 3:36] = True
    mask[6, 7, 20] = False
    mask[5:8, 12:17, 10:13] = mask[5:8, 12:17, 24:27] = mask[5:8, 15:18, 10:27] = True
    mask[1, 18, 38] = True
    return mask


SOLIDS = {
    "tube": (wavy_tube((40, 24, 24)), (1, 1, 1)),
    "ring": (solids.ring()[0], (1, 1, 1)),
    "cavity and island": (with_cavity_and_island(), (2.0, 0.7, 0.7)),
    "plate": (solids.plate(), (1, 1, 1)),
}


def on_played_card(mask, spacing=(1, 1, 1), *, card=None, device="cuda", **options):
    with installed(card or PlayedCard()):
        return skeletonize(mask, spacing, device=device, **options)


def assert_same(one, other):
    """The same graph; positions and radii within 0.05, as the forces' last bits may differ."""
    assert np.array_equal(one.voxels, other.voxels)
    assert [node.kind for node in one.nodes] == [node.kind for node in other.nodes]
    assert len(one.branches) == len(other.branches)
    for some, others in zip(one.branches, other.branches):
        assert (some.start, some.end, some.component) == (
            others.start,
            others.end,
            others.component,
        )
        np.testing.assert_allclose(some.points, others.points, atol=0.05)
        np.testing.assert_allclose(some.radius, others.radius, atol=0.05)


def without(report, *names):
    return {name: value for name, value in report.items() if name not in names}


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", SOLIDS)
def test_a_card_gives_the_graph_and_report_of_the_cpu(name, level):
    mask, spacing = SOLIDS[name]
    on_card = on_played_card(mask, spacing, level=level)
    on_cpu = skeletonize(mask, spacing, level=level, device="cpu")
    assert_same(on_card, on_cpu)
    assert on_card.report["device"] == "cuda:0 (played)"
    assert on_cpu.report["device"] == "cpu"
    assert without(on_card.report, "seconds", "device") == without(
        on_cpu.report, "seconds", "device"
    )


@pytest.mark.parametrize("distance", [0, 1, 2])
def test_charges_outside_of_the_object(distance):
    mask, spacing = SOLIDS["tube"]
    options = dict(charge_distance=distance, level=3)
    assert_same(
        on_played_card(mask, spacing, **options),
        skeletonize(mask, spacing, device="cpu", **options),
    )


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.int32, np.float32, np.float64])
def test_all_kinds_of_labelmaps(kind):
    mask, spacing = SOLIDS["cavity and island"]
    values = mask.astype(kind) * kind(1)
    if kind is not bool:
        values[mask] *= kind(3)
    assert_same(on_played_card(values, spacing), skeletonize(mask, spacing, device="cpu"))


def test_islands_are_dropped_and_tunnels_closed_on_a_card():
    mask, spacing = SOLIDS["cavity and island"]
    options = dict(drop_islands=5, close_tunnels=20.0)
    on_card = on_played_card(mask, spacing, **options)
    on_cpu = skeletonize(mask, spacing, device="cpu", **options)
    assert_same(on_card, on_cpu)
    assert on_card.report["tunnels_closed"] == on_card.report["islands_dropped"] == 1
    assert without(on_card.report, "seconds", "device") == without(
        on_cpu.report, "seconds", "device"
    )


def test_a_small_component_stays_on_the_cpu_if_the_device_may_be_chosen(monkeypatch):
    made = []
    plain = CudaComponentVolumes.__init__

    def counted(self, *arguments):
        made.append(self)
        plain(self, *arguments)

    monkeypatch.setattr(CudaComponentVolumes, "__init__", counted)
    mask, spacing = SOLIDS["cavity and island"]
    monkeypatch.setattr(assembly, "GPU_THRESHOLD", 100)
    assert_same(
        on_played_card(mask, spacing, device="auto"), skeletonize(mask, spacing, device="cpu")
    )
    assert len(made) == 1
    on_played_card(mask, spacing, device="cuda")
    assert len(made) == 3


def test_tiles_of_a_thick_object_come_when_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(tiles, "MAX_BYTES", 0)
    mask, spacing = SOLIDS["ring"]
    assert_same(
        on_played_card(mask, spacing, level=3), skeletonize(mask, spacing, level=3, device="cpu")
    )


def test_without_room_on_the_card_its_field_alone_is_used():
    mask, spacing = SOLIDS["tube"]
    skeleton = on_played_card(mask, spacing, card=PlayedCard("out of memory", 3))
    assert_same(skeleton, skeletonize(mask, spacing, device="cpu"))
    [note] = [note for note in skeleton.report["warnings"] if "CPU" in note]
    assert note.startswith("All but the force field was done on the CPU: ")


class FillingCard(PlayedCard):
    """Its memory, which is small, is filled by all that is made in a block."""

    def free_memory(self):
        return max(1_400_000 - self.pool.held, 0)


def test_without_room_for_the_convolution_beside_the_volumes_the_field_alone_is_on_the_card():
    mask, spacing = SOLIDS["tube"]
    skeleton = on_played_card(mask, spacing, card=FillingCard(), method="fft")
    assert_same(skeleton, skeletonize(mask, spacing, device="cpu", method="fft"))
    [note] = [note for note in skeleton.report["warnings"] if "CPU" in note]
    assert note.startswith("All but the force field was done on the CPU: ")
    assert "for the convolution" in note


def test_plans_of_the_convolution_hold_no_memory_after_it(monkeypatch):
    found = []
    plain = CudaComponentVolumes.compute_field

    def watched(self, charge_distance, progress):
        notes = plain(self, charge_distance, progress)
        found.append("fourier" in vars(self._gpu))
        return notes

    monkeypatch.setattr(CudaComponentVolumes, "compute_field", watched)
    mask, spacing = SOLIDS["tube"]
    on_played_card(mask, spacing, method="fft")
    assert found == [False]


@pytest.mark.gpu
@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("name", SOLIDS)
def test_a_real_card_gives_the_graph_and_report_of_the_cpu(name, level):
    mask, spacing = SOLIDS[name]
    on_card = skeletonize(mask, spacing, level=level, device="cuda")
    on_cpu = skeletonize(mask, spacing, level=level, device="cpu")
    assert_same(on_card, on_cpu)
    assert without(on_card.report, "seconds", "device") == without(
        on_cpu.report, "seconds", "device"
    )
