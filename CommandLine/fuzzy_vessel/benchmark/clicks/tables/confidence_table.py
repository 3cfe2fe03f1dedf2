"""The table of confidence: whether a result can tell how near it is to its best threshold."""

from collections.abc import Iterator

import numpy as np

from FuzzyConnectedGPULib.contrast import contrast_connectedness
from FuzzyConnectedGPULib.contrast.neighbourhood import at_click
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from ...results import Table
from ...setting import Setting
from .. import calibration, sessions
from ..cases import ClickCase, cases
from ..kept_evidence import KeptEvidence
from ..person import next_click
from .table_parts import common_notes, rounded

MOST_CLICKS = 5
NOTES = [
    f"Sessions of 1 to {MOST_CLICKS} clicks: the first at a random vessel voxel, each further one "
    "half the time as the simulated person clicks, else at a random wrong voxel.",
    f"Near: Dice within {calibration.NEAR} of the best threshold of the same scene. Said: by "
    f"logistic regression on {', '.join(calibration.FEATURES)}, learnt from all other scans. A "
    "calibrated confidence would have said and near equal in every row.",
]


def by_confidence(setting: Setting) -> Table:
    """How often results are near their best, and what other scans predict."""
    known, lost, scans = [], [], []
    runs = setting.sizes.confidence_sessions
    for case in _cases(setting):
        setting.tell(f"confidence, {case.name}")
        for row, loss in _results(case, sessions.device(setting), runs):
            known.append(row)
            lost.append(loss)
            scans.append(case.name)
    near = np.array(lost) <= calibration.NEAR
    said = calibration.predicted(np.array(known), near, scans)
    names = np.array(scans)
    groups = {name: names == name for name in dict.fromkeys(scans)}
    for low, high, inside in zip(calibration.BINS, calibration.BINS[1:], calibration.bins_of(said)):
        groups[f"said {low:.0%} to {high:.0%}"] = inside
    groups["all"] = np.ones(len(names), bool)
    rows = [_row(name, here, near, said, np.array(lost)) for name, here in groups.items()]
    rows[-1]["error"] = rounded(calibration.calibration_error(said, near))
    columns = {"case": "case", "results": "results", "near": "near", "said": "said"}
    columns |= {"loss": "mean Dice lost", "error": "calibration error"}
    notes = NOTES + common_notes(setting)[1:]
    return Table("Confidence: results near their best threshold", columns, rows, {}, notes)


def _row(name, here, near, said, lost):
    any_here = here.any()
    return {
        "case": name,
        "results": int(np.count_nonzero(here)),
        "near": rounded(near[here].mean()) if any_here else None,
        "said": rounded(said[here].mean()) if any_here else None,
        "loss": rounded(lost[here].mean()) if any_here else None,
    }


def _cases(setting: Setting) -> Iterator[ClickCase]:
    """The scans of the folder, and phantoms of several sizes and noises."""
    if not setting.quick and setting.data is not None:
        yield from cases(setting.data, setting.cases, setting.sizes.clicks)
    for size, noise in setting.sizes.confidence:
        made = liver_phantom((size * 3 // 5, size, size))
        added = np.random.Generator(np.random.PCG64(0)).normal(0, noise, made.volume.shape)
        volume = (made.volume + added).astype(np.int16)
        liver = made.liver > 0
        k, j, i = made.spacing
        name = f"phantom of {size}, noise {noise}"
        yield ClickCase(name, volume, (made.mask > 0) & liver, liver, (k, j, i))


def _results(case: ClickCase, device: str, runs: int) -> Iterator[tuple[list[float], float]]:
    """Features and lost Dice of the results of random sessions."""
    random = np.random.Generator(np.random.PCG64(0))
    find = KeptEvidence()
    for run in range(runs):
        vessel: list[tuple[int, int, int]] = []
        background: list[tuple[int, int, int]] = []
        labels = np.zeros(case.truth.shape, bool)
        for number in range(1 + run % MOST_CLICKS):
            click = _click(case, labels, random, number)
            if click is None:
                break
            (vessel if click[1] else background).append(click[0])
            scene, _threshold = contrast_connectedness(
                case.volume,
                np.array(vessel),
                background_seeds=np.array(background) if background else None,
                mask=case.mask,
                spacing=case.spacing,
                device=device,
                find_evidence=find,
            )
            labels = scene.values >= 0.5
        found = find.last
        strongest = max(at_click(found.contrast, np.array(p) - found.origin) for p in vessel)
        known = calibration.features(scene.values, strongest, found.noise)
        yield known, calibration.loss(scene.values, case.truth)


def _click(case, labels, random, number):
    """A voxel and whether it is vessel; None where nothing is wrong."""
    if number and random.random() < 0.5:
        return next_click(labels, case.truth, case.spacing)
    wrong = np.flatnonzero(case.truth != labels)
    if not wrong.size:
        return None
    k, j, i = np.unravel_index(random.choice(wrong), labels.shape)
    voxel = int(k), int(j), int(i)
    return voxel, bool(case.truth[voxel])
