"""A simulated person: clicks the deepest voxel of the largest error until there is none.

The usual protocol of interactive segmentation: the first click lies in the vessels, each further
one in the largest 26-connected component of either error, missed vessel voxels (a vessel click) or
false ones (a background click). The person reacts to the method's own result, so that two methods
get different clicks after the first.
"""

import warnings
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled

from .measures import Measures

NEIGHBOURS = np.ones((3, 3, 3))  # 26-connected


@dataclass(frozen=True)
class Click:
    """One click, and how good the method's result is after it.

    Attributes
    ----------
    voxel : tuple of 3 int
    is_vessel : bool
        Whether it marks a vessel; else background.
    seconds : float
        The method's time.
    change : float
        Of Dice, by this click.
    disobeyed : int
        Clicks so far that the result contradicts: vessel clicks outside of it, background clicks
        inside.
    scores : dict of str to float or None
        See `Measures`.
    failure : str
        What the method raised; its earlier result counts then. Empty if it ran.
    """

    voxel: tuple
    is_vessel: bool
    seconds: float
    change: float
    disobeyed: int
    scores: dict
    failure: str = ""

    @property
    def dice(self):
        """Dice after this click."""
        return self.scores["dice"]


@dataclass
class Session:
    """The clicks of one person with one method, and the last result."""

    clicks: list = field(default_factory=list)
    result: np.ndarray | None = None

    def dice_after(self, count):
        """Dice after so many clicks, or after the last one if fewer were needed."""
        return self.clicks[min(count, len(self.clicks)) - 1].dice

    @property
    def disobeyed(self):
        """Contradicted clicks, counted anew after each click."""
        return sum(click.disobeyed for click in self.clicks)

    @property
    def worst_change(self):
        """The largest fall of Dice by one click, as a negative number; 0 if it never fell."""
        return min([0.0, *(click.change for click in self.clicks)])

    @property
    def seconds(self):
        """The method's time for all clicks."""
        return sum(click.seconds for click in self.clicks)


def deepest_voxel(error, spacing):
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
    return tuple(int(at + s.start) for at, s in zip(place, box)), int(sizes[largest])


def next_click(result, truth, spacing, first=False):
    """The next click as (voxel, is_vessel), or None where the result is right."""
    missed, missed_size = deepest_voxel(truth & ~result, spacing)
    false, false_size = deepest_voxel(result & ~truth, spacing)
    if missed is None and false is None:
        return None
    is_vessel = first or missed_size >= false_size
    return (missed if is_vessel else false), is_vessel


def click_until_right(method, case, count, measures=None):
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
    session = Session(result=np.zeros(case.truth.shape, bool))
    vessel, background, dice = [], [], 0.0
    for number in range(count):
        click = next_click(session.result, case.truth, case.spacing, first=number == 0)
        if click is None:
            break
        voxel, is_vessel = click
        (vessel if is_vessel else background).append(voxel)
        begin = perf_counter()
        result, failure = attempt(method, case, vessel, background)
        seconds = perf_counter() - begin
        session.result = session.result if result is None else result
        disobeyed = sum(not session.result[v] for v in vessel)
        disobeyed += sum(bool(session.result[v]) for v in background)
        scores = measures.of(session.result)
        change, dice = scores["dice"] - dice, scores["dice"]
        session.clicks.append(Click(voxel, is_vessel, seconds, change, disobeyed, scores, failure))
    return session


def attempt(method, case, vessel, background):
    """Run a method; a click that was made twice is given once.

    Returns
    -------
    result : ndarray of bool, or None if the method raised
    failure : str
        What it raised; else empty.
    """
    distinct = (list(dict.fromkeys(clicks)) for clicks in (vessel, background))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(case.volume, *distinct, case.mask, case.spacing), ""
    except Cancelled:
        raise
    except Exception as error:  # whatever another program raises: the person clicks on
        return None, f"{type(error).__name__}: {error}"
