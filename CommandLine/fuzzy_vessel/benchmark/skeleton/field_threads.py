"""The skeleton paper's figure 3 as runs: occupancy and speed-up over threads per block."""

from functools import partial

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress
from PotentialSkeletonLib.field.methods import direct_cuda, direct_serial

from .. import volumes
from ..results import Table
from ..setting import Setting
from .direct_sums import DIRECT, STRENGTH, seconds_of_serial, timed
from .field_error import the_solid

THREAD_COLUMNS = {
    "method": "method",
    "threads": "threads per block",
    "occupancy": "occupancy",
    "seconds": "seconds",
    "speed_up": "times faster than serial",
    "told": "",
}
THREADS_TITLE = "Skeleton paper, figure 3: speed-up and occupancy over threads per block"
THREADS_PLOT = {
    "kind": "lines",
    "series": "method",
    "x": "threads",
    "y": "speed_up",
    "second": "occupancy",
}


def threads(setting: Setting) -> Table:
    """Figure 3 of the paper: occupancy and speed-up over the threads of a block."""
    side = setting.sizes.threads_side
    if setting.gpu is None:
        return Table(THREADS_TITLE, THREAD_COLUMNS, [], THREADS_PLOT, [f"No GPU: {setting.no_gpu}"])
    mask = volumes.wavy_tube((setting.sizes.field_length, side, side))
    solid = the_solid(mask)
    few = solid.positions(solid.targets)[:8]
    direct_serial.sum_at(few, solid.charges, STRENGTH, Progress())
    serial = seconds_of_serial(solid)
    rows = []
    with setting.gpu as gpu:
        for method in DIRECT[1:]:
            setting.tell(f"Threads per block, {method}")
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
            continue  # the GPU cannot run so many
        run = partial(direct_cuda.sum_at, *task, gpu, method, count)
        seconds = min(timed(run) for _ in range(min(setting.repeats, 3)))
        yield {
            "method": method,
            "threads": count,
            "occupancy": share,
            "seconds": seconds,
            "speed_up": serial / seconds,
            "told": "*" if count == chosen else "",
        }
