"""What a job says: report.json, captions of pictures, and the summary on standard output."""

import dataclasses
import platform
import tomllib
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.translation import counted

from .writing import PROGRAM

PACKAGES = (
    "numpy", "numba", "scipy", "slicer-core", "vtk", "SimpleITK", "cupy-cuda12x", "cupy-cuda13x",
)  # fmt: skip


def version() -> str:
    """Return the version of this program: as installed, or of the source tree that it runs from."""
    installed = _version_of("fuzzy-vessel-gpu")
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if installed is None and project.is_file():
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    return installed or "unknown"


def _version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


# The content of report.json.


def heading(inputs: dict) -> dict:
    """Return what every report begins with: program, time, and where the inputs come from."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"program": PROGRAM, "created": created, "input": inputs}


def ending(seconds: dict[str, float], warnings: list[str], **details: dict[str, float]) -> dict:
    """Return what every report ends with; `details` are the seconds of steps within a stage."""
    steps = {
        f"{stage}: {step}": time for stage, times in details.items() for step, time in times.items()
    }
    packages = {package: _version_of(package) for package in PACKAGES}
    versions = {PROGRAM: version(), "python": platform.python_version()}
    versions |= {package: number for package, number in packages.items() if number}
    return {"seconds": {**seconds, **steps}, "warnings": warnings, "versions": versions}


def content(origin: dict, outcome: Any, trees: list, seconds: dict, warnings: list[str]) -> dict:
    """Return the whole report of a segmentation, of centrelines, or of both."""
    steps, parts = {}, heading(origin)
    if outcome is not None:
        parts |= _segmentation(outcome)
        steps["connectedness"] = outcome.result.scene.seconds
    for found in trees:
        label, called = found.wanted.label, found.wanted.called
        head = f"label {label}: " if called else ""
        steps[f"{head}finding centrelines"] = found.skeleton.report["seconds"]
        if called:
            parts.setdefault("skeletons", {})[str(label)] = _skeleton(found)
        else:
            parts["skeleton"] = _skeleton(found)
    return parts | ending(seconds, warnings, **steps)


def _segmentation(outcome):
    result, scene = outcome.result, outcome.result.scene
    found = {
        "model": "contrast" if result.affinity is None else "affinity",
        "affinity": result.affinity and dataclasses.asdict(result.affinity),
        "threshold": outcome.threshold,
        "fill_gaps": outcome.fill_gaps,
        "vessels": {
            "voxels": int((outcome.labels > 0).sum()),
            "ml": result.volumeMl,
            "dice_to_known_vessels_in_the_liver": outcome.dice,
        },
    }
    if len(result.vessels) > 1:
        each = [{"name": v.name, "label": v.label, "ml": v.volumeMl} for v in result.vessels]
        found |= {"each_vessel": each, "disputed_ml": result.disputedMl}
    names = ("solver", "device", "rounds", "peak_bytes")
    return found | {name: getattr(scene, name) for name in names}


def _skeleton(outcome):
    found = {
        "branches": len(outcome.skeleton.branches),
        "nodes": len(outcome.skeleton.nodes),
        "total_length_mm": outcome.length,
        "options": outcome.options,
    }
    elsewhere = ("seconds", "warnings")
    details = {k: v for k, v in outcome.skeleton.report.items() if k not in elsewhere}
    return found | outcome.trees | details


# Texts for people.


def size_text(volume: Any) -> str:
    """Return the volume's size as it stands under its name."""
    size = " x ".join(str(n) for n in volume.GetImageData().GetDimensions())
    return f"{size} voxels of {' x '.join(f'{mm:.3g}' for mm in volume.GetSpacing())} mm"


def segmentation_caption(outcome: Any) -> str:
    """Return the line below the picture of a segmentation."""
    parts = [_ml(outcome.result.volumeMl), f"threshold {_threshold(outcome)}"]
    if outcome.dice is not None:
        parts.append(f"Dice {outcome.dice:.3f} inside the liver")
    return "   |   ".join(parts)


def skeleton_caption(outcome: Any) -> str:
    """Return the line below the picture of centrelines."""
    report = outcome.skeleton.report
    parts = [_size(outcome)]
    if report["skeleton_cycles"]:
        parts.append(counted(report["skeleton_cycles"], "loop"))
    if report["components"] > 1:
        parts.append(f"{report['components']} components")
    return "   |   ".join(parts)


def summary(outcome: Any, trees: list, seconds: dict[str, float], folder: str | Path) -> list[str]:
    """Return the lines that the user reads at the end."""
    lines, computed = [], []
    if outcome is not None:
        scene = outcome.result.scene
        lines += _segmentation_lines(outcome)
        took = f"{sum(scene.seconds.values()):.2f} s"
        computed.append(f"by {scene.solver} on {scene.device} in {took}")
    for found in trees:
        report = found.skeleton.report
        head = f"label {found.wanted.label}" if found.wanted.called else "skeleton"
        parts = counted(report["components"], "component")
        parts += ", " + counted(report["skeleton_cycles"], "loop")
        lines.append(f"{head:<10} {_size(found)}, {parts}")
    if trees:
        each = (sum(found.skeleton.report["seconds"].values()) for found in trees)
        computed.append(f"centrelines in {sum(each):.2f} s")
    computed.append(f"{sum(seconds.values()):.1f} s in all")
    return [*lines, f"computed   {', '.join(computed)}", f"results    {Path(folder).resolve()}"]


def _segmentation_lines(outcome):
    result = outcome.result
    lines = [f"threshold  {_threshold(outcome)}"]
    if "contrast" in outcome.threshold:  # what a threshold of contrasts means in the image
        lines.append(f"           {outcome.threshold['reason']}")
    voxels = int((outcome.labels > 0).sum())
    lines.append(f"vessels    {_ml(result.volumeMl)}, {voxels:,} voxels")
    for vessel in result.vessels if len(result.vessels) > 1 else ():
        lines.append(f"           label {vessel.label} {vessel.name}: {_ml(vessel.volumeMl)}")
    if result.disputedMl:
        lines.append(f"           disputed, in none of them: {_ml(result.disputedMl)}")
    if outcome.dice is not None:
        lines.append(
            f"Dice       {outcome.dice:.3f} to the phantom's known vessels, inside the liver"
        )
    return lines


def _threshold(outcome):
    threshold = outcome.threshold
    text = f"{threshold['value']:.4g}, chosen {threshold['chosen']}"
    if threshold.get("confidence") is not None:
        text += f" (confidence {threshold['confidence']:.0%})"
    return text


def _ml(volume):
    return f"{volume:.1f} ml" if volume >= 10 else f"{volume:.3g} ml"


def _size(outcome):
    """Branches and their length together."""
    mm = outcome.length
    length = f"{mm / 1000:.2f} m" if mm >= 1000 else f"{mm:.3g} mm"
    return f"{counted(len(outcome.skeleton.branches), 'branch', 'branches')}, {length}"
