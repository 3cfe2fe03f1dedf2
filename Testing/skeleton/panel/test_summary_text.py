"""What the panel says of a result, and what it advises to do next."""

import numpy as np
import pytest

from support.mrml_cases import add_volume

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

LABELMAP = "vtkMRMLLabelMapVolumeNode"
STRAIGHT = np.diag([-0.5, -0.5, 0.8, 1.0])


@pytest.fixture
def extract(slicer_scene):
    """A function from voxels to the result of a run."""
    from emulators.qt.application import install
    from PotentialSkeleton import PotentialSkeletonLogic

    install()

    def extract(array, **options):
        labelmap = add_volume(array.astype(np.uint8), STRAIGHT, kind=LABELMAP)
        return PotentialSkeletonLogic().extract(labelmap, **options)

    return extract


def frame_and_bar():
    """A frame, which is a loop, with a bar through one corner, and a bar apart from it."""
    array = np.zeros((30, 30, 10), np.uint8)
    array[4:24, 4:24, 3:7] = 1
    array[8:20, 8:20] = 0
    array[20:29, 20:24, 3:7] = 1
    array[1:3, 2:20, 3:6] = 1
    return array


def test_the_summary_counts_branches_parts_and_loops(extract):
    from PotentialSkeletonPanel.sentences import summary

    table = extract(frame_and_bar()).skeleton.to_table()
    count, length = len(table["branch"]), sum(table["length_mm"])
    assert summary(table) == f"{count} branches, {length:.0f} mm, 2 separate parts, 1 loop"


def table_of(branches, loops=0, parts=1, length=20.0, radius=2.0):
    """A table of branches: a chain for each part, with loops in the first one."""
    ends = [(n, n + 1) for n in range(branches - loops)] + [(0, 0)] * loops
    components = [max(0, n - branches + parts) for n in range(branches)]
    starts = [1000 * c + a for (a, _), c in zip(ends, components)]
    stops = [1000 * c + b for (_, b), c in zip(ends, components)]
    return {
        "branch": list(range(branches)),
        "start": starts,
        "end": stops,
        "component": components,
        "length_mm": [length] * branches,
        "mean_radius_mm": [radius] * branches,
    }


@pytest.mark.parametrize(
    ("table", "begins"),
    [
        (table_of(5), "Click a branch"),
        (table_of(5, parts=2), "Click a branch"),
        (table_of(6, parts=5), "5 separate parts"),
        (table_of(5, loops=2), "Loops"),
        (table_of(60, length=1.0), "60 branches, 60 of them shorter than they are thick"),
        (table_of(60, loops=12), "60 branches, 0 of them shorter than they are thick, and 12"),
        (table_of(3, length=1.0), "Click a branch"),  # a few stubs are no leak
        (table_of(0), "No branch was found"),
    ],
)
def test_the_advice_fits_the_result(slicer_scene, table, begins):
    from emulators.qt.application import install

    install()
    from PotentialSkeletonPanel.sentences import next_step

    assert next_step(table).startswith(begins)
