"""A small noisy vessel, and what a person does with the connectedness panel and sees of it."""

import time

import numpy as np

from .mrml_cases import add_seeds, array, world_of

SHAPE = (14, 16, 18)
POINTS = [(7, 8, 3), (7, 8, 14)]  # in the vessel


def vessel(shape=SHAPE):
    """A noisy tube along I in a darker background."""
    rng = np.random.default_rng(4)
    k, j, _ = np.indices(shape)
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return (np.where(tube, 200, 90) + rng.normal(0, 9, shape)).astype(np.int16)


def table(panel):
    """The texts of the points' table, a list for each row."""
    rows = panel.ui.seedsTable
    return [
        [rows.item(row, column).text() for column in range(rows.columnCount)]
        for row in range(rows.rowCount)
    ]


def during_runs(monkeypatch, act):
    """Call `act` once, as an event that is handled in the middle of a run."""
    import slicer

    import FuzzyVesselCoreLib.widgets.run as run

    monkeypatch.setattr(run, "ROUND", 0.0)
    handle, calls = slicer.app.processEvents, []

    def process_events(*flags):
        handle(*flags)
        if not calls:
            calls.append(1)
            act()

    monkeypatch.setattr(slicer.app, "processEvents", process_events)


def with_published_model(panel):
    """The panel with the papers' model, and a background seed."""
    parameters = panel.parameters
    parameters.model = type(parameters.model).AFFINITY
    parameters.backgroundSeeds = add_seeds(parameters.inputVolume, [(2, 2, 9)], "background")
    panel.process_events()
    return panel


def save_and_load(panel, path):
    """Through an .mrb file, with the scene closed in between."""
    import slicer

    assert slicer.util.saveScene(str(path), {})
    slicer.mrmlScene.Clear(False)
    panel.process_events()
    slicer.util.loadScene(str(path), {})
    panel.process_events()


def press(panel, key):
    """Press a key in the window of the panel."""
    import qt

    keys = panel.window.window().findChildren(qt.QShortcut)
    (shortcut,) = (each for each in keys if each.key.toString() == key and each.enabled)
    shortcut.activated.emit()
    panel.process_events()


def point_at(volume, voxel):
    """Put the mouse over a voxel in a slice, or, without one, away from all slices."""
    import slicer

    node = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLCrosshairNode")
    node = node or slicer.mrmlScene.AddNewNodeByClass("vtkMRMLCrosshairNode")
    if voxel is None:
        node.SetCursorPositionInvalid()
    else:
        node.SetCursorPositionRAS(world_of(volume, voxel))


def until(panel, reached, seconds=120):
    """Handle events until something is so."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not happen"
        panel.process_events()


def settle(panel):
    """Let runs, timers and threads end."""
    own = panel.widget.panel
    until(
        panel,
        lambda: not (
            own.running.active or own.following.pending or own._waiting
            or (own.surface.waits and not own.seeds.dragging)
        ),
    )  # fmt: skip
    panel.process_events()


def button(down):
    """Let a button of the mouse be down, or not."""
    import slicer

    slicer.app.mouseButtons = lambda: int(down)


def hold(panel):
    """Press the button on a point; it moves by `move`."""
    button(True)
    seeds = panel.parameters.seeds
    seeds.InvokeEvent(seeds.PointStartInteractionEvent)


def move(panel, voxel, index=1):
    position = world_of(panel.parameters.inputVolume, voxel)
    panel.parameters.seeds.SetNthControlPointPositionWorld(index, position)


def let_go(panel):
    button(False)
    seeds = panel.parameters.seeds
    seeds.InvokeEvent(seeds.PointEndInteractionEvent)


def preview(panel):
    """Labels of the preview on the volume, 1 for the first vessel; None without one."""
    node = panel.widget.panel.following._preview._node
    return None if node is None else array(node).copy()


def labels(panel):
    """A copy of the labels that were written."""
    return array(panel.parameters.labelmap).copy()


def own_segment_is_shown(panel):
    return panel.parameters.segmentation.GetDisplayNode().GetVisibility2D()
