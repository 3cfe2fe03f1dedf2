"""A point of the connectedness panel that is dragged, and what is seen of it meanwhile."""

import time

from .mrml_cases import world_of


def until(panel, reached, seconds=60):
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
            own.running.active or own.following.working or own._waiting
            or (own.output.surface.waits and not own.seeds.dragging)
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
    found = panel.widget.panel.following._preview.labels
    return None if found is None else found.copy()


def labels(panel):
    import slicer

    return slicer.util.arrayFromVolume(panel.parameters.labelmap).copy()


def own_segment_is_shown(panel):
    return panel.parameters.segmentation.GetDisplayNode().GetVisibility2D()
