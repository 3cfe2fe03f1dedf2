"""The skeleton paper's table 2 and figure 3 as runs: the field's variants over sizes and threads.

The object is a tube that sways and fills most of its box. A direct sum that would take longer than
the setting's limit is estimated from a part of its points and marked so.
"""

from functools import partial
from statistics import median
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib import force_field
from PotentialSkeletonLib.field.methods import CPU_METHODS, CUDA_METHODS, direct_cuda, direct_serial

from .. import volumes
from ..results import Table
from .field_error import Sample, the_solid

STRENGTH = 6
SERIAL = "direct-serial"
DIRECT = (SERIAL, "cuda-simple", "cuda-constant", "cuda-shared")
TRIAL_POINTS = 4096  # for the estimate on the CPU; on CUDA 64 times more
COLUMNS = {
    "volume": "volume",
    "method": "method",
    "device": "device",
    "seconds": "seconds",
    "speed_up": "times faster than serial",
    "error": "largest relative error",
    "occupancy": "occupancy",
    "told": "",
}
THREAD_COLUMNS = {
    "method": "method",
    "threads": "threads a block",
    "occupancy": "occupancy",
    "seconds": "seconds",
    "speed_up": "times faster than serial",
    "told": "",
}
SIZES_TITLE = "Skeleton paper, table 2: the field's methods over sizes"
SIZES_PLOT = {
    "kind": "lines",
    "series": "method",
    "x": "volume",
    "y": "seconds",
    "log": True,
}
THREADS_TITLE = "Skeleton paper, figure 3: speed-up and occupancy over threads a block"
THREADS_PLOT = {
    "kind": "lines",
    "series": "method",
    "x": "threads",
    "y": "speed_up",
    "second": "occupancy",
}


def sizes(setting):
    """Table 2 of the paper: every method over the five sizes."""
    methods = [(method, "cpu") for method in CPU_METHODS if method != "auto"]
    if setting.gpu:
        methods += [(method, setting.cuda) for method in CUDA_METHODS if method != "auto"]
    _warm_up(methods)
    rows = []
    for side in setting.sizes.field_sides:
        mask = volumes.wavy_tube((setting.sizes.field_length, side, side))
        solid = the_solid(mask)
        sample = Sample.of_solid(solid, STRENGTH)
        serial = _seconds_of_serial(solid)
        for method, device in methods:
            setting.tell(f"{method}, {side} x {side}")
            rows.append(_size_row(setting, mask, solid, method, device, sample, serial))
    notes = ["~: estimated from a part of the points. Seconds are those of the summation alone."]
    if setting.gpu is None:
        notes.append(f"The methods on CUDA were left out: {setting.no_card}")
    return Table(SIZES_TITLE, COLUMNS, rows, SIZES_PLOT, notes)


def _warm_up(methods):
    """Compile what is compiled at the first call."""
    mask = volumes.wavy_tube((30, 20, 22))
    for method, device in methods:
        force_field(mask, STRENGTH, method=method, device=device)


def _size_row(setting, mask, solid, method, device, sample, serial):
    common = {
        "volume": "x".join(map(str, mask.shape[::-1])),
        "method": method,
        "device": setting.cpu if device == "cpu" else setting.gpu.name,
        "inner": int(np.count_nonzero(solid.targets)),
        "charges": len(solid.charges),
    }
    if method in DIRECT:
        estimate = serial if method == SERIAL else _seconds_on_card(setting, solid, method)
        if estimate > setting.limit:
            told = dict(seconds=estimate, speed_up=serial / estimate, told="~")
            return common | told
    runs = []
    if method == "fft":  # its kernels are compiled for each size
        force_field(mask, STRENGTH, method=method, device=device)
    while not runs or (len(runs) < setting.repeats and sum(runs) < min(setting.limit, 10)):
        field = force_field(mask, STRENGTH, method=method, device=device)
        runs.append(field.seconds["sum"])
    worst, middle = sample.errors(field.vectors)
    seconds = median(runs)
    serial = seconds if method == SERIAL else serial
    return common | {
        "seconds": seconds,
        "speed_up": serial / seconds,
        "error": float(worst),
        "median_error": float(middle),
        "occupancy": field.occupancy,
        "threads": field.threads_per_block,
        "runs": runs,
        "peak_bytes": field.peak_bytes,
    }


def _seconds_of_serial(solid):
    """Of the serial sum, from a trial with some of the points."""
    positions = solid.positions(solid.targets)
    task = (positions[:TRIAL_POINTS], solid.charges, STRENGTH, Progress())
    seconds = _timed(partial(direct_serial.sum_at, *task))
    return seconds * len(positions) / min(len(positions), TRIAL_POINTS)


def _seconds_on_card(setting, solid, method):
    positions = solid.positions(solid.targets)
    task = (positions[: 64 * TRIAL_POINTS], solid.charges, STRENGTH, Progress())
    with setting.gpu as gpu:
        seconds = _timed(partial(direct_cuda.sum_at, *task, gpu, method))
    return seconds * len(positions) / min(len(positions), 64 * TRIAL_POINTS)


def _timed(run):
    begin = perf_counter()
    run()
    return perf_counter() - begin


def threads(setting):
    """Figure 3 of the paper: occupancy and speed-up over the threads of a block."""
    side = setting.sizes.threads_side
    if setting.gpu is None:
        return Table(
            THREADS_TITLE, THREAD_COLUMNS, [], THREADS_PLOT, [f"No card: {setting.no_card}"]
        )
    mask = volumes.wavy_tube((setting.sizes.field_length, side, side))
    solid = the_solid(mask)
    few = solid.positions(solid.targets)[:8]
    direct_serial.sum_at(few, solid.charges, STRENGTH, lambda f: None)
    serial = _seconds_of_serial(solid)
    rows = []
    with setting.gpu as gpu:
        for method in DIRECT[1:]:
            setting.tell(f"Threads a block, {method}")
            rows += _thread_rows(setting, gpu, solid, method, serial)
    notes = [f"Volume {side}x{side}x{mask.shape[0]}; *: chosen by the occupancy formula."]
    return Table(THREADS_TITLE, THREAD_COLUMNS, rows, THREADS_PLOT, notes)


def _thread_rows(setting, gpu, solid, method, serial):
    task = (solid.positions(solid.targets), solid.charges, STRENGTH, Progress())
    chosen = direct_cuda.Launch(gpu, STRENGTH, method).threads
    for count in range(32, 1025, 32):
        try:
            share = direct_cuda.Launch(gpu, STRENGTH, method, count).occupancy
        except DeviceError:
            continue  # the card cannot run so many
        run = partial(direct_cuda.sum_at, *task, gpu, method, count)
        seconds = min(_timed(run) for _ in range(min(setting.repeats, 3)))
        yield {
            "method": method,
            "threads": count,
            "occupancy": share,
            "seconds": seconds,
            "speed_up": serial / seconds,
            "told": "*" if count == chosen else "",
        }
