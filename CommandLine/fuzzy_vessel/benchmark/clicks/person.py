"""A simulated person: clicks the deepest voxel of the largest error until there is none.

The usual protocol of interactive segmentation: the first click lies in the vessels, each further
one in the largest 26-connected component of either error, missed vessel voxels (a vessel click) or
false ones (a background click). The person reacts to the method's own result, so that two methods
get different clicks after the first.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled

from .cases import ClickCase
from .measures import Measures, dice
from .methods import ClickMethod
from .session import Click, Session

NEIGHBOURS = np.ones((3, 3, 3))  # 26-connected


def deepest_voxel(
    error: np.ndarray, spacing: Sequence[float]
) -> tuple[tuple[int, int, int] | None, int]:
    """Where a person would click: the deepest voxel of the largest 26-connected component.

    Parameters
    ----------
    error : ndarray of bool
    spacing : tuple of 3 float
        The depth is measured in mm; the volume's border bounds a component, too.

    Returns
    -------
    voxel : tuple of 3 int, or None without any error
    size : int
        Voxels of the component.
    """
    labels, count = ndimage.label(error, NEIGHBOURS)
    if count == 0:
        return None, 0
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    largest = int(sizes.argmax())
    box = ndimage.find_objects(labels)[largest - 1]
    component = np.pad(labels[box] == largest, 1)
    depth = ndimage.distance_transform_edt(component, sampling=spacing)[1:-1, 1:-1, 1:-1]
    place = np.unravel_index(depth.argmax(), depth.shape)
    k, j, i = (int(at + s.start) for at, s in zip(place, box))
    return (k, j, i), int(sizes[largest])


def next_click(
    result: np.ndarray, truth: np.ndarray, spacing: Sequence[float], first: bool = False
) -> tuple[tuple[int, int, int], bool] | None:
    """The next click as (voxel, is_vessel), or None where the result is right."""
    missed, missed_size = deepest_voxel(truth & ~result, spacing)
    false, false_size = deepest_voxel(result & ~truth, spacing)
    is_vessel = first or missed_size >= false_size
    voxel = missed if is_vessel else false
    return None if voxel is None else (voxel, is_vessel)


def click_until_right(
    method: ClickMethod, case: ClickCase, count: int, measures: Measures | None = None
) -> Session:
    """Let the person click.

    Parameters
    ----------
    method : callable
        See `methods.ClickMethod`.
    case : ClickCase
    count : int
        Clicks at most; fewer where the result is right before.
    measures : Measures, optional
        Of the case's truth, if they are already known.

    Returns
    -------
    Session
    """
    measures = measures or Measures(case.truth)
    session, current, last = Session(), np.zeros(case.truth.shape, bool), 0.0
    vessel: list[tuple[int, int, int]] = []
    background: list[tuple[int, int, int]] = []
    for number in range(count):
        click = next_click(current, case.truth, case.spacing, first=number == 0)
        if click is None:
            break
        voxel, is_vessel = click
        (vessel if is_vessel else background).append(voxel)
        begin = perf_counter()
        result, failure = attempt(method, case, vessel, background)
        seconds = perf_counter() - begin
        current = current if result is None else result
        disobeyed = sum(not current[v] for v in vessel)
        disobeyed += sum(bool(current[v]) for v in background)
        before, last = last, dice(current, case.truth)
        scores = {"dice": last}
        change = last - before
        session.clicks.append(Click(voxel, is_vessel, seconds, change, disobeyed, scores, failure))
    # Skeletons and borders take longer than most methods.
    session.clicks[-1] = replace(session.clicks[-1], scores=measures.of(current))
    session.result = current
    return session


def attempt(
    method: ClickMethod,
    case: ClickCase,
    vessel: list[tuple[int, int, int]],
    background: list[tuple[int, int, int]],
) -> tuple[np.ndarray | None, str]:
    """Run a method; a click that was made twice is given once.

    Returns
    -------
    result : ndarray of bool, or None if the method raised
    failure : str
        What it raised; else empty.
    """
    first, second = (list(dict.fromkeys(clicks)) for clicks in (vessel, background))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(case.volume, first, second, case.mask, case.spacing), ""
    except Cancelled:
        raise
    except Exception as error:  # whatever another program raises: the person clicks on
        return None, f"{type(error).__name__}: {error}"
