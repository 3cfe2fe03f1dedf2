"""What the tables run on: the GPU, the sizes of the volumes, and how often a run is repeated."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError


@dataclass(frozen=True)
class Sizes:
    """Volumes of the tables, ordered K, J, I."""

    tree: tuple = (576, 512, 512)
    cube: int = 256
    liver: tuple = (129, 512, 512)
    plane: tuple = (512, 512)
    english: tuple = (131, 261, 576)  # slices of the English paper's scans
    chinese: tuple = (155, 215, 175)
    field_sides: tuple = (16, 32, 64, 128, 256)
    field_length: int = 487
    threads_side: int = 64
    clicks: tuple = (96, 160, 160)
    # Sizes of phantoms (K, J, I = 3/5, 1, 1 times) and the noise that is added to them, and how
    # many sessions of clicks are tried on each.
    confidence: tuple = ((96, 10), (128, 30), (128, 60), (160, 20), (200, 40))
    confidence_sessions: int = 20
    blocks: int = 464  # 1e8 voxels
    blocks_on_cards: int = 1024
    blocks_largest: int = 2160  # 1e10 voxels
    blocks_predicted: int = 10_000


QUICK = Sizes(
    tree=(72, 64, 64),
    cube=48,
    liver=(33, 128, 128),
    plane=(64, 64),
    english=(16, 33, 72),
    chinese=(19, 27, 22),
    field_sides=(16, 32),
    field_length=61,
    threads_side=16,
    clicks=(20, 40, 40),
    confidence=((40, 5), (40, 30)),
    confidence_sessions=3,
    blocks=64,
    blocks_on_cards=96,
    blocks_largest=128,
    blocks_predicted=1000,
)


@dataclass
class Setting:
    """What a table needs to run.

    Attributes
    ----------
    gpu : CudaDevice or None
    no_gpu : str
        Why there is no GPU; empty if there is one.
    sizes : Sizes
    repeats : int
        Runs after the warm-up, of which the median is taken.
    limit : float
        Seconds: a direct sum that would take longer is estimated from a part of its points.
    processes : int
        Serial runs of the papers' tables at a time.
    data : Path or None
        A folder with the real scan `SCAN` and its seeds, and with the cases of `clicks.cases`.
    quick : bool
        Whether the sizes are small, so that the goals say nothing of them.
    methods, cases : sequence of str
        Of the click tables; empty: all.
    tell : callable
        Called with the name of each run that begins.
    found : dict
        What one table has measured and another one shows, too.
    """

    gpu: Any = None
    no_gpu: str = ""
    sizes: Sizes = field(default_factory=Sizes)
    repeats: int = 7
    limit: float = 60.0
    processes: int = 1
    data: Path | None = None
    quick: bool = False
    methods: tuple = ()
    cases: tuple = ()
    tell: Callable[[str], Any] = print
    found: dict = field(default_factory=dict)

    @property
    def cuda(self) -> str:
        """The GPU as the solvers are asked for it."""
        return f"cuda:{self.gpu.ordinal}"

    @property
    def cpu(self) -> str:
        """The processor as rows name it."""
        return f"CPU, {len(usable_cores())} cores"


def make_setting(options: Namespace, tell: Callable[[str], None]) -> Setting:
    """The setting that the arguments ask for."""
    from FuzzyVesselCoreLib.gpu.availability import cuda_status
    from FuzzyVesselCoreLib.gpu.selection import choose_device

    device, no_gpu = choose_device(options.device), ""
    gpu = None if device == "cpu" else device
    if gpu is None:
        no_gpu = "the CPU was asked for" if options.device == "cpu" else cuda_status() or ""
    data = options.data or os.environ.get("FUZZY_VESSEL_DATA")
    if data and not Path(data).is_dir():
        raise InputError(f"{data}: there is no such folder; leave --data out, or name another.")
    return Setting(
        gpu=gpu,
        no_gpu=no_gpu,
        sizes=QUICK if options.quick else Sizes(),
        repeats=options.repeats or (3 if options.quick else 7),
        limit=options.limit or (0.5 if options.quick else 60.0),
        processes=options.processes,
        data=Path(data) if data else None,
        quick=options.quick,
        methods=tuple(options.method or ()),
        cases=tuple(options.case or ()),
        tell=tell,
    )


def usable_cores() -> list[int]:
    """Numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@contextmanager
def two_cores() -> Iterator[None]:
    """Stay on two cores, as the goals for the CPU say; where the system allows no choice, on all.

    Threads that were started before keep their cores.
    """
    cores = usable_cores()
    if len(cores) <= 2 or not hasattr(os, "sched_setaffinity"):
        yield
        return
    os.sched_setaffinity(0, cores[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
