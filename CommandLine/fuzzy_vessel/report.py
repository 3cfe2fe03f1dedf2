"""The content of report.json."""

import dataclasses
import platform
import tomllib
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from .writing.report_file import PROGRAM

if TYPE_CHECKING:
    from . import segmenting, skeletonizing

PACKAGES = ("numpy", "numba", "scipy", "slicer-core", "vtk")


def version() -> str:
    """Return the version of this program: as installed, or of the source tree that it runs from."""
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


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the result depends on."""
    found = {package: _version_of(package) for package in PACKAGES}
    for package in ("cupy-cuda12x", "cupy-cuda13x"):
        found[package] = _version_of(package)
    return {
        PROGRAM: version(),
        "python": platform.python_version(),
        **{package: number for package, number in found.items() if number},
    }


def heading(inputs: dict) -> dict:
    """Return what every report begins with: program, time, and where the inputs come from."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"program": PROGRAM, "created": created, "input": inputs}


def segmentation(outcome: "segmenting.Outcome") -> dict:
    """Return the part of the report about a segmentation."""
    connectedness, affinity = outcome.result.scene, outcome.result.affinity
    return {
        "model": "contrast" if affinity is None else "affinity",
        "affinity": affinity and dataclasses.asdict(affinity),
        "threshold": outcome.threshold,
        "fill_gaps": outcome.fill_gaps,
        "vessels": {
            "voxels": int(outcome.labels.sum()),
            "ml": outcome.result.volumeMl,
            "dice_to_known_vessels_in_the_liver": outcome.dice,
        },
        **_each_vessel(outcome.result),
        "solver": connectedness.solver,
        "device": connectedness.device,
        "rounds": connectedness.rounds,
        "peak_bytes": connectedness.peak_bytes,
    }


def _each_vessel(result) -> dict:
    """Name, label and volume of each of several vessels."""
    if not hasattr(result, "vessels"):
        return {}
    each = [{"name": v.name, "label": v.label, "ml": v.volumeMl} for v in result.vessels]
    return {"each_vessel": each, "disputed_ml": result.disputedMl}


def skeleton(outcome: "skeletonizing.Outcome") -> dict:
    """Return the part of the report about a skeleton."""
    found, details = outcome.skeleton, dict(outcome.skeleton.report)
    for reported_elsewhere in ("seconds", "warnings"):
        details.pop(reported_elsewhere, None)
    return {
        "skeleton": {
            "branches": len(found.branches),
            "nodes": len(found.nodes),
            "total_length_mm": outcome.length,
            "options": outcome.options,
            "distances_in_the_liver_mm": outcome.distances,
            **outcome.trees,
            **details,
        }
    }


def ending(seconds: dict[str, float], warnings: list[str], **details: dict[str, float]) -> dict:
    """Return what every report ends with; `details` are the seconds of steps within a stage."""
    steps = {
        f"{stage}: {step}": time for stage, times in details.items() for step, time in times.items()
    }
    return {"seconds": {**seconds, **steps}, "warnings": warnings, "versions": versions()}
