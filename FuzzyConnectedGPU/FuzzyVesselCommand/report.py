"""What was done to what, with which result: the content of report.json."""

import dataclasses
import platform
import tomllib
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from .output_folder import PROGRAM

PACKAGES = ("numpy", "numba", "scipy", "slicer-core", "vtk")


def version():
    """The version of this program: as installed, or of the source tree that it runs from."""
    installed = _version_of("fuzzy-vessel-gpu")
    if installed:
        return installed
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file():
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    return "unknown"


def _version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def versions():
    """Versions of Python and of the packages that the result depends on."""
    found = {package: _version_of(package) for package in PACKAGES}
    for package in ("cupy-cuda12x", "cupy-cuda13x"):
        found[package] = _version_of(package)
    return {
        PROGRAM: version(),
        "python": platform.python_version(),
        **{package: number for package, number in found.items() if number},
    }


def make_report(inputs, outcome, seconds):
    """The report of a segmentation as a dict.

    Parameters
    ----------
    inputs : dict
        Where the inputs come from, and what they are.
    outcome : segmenting.Outcome
    seconds : dict of str to float
        Time of each stage.
    """
    scene = outcome.result.scene
    return {
        "program": PROGRAM,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": inputs,
        "affinity": dataclasses.asdict(outcome.result.affinity),
        "threshold": outcome.threshold,
        "vessels": {
            "voxels": int(outcome.labels.sum()),
            "ml": outcome.result.volumeMl,
            "dice_to_known_vessels_in_the_liver": outcome.dice,
        },
        "solver": scene.solver,
        "device": scene.device,
        "rounds": scene.rounds,
        "peak_bytes": scene.peak_bytes,
        "seconds": {**seconds, **{f"connectedness: {k}": v for k, v in scene.seconds.items()}},
        "warnings": outcome.warnings,
        "versions": versions(),
    }
