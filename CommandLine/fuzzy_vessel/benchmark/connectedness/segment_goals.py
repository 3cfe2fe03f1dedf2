"""Segmenting by contrast: seconds of the first click and of each further one."""

import numpy as np

from FuzzyConnectedGPULib import segment
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness

from ...reading.formats.nrrd import read_voxels
from .. import volumes
from ..goals import Goal, table, timed_row, without_gpu
from ..results import Table
from ..setting import Setting, two_cores
from ..timing import measure

FIRST, FURTHER = "first click", "each further click"
LARGE = "first click, 512 x 512 x 576"
CPU_GOALS = {FIRST: Goal(5, "s"), FURTHER: Goal(0.5, "s")}
GPU_GOALS = {FIRST: Goal(60, "ms"), FURTHER: Goal(15, "ms"), LARGE: Goal(200, "ms")}
NOTE = (
    "From numpy arrays to the fuzzy scene and labels in numpy arrays. A further click finds the "
    "evidence of the first one kept on its device."
)


def on_cpu(setting: Setting) -> Table:
    """The goals for two cores of the CPU."""
    title = "Segmenting by contrast on two cores"
    with two_cores():
        rows = list(_rows(setting, _liver(setting), "cpu", "CPU, 2 cores", CPU_GOALS))
    return table(setting, rows, title, [NOTE])


def on_gpu(setting: Setting) -> Table:
    """The goals for the GPU."""
    title = "Segmenting by contrast on the GPU"
    if setting.gpu is None:
        return without_gpu(setting, GPU_GOALS, title)
    rows = list(_rows(setting, _liver(setting), setting.cuda, setting.gpu.name, GPU_GOALS))
    large = _phantom(setting.sizes.tree)
    rows += _rows(setting, large, setting.cuda, setting.gpu.name, {FIRST: GPU_GOALS[LARGE]})
    return table(setting, rows, title, [NOTE])


def _liver(setting):
    """Name, volume, seeds and spacing of the real CT, or of the phantom without a folder."""
    case = volumes.scan(setting.data)
    if case is None:
        return _phantom(setting.sizes.liver)
    _, spacing = read_voxels(setting.data / volumes.SCAN)
    return volumes.described(case), case.volume, case.seeds[1:3], spacing


def _phantom(shape):
    case, phantom = volumes.liver(shape)
    return volumes.described(case), case.volume, case.seeds[:2], phantom.spacing


def _rows(setting, inputs, device, name, goals):
    where, volume, seeds, spacing = inputs
    options = dict(spacing=spacing, device=device)
    setting.tell(f"First click, {where}")
    first = measure(lambda: segment(volume, seeds[:1], **options), setting.repeats)
    reference = segment(volume, seeds[:1], spacing=spacing, device="cpu")
    check = _difference(first.result.labels, reference.labels, device)
    yield timed_row(f"{FIRST}, {where}", name, first, goals[FIRST], check)
    if FURTHER not in goals:
        return
    setting.tell(f"Further clicks, {where}")
    kept = CachedConnectedness()
    segment(volume, seeds[:1], cached=kept, **options)
    further = measure(lambda: segment(volume, seeds, cached=kept, **options), setting.repeats)
    yield timed_row(f"{FURTHER}, {where}", name, further, goals[FURTHER], None)


def _difference(labels, reference, device):
    if device == "cpu":
        return f"{int(labels.sum()):,} voxels"
    wrong = int(np.count_nonzero(labels != reference))
    if not wrong:
        return f"{int(reference.sum()):,} voxels, equal to the CPU's"
    return f"{wrong:,} of {int(reference.sum()):,} voxels differ from the CPU"
