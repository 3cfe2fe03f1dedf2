"""What a click in the list of branches shows, in real slice and 3D views.

The pictures can be kept: FUZZYVESSEL_PICTURES names a folder for them.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from FuzzyVesselCoreLib.phantom.liver import liver_phantom

SIZE = 72


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((SIZE,) * 3)


@pytest.fixture
def labelmap(slicer_scene, phantom):
    from FuzzyVesselCoreLib.mrml.phantom_nodes import add_phantom_labelmap

    return add_phantom_labelmap(phantom)


@pytest.fixture
def panel(labelmap, open_panel):
    """The panel after a run on the phantom's vessels."""
    panel = open_panel("PotentialSkeleton")
    panel.parameters.input = labelmap
    panel.parameters.tubes = True
    panel.process_events()
    panel.click("applyButton")
    return panel


@pytest.fixture
def keep(tmp_path):
    """A function that writes pixels, or a panel's picture, under a name."""
    from PIL import Image

    folder = Path(os.environ.get("FUZZYVESSEL_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name, seen):
        if hasattr(seen, "grab"):
            seen.grab(folder / f"{name}.png")
        else:
            Image.fromarray(seen).save(folder / f"{name}.png")

    return keep


def cyan(pixels):
    """Where the colour of the chosen branch is seen."""
    red, green, blue = np.moveaxis(pixels.astype(int), 2, 0)
    return (red < 90) & (green > 140) & (blue > 150)


def longest(panel):
    """Choose the longest branch; returns its number."""
    table = panel.ui.branchTable
    lengths = [float(table.item(row, 2).text()) for row in range(table.rowCount)]
    table.selectRow(int(np.argmax(lengths)))
    panel.process_events()
    return int(table.item(int(np.argmax(lengths)), 0).text())


def test_the_chosen_branch_is_drawn_in_3d(panel, keep):
    import support.slice_view as slice_view

    view = slice_view.View3D(size=(500, 500))
    view.look()
    try:
        assert view.pixels().std() > 5
        before = np.count_nonzero(cyan(view.pixels()))
        longest(panel)
        assert np.count_nonzero(cyan(view.pixels())) > before + 50
        keep("skeleton-3d", view.pixels())
        keep("skeleton-panel", panel)
        panel.ui.branchTable.clearSelection()
        assert np.count_nonzero(cyan(view.pixels())) <= before + 5
    finally:
        view.close()


def test_the_slices_go_to_the_chosen_branch(panel, labelmap, keep):
    import support.slice_view as slice_view

    view = slice_view.SliceView(size=(400, 400))
    view.show(labelmap)
    try:
        longest(panel)
        pixels = view.pixels()
        keep("skeleton-slice", pixels)
        rows, columns = np.nonzero(cyan(pixels))
        assert len(rows) > 20
        # The outline goes round the middle of the branch, which is the middle of the view.
        assert rows.min() < 200 < rows.max()
        assert columns.min() < 200 < columns.max()
    finally:
        view.close()


def test_colours_of_tubes_follow_the_choice(panel, keep):
    import support.slice_view as slice_view

    view = slice_view.View3D(size=(400, 400))
    view.look()
    try:
        seen = {}
        for kind in ("RADIUS", "BRANCH", "GENERATION"):
            panel.parameters.colouring = type(panel.parameters.colouring)[kind]
            seen[kind] = view.pixels().astype(int)
            keep(f"skeleton-{kind.lower()}", view.pixels())
        for one, other in (("RADIUS", "BRANCH"), ("BRANCH", "GENERATION")):
            differs = np.abs(seen[one] - seen[other]).max(axis=2) > 40
            assert differs.mean() > 0.05
    finally:
        view.close()
