"""The fuzzy scene: as given, or computed over blocks from a volume and an affinity."""

import shutil
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.distributed import connectedness
from FuzzyConnectedGPULib.distributed.output import UNFINISHED
from FuzzyVesselCoreLib.errors import InputError

from ..progress_bar import Stopwatch
from .state import write_state

LEVELS = "levels.zarr"


def scene_of(
    folder: Path, state: dict[str, Any], options: Namespace, limit: int | None, watch: Stopwatch
) -> Path:
    """The path of the scene; one that is computed goes into the folder, and is kept there.

    The state is told how many chunks of the volume have no file.

    Raises
    ------
    FuzzyVesselError
    Cancelled
    """
    if options.affinity is None:
        return Path(options.scene)
    target = folder / LEVELS
    if target.exists():  # complete, of this run
        shutil.rmtree(target.with_name(target.name + UNFINISHED), ignore_errors=True)
        return target
    if not options.seed:
        raise InputError("--affinity computes connectedness from seeds: give --seed I,J,K, too.")
    watch.stage("Connectedness")
    run = connectedness(
        options.scene, np.array(options.seed)[:, ::-1], GaussianAffinity(*options.affinity), target,
        mask=options.mask, progress=watch.progress, block=options.block, cut=options.cut,
        memory_limit=limit, device=options.device, missing_chunks=options.missing_chunks,
    )  # fmt: skip
    state["missing_chunks"] = run.missing_chunks
    write_state(folder, state)
    return target
