"""English paper, table 2: error voxels over the number of directions of the corrections."""

import numpy as np

from .. import volumes
from ..goals import dial_levels
from ..results import Table
from ..setting import Setting
from . import papers, resident


def directions(setting: Setting) -> Table:
    """English paper, table 2: error voxels over the number of directions."""
    counts = {str(number): f"{number}" for number in range(7)}
    columns = {"volume": "volume", "original": "cuda-kfoe", **counts}
    plot = {"kind": "columns", "series": "volume", "keys": list(counts), "log": True}
    plot |= {"x_name": "directions", "y_name": "error voxels"}
    title = "English paper, table 2: error voxels by directions of the corrections"
    if setting.gpu is None:
        rows = [
            {"volume": "x".join(map(str, (*setting.sizes.plane[::-1], slices)))}
            for slices in setting.sizes.english
        ]
        return Table(title, columns, rows, plot, [f"No GPU: {setting.no_gpu}"])
    rows = []
    for number, slices in enumerate(setting.sizes.english):
        run = papers.Run(number, slices, 0)
        setting.tell(f"Making {slices} slices")
        case = papers.with_seed(volumes.liver(papers.shape_of(setting, run), number)[0], 0)
        reference = dial_levels(case)
        setting.tell(f"Directions, {slices} slices")
        rows.append(_errors_by_directions(setting, case, reference))
    return Table(title, columns, rows, plot, ["Medians of 3 runs; 2 corrections a round."])


def _errors_by_directions(setting, case, reference):
    """Median number of error voxels for each number of directions; races differ from run to run."""

    def errors(solver, **options):
        runs = resident.levels_of_runs(solver, case, setting.gpu, papers.REPEATS, **options)
        return int(np.median([np.count_nonzero(levels != reference) for levels in runs]))

    line = {
        "volume": "x".join(map(str, case.volume.shape[::-1])),
        "original": errors(papers.ORIGINAL),
    }
    return line | {str(n): errors(papers.CORRECTED, directions=n) for n in range(7)}
