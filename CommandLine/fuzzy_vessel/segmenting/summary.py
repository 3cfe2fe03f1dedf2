"""What the user reads about a segmentation: caption of the picture and summary text."""

from typing import Any

from .segmentation import Outcome


def size_text(volume: Any) -> str:
    """Return the volume's size as it stands under its name."""
    size = " x ".join(str(n) for n in volume.GetImageData().GetDimensions())
    return f"{size} voxels of {' x '.join(f'{mm:.3g}' for mm in volume.GetSpacing())} mm"


def caption(outcome: Outcome) -> str:
    """Return the line below the picture."""
    parts = [_millilitres(outcome), f"threshold {_threshold_text(outcome)}"]
    if outcome.dice is not None:
        parts.append(f"Dice {outcome.dice:.3f} inside the liver")
    return "   |   ".join(parts)


def summary(outcome: Outcome) -> list[str]:
    """Return the lines that the user reads at the end."""
    lines = [f"threshold  {_threshold_text(outcome)}"]
    if "contrast" in outcome.threshold:  # what a threshold of contrasts means in the image
        lines.append(f"           {outcome.threshold['reason']}")
    lines.append(f"vessels    {_millilitres(outcome)}, {int(outcome.labels.sum()):,} voxels")
    for vessel in getattr(outcome.result, "vessels", ()):
        lines.append(f"           label {vessel.label} {vessel.name}: {_ml(vessel.volumeMl)}")
    if getattr(outcome.result, "disputedMl", 0):
        lines.append(f"           disputed, in none of them: {_ml(outcome.result.disputedMl)}")
    if outcome.dice is not None:
        lines.append(
            f"Dice       {outcome.dice:.3f} to the phantom's known vessels, inside the liver"
        )
    return lines


def computed(outcome: Outcome) -> str:
    """Return by what, where and how fast the connectedness was computed."""
    connectedness = outcome.result.scene
    seconds = sum(connectedness.seconds.values())
    return f"by {connectedness.solver} on {connectedness.device} in {seconds:.2f} s"


def _millilitres(outcome):
    return _ml(outcome.result.volumeMl)


def _ml(volume):
    return f"{volume:.1f} ml" if volume >= 10 else f"{volume:.3g} ml"


def _threshold_text(outcome):
    threshold = outcome.threshold
    text = f"{threshold['value']:.4g}, chosen {threshold['chosen']}"
    if threshold.get("confidence") is not None:
        text += f" (confidence {threshold['confidence']:.0%})"
    return text
