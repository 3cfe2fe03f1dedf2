"""Where the project's folders are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Folders of Slicer modules, then of all packages.
SLICER_MODULES = (
    "FuzzyVesselCore",
    "FuzzyConnectedGPU",
    "PotentialSkeleton",
    "SegmentEditorVesselFromClicks",
)
PACKAGE_FOLDERS = [ROOT / name for name in (*SLICER_MODULES, "CommandLine", "Napari", "Browser")]
