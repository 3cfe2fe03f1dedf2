"""A small noisy vessel, and a node's voxels, for the tests of the connectedness panel."""

import numpy as np

from .mrml_cases import add_seeds

SHAPE = (14, 16, 18)
POINTS = [(7, 8, 3), (7, 8, 14)]  # in the vessel


def vessel(shape=SHAPE):
    """A noisy tube along I in a darker background."""
    rng = np.random.default_rng(4)
    k, j, _ = np.indices(shape)
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return (np.where(tube, 200, 90) + rng.normal(0, 9, shape)).astype(np.int16)


def array(node):
    """The voxels of a volume node, (K, J, I)."""
    import slicer

    return slicer.util.arrayFromVolume(node)


def table(panel):
    """The texts of the points' table, a list for each row."""
    rows = panel.ui.seedsTable
    return [
        [rows.item(row, column).text() for column in range(rows.columnCount)]
        for row in range(rows.rowCount)
    ]


def wait(panel, until, seconds=120):
    """Handle events until something is so."""
    import time

    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "it did not happen"
        panel.process_events()


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
