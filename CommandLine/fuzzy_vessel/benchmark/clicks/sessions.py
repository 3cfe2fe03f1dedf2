"""Runs every method on every case, one case at a time, and keeps figures only."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..setting import Setting
from . import cases, radius
from .measures import Measures, dice
from .methods import chosen_methods
from .person import attempt, click_until_right
from .session import Session

CLICKS, QUICK_CLICKS = 8, 2
RANDOM_CLICKS, QUICK_RANDOM_CLICKS = 10, 2


@dataclass(frozen=True)
class Outcome:
    """What one method did on one case.

    Attributes
    ----------
    case, method : str
    session : Session
        Without its result.
    recall : list of float or None
        By `radius.BINS`.
    sizes : list of int
        Vessel voxels of each bin.
    """

    case: str
    method: str
    session: Session
    recall: list
    sizes: list


@dataclass(frozen=True)
class FirstClicks:
    """Dice after one click at each of several random places in the vessels."""

    case: str
    method: str
    dice: list
    seconds: float
    failures: list


def click_count(setting: Setting) -> int:
    """Clicks of a session."""
    return QUICK_CLICKS if setting.quick else CLICKS


def random_count(setting: Setting) -> int:
    """Random first clicks on a case."""
    return QUICK_RANDOM_CLICKS if setting.quick else RANDOM_CLICKS


def outcomes(setting: Setting) -> list[Outcome]:
    """Every method on every case, as a list of `Outcome`; run once for all tables of a setting."""
    if "clicks" not in setting.found:
        read, methods = _cases(setting), _warm(setting)
        setting.found["clicks"] = [
            outcome for case in read for outcome in _clicked(setting, methods, case)
        ]
    return setting.found["clicks"]


def first_clicks(setting: Setting) -> Iterator[FirstClicks]:
    """Every method on every case from random first clicks, as a generator of `FirstClicks`."""
    read, methods = _cases(setting), _warm(setting)
    for case in read:
        places = random_places(case.truth, random_count(setting))
        for name, method in methods:
            setting.tell(f"{name}, random clicks, {case.name}")
            yield _from_each(method.make(device(setting)), name, case, places)


def random_places(truth: np.ndarray, count: int) -> list[tuple[int, int, int]]:
    """Random vessel voxels, the same in every run: a list of (k, j, i)."""
    voxels = np.flatnonzero(truth)
    chosen = np.random.Generator(np.random.PCG64(0)).choice(voxels, min(count, len(voxels)), False)
    return [
        (int(k), int(j), int(i))
        for k, j, i in (np.unravel_index(voxel, truth.shape) for voxel in chosen)
    ]


def missing(setting: Setting) -> dict[str, str]:
    """Chosen methods that are not installed: a dict of name to package."""
    chosen = chosen_methods(setting.methods)
    return {name: method.package for name, method in chosen.items() if not method.is_installed}


def device(setting: Setting) -> str:
    """The device as `segment` takes it."""
    return setting.cuda if setting.gpu else "cpu"


def _cases(setting):
    folder = None if setting.quick else setting.data
    return cases.cases(folder, setting.cases, setting.sizes.clicks)


def _warm(setting):
    """The installed methods, each run once on few voxels: seconds are without first uses."""
    case = _few_voxels()
    chosen = chosen_methods(setting.methods)
    methods = {name: method for name, method in chosen.items() if method.is_installed}
    for name, method in methods.items():
        setting.tell(f"First use of {name}")
        attempt(method.make(device(setting)), case, [(2, 4, 4)], [(2, 4, 1)])
    return methods.items()


def _few_voxels():
    """A case with a bright bar."""
    truth = np.zeros((5, 8, 9), bool)
    truth[1:4, 3:6] = True
    volume = np.random.default_rng(0).normal(100, 5, truth.shape) + 100 * truth
    return cases.ClickCase("", volume.astype(np.int16), truth, None, (1.0, 1.0, 1.0))


def _clicked(setting, methods, case):
    measures = Measures(case.truth)
    bins = radius.radius_bins(case.truth, case.spacing)
    sizes = radius.sizes_by_radius(bins)
    for name, method in methods:
        setting.tell(f"{name}, {case.name}")
        session = click_until_right(
            method.make(device(setting)), case, click_count(setting), measures
        )
        recall = radius.recall_by_radius(session.result, bins)
        yield Outcome(case.name, name, Session(session.clicks), recall, sizes)


def _from_each(method, name, case, places):
    begin = perf_counter()
    tried = [attempt(method, case, [place], []) for place in places]
    seconds = perf_counter() - begin
    found = [dice(result, case.truth) for result, _ in tried if result is not None]
    return FirstClicks(case.name, name, found, seconds, [why for _, why in tried if why])
