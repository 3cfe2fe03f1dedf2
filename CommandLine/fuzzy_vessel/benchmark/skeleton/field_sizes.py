"""The skeleton paper's table 2 as runs: the field's methods over sizes.

The object is a tube that sways and fills most of its box. A direct sum that would take longer than
the setting's limit is estimated from a part of its points and marked so.
"""

from statistics import median

import numpy as np

from PotentialSkeletonLib import force_field
from PotentialSkeletonLib.field.methods import CPU_METHODS, CUDA_METHODS

from .. import volumes
from ..results import Table
from ..setting import Setting
from .direct_sums import DIRECT, SERIAL, STRENGTH, seconds_of_serial, seconds_on_gpu
from .field_error import Sample, the_solid

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
SIZES_TITLE = "Skeleton paper, table 2: the field's methods over sizes"
SIZES_PLOT = {
    "kind": "lines",
    "series": "method",
    "x": "volume",
    "y": "seconds",
    "log": True,
}


def sizes(setting: Setting) -> Table:
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
        serial = seconds_of_serial(solid)
        for method, device in methods:
            setting.tell(f"{method}, {side} x {side}")
            rows.append(_size_row(setting, mask, solid, method, device, sample, serial))
    notes = ["~: estimated from a part of the points. Seconds are those of the summation alone."]
    if setting.gpu is None:
        notes.append(f"The methods on CUDA were left out: {setting.no_gpu}")
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
        estimate = serial if method == SERIAL else seconds_on_gpu(setting, solid, method)
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
