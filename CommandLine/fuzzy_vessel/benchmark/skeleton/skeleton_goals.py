"""The potential field and whole skeletons: the goals on the GPU and on two cores of the CPU."""

from PotentialSkeletonLib import skeletonize

from .. import volumes
from ..goals import Goal, row, table, timed_row, without_gpu
from ..results import Table
from ..setting import Setting, two_cores
from ..timing import measure
from .field_error import Sample
from .resident_field import time_field

STRENGTH = 6
FIELD = "force field, strength 6"
ERROR = "its largest relative error"
SKELETON = "whole skeleton, level 2"
VESSELS = "skeleton of the vessels of a liver"
GPU_GOALS = {
    FIELD: Goal(20, "ms"),
    ERROR: Goal(1e-6, "of the force"),
    SKELETON: Goal(150, "ms"),
    VESSELS: Goal(100, "ms"),
}
CPU_GOALS = {SKELETON: Goal(10, "s"), VESSELS: Goal(2, "s")}


def on_gpu(setting: Setting) -> Table:
    """The goals for the GPU."""
    title = "Potential field and skeleton on the GPU"
    if setting.gpu is None:
        return without_gpu(setting, GPU_GOALS, title)
    mask = _tube(setting)
    # As users have it: small components of the vessels are done on the CPU.
    rows = [*_field(setting, mask), *_skeletons(setting, mask, "auto", GPU_GOALS)]
    return table(setting, rows, title)


def on_cpu(setting: Setting) -> Table:
    """The goals for two cores of the CPU."""
    with two_cores():
        rows = [*_skeletons(setting, _tube(setting), "cpu", CPU_GOALS)]
    return table(setting, rows, "Skeletons on two cores of the CPU")


def _tube(setting):
    side = setting.sizes.field_sides[-1]
    return volumes.wavy_tube((setting.sizes.field_length, side, side))


def _field(setting, mask):
    setting.tell("Force field")
    size = "x".join(map(str, mask.shape[::-1]))
    measured, vectors = time_field(mask, STRENGTH, setting.gpu, setting.repeats)
    name = setting.gpu.name
    yield timed_row(f"{FIELD}: {size}", name, measured, GPU_GOALS[FIELD], "fft")
    sample = Sample.of_mask(mask, STRENGTH)
    worst, middle = sample.errors(vectors)
    check = f"float64 sum at {len(sample.positions):,} voxels"
    yield row(ERROR, name, float(worst), GPU_GOALS[ERROR], check, median=float(middle))


def _skeletons(setting, mask, device, goals):
    named = f"tube of {'x'.join(map(str, mask.shape[::-1]))}"
    setting.tell("Skeleton of the tube")
    yield _skeleton_row(setting, f"{SKELETON}: {named}", mask, (1, 1, 1), device, goals[SKELETON])
    setting.tell("Skeleton of the vessels")
    name, vessels, spacing = volumes.vessels(setting.data, setting.sizes.liver)
    work = f"{VESSELS}: {name}, {'x'.join(map(str, vessels.shape[::-1]))}"
    yield _skeleton_row(setting, work, vessels, spacing, device, goals[VESSELS])


def _skeleton_row(setting, work, mask, spacing, device, goal):
    measured = measure(
        lambda: skeletonize(mask, spacing, level=2, device=device), min(setting.repeats, 7)
    )
    report = measured.result.report
    held = all(report["guarantees"].values())
    return timed_row(
        work,
        setting.cpu if device == "cpu" else setting.gpu.name,
        measured,
        goal,
        "thin, connected, same cycles" if held else "guarantees do not all hold",
        stages=report["seconds"],
        branches=len(measured.result.branches),
        guarantees=report["guarantees"],
    )
