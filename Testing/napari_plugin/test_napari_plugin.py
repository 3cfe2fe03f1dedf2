"""The napari plugin on a real viewer, off screen: manifest, runs, places, errors, cancelling.

Needs the extra `napari`, pytest-qt, a Qt binding and OpenGL (`xvfb-run` where there is no screen);
skipped without them.
"""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("napari", reason="napari is not installed")
pytest.importorskip("pytestqt", reason="pytest-qt is not installed")

import fuzzy_vessel_napari
from fuzzy_vessel_napari import jobs
from fuzzy_vessel_napari.widgets import CentrelinesWidget, VesselsWidget
from FuzzyVesselCoreLib.errors import InputError

SHAPE = (14, 24, 40)
SCALE, TRANSLATE = (2.0, 0.5, 0.5), (10.0, -20.0, 5.0)


def vessel():
    """A tube along I with a branch, in a darker, noisy background; and its mask."""
    k, j, i = np.indices(SHAPE)
    tube = (k - 7) ** 2 + (j - 10) ** 2 <= 8
    tube |= ((k - 7) ** 2 + (i - 20) ** 2 <= 8) & (j > 10)
    noise = np.random.default_rng(1).normal(0, 8, SHAPE)
    return (np.where(tube, 300, 90) + noise).astype(np.float32), tube


@pytest.fixture
def viewer(make_napari_viewer):
    return make_napari_viewer()


@pytest.fixture
def scan(viewer):
    return viewer.add_image(vessel()[0], name="ct, left", scale=SCALE, translate=TRANSLATE)


def add_points(viewer, image, *voxels):
    """Points where a user would see the voxels of an image; the layer has no scale of its own."""
    world = [image.data_to_world(voxel) for voxel in voxels]
    return viewer.add_points(world, ndim=3, name="in vessels")


def run(widget, qtbot):
    widget.run()
    qtbot.waitUntil(lambda: widget.run_button.enabled, timeout=120_000)
    return widget.status.value


def test_the_manifest_names_what_is_there():
    import npe2

    path = Path(fuzzy_vessel_napari.__file__).with_name("napari.yaml")
    manifest = npe2.PluginManifest.from_file(path)
    manifest.validate_imports()
    assert manifest.name == "fuzzy-vessel-gpu"
    assert [each.display_name for each in manifest.contributions.widgets] == [
        "Vessels from points",
        "Centrelines of vessels",
    ]


def test_napari_opens_both_widgets(viewer):
    import npe2

    path = Path(fuzzy_vessel_napari.__file__).with_name("napari.yaml")
    manager = npe2.PluginManager.instance()
    manager.register(npe2.PluginManifest.from_file(path))
    try:
        for name, kind in (
            ("Vessels from points", VesselsWidget),
            ("Centrelines of vessels", CentrelinesWidget),
        ):
            _, widget = viewer.window.add_plugin_dock_widget("fuzzy-vessel-gpu", name)
            assert isinstance(widget, kind)
    finally:
        manager.unregister("fuzzy-vessel-gpu")


def test_from_points_to_labels_to_centrelines(viewer, scan, qtbot):
    add_points(viewer, scan, (7, 10, 3), (7, 20, 20))
    widget = VesselsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    assert "voxels from strength" in run(widget, qtbot)
    labels = viewer.layers["ct, left vessels"]
    _, truth = vessel()
    assert 2 * (labels.data & truth).sum() / (labels.data.sum() + truth.sum()) > 0.8
    assert np.allclose(labels.scale, SCALE)
    assert np.allclose(labels.translate, TRANSLATE)

    lines = CentrelinesWidget(viewer)
    viewer.window.add_dock_widget(lines)
    lines.vessels.value = labels
    text = run(lines, qtbot)
    shapes = viewer.layers["ct, left vessels centrelines"]
    assert text.startswith(f"{len(shapes.data)} branches")
    assert set(shapes.shape_type) == {"path"}
    assert len(shapes.features["length_mm"]) == len(shapes.data) >= 3
    ends = np.concatenate([labels.world_to_data(shapes.data_to_world(p)) for p in shapes.data[0]])
    assert truth[tuple(np.rint(ends.reshape(-1, 3)).astype(int).T)].all()


def test_a_background_point_and_a_mask_are_obeyed(viewer, scan, qtbot):
    add_points(viewer, scan, (7, 10, 3))
    mask = np.zeros(SHAPE, np.uint8)
    mask[:, :, :30] = 1
    viewer.add_labels(mask, name="organ")
    widget = VesselsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    widget.mask.value = viewer.layers["organ"]
    run(widget, qtbot)
    labels = viewer.layers["ct, left vessels"].data
    assert labels.any()
    assert not labels[:, :, 30:].any()


def test_a_flat_image_gives_flat_layers(viewer, qtbot):
    volume, _ = vessel()
    image = viewer.add_image(volume[7], name="slice")
    points = viewer.add_points([[10, 3]], name="in")
    (layer,), _ = jobs.vessels_job(image, points)(lambda share: True)
    assert layer[0].shape == volume[7].shape
    labels = viewer.add_labels(layer[0], name="found")
    (paths,), _ = jobs.centrelines_job(labels)(lambda share: True)
    assert paths[0][0].shape[1] == 2


def test_cancelling_adds_nothing(viewer, scan, qtbot, monkeypatch):
    add_points(viewer, scan, (7, 10, 3))
    widget = VesselsWidget(viewer)
    viewer.window.add_dock_widget(widget)

    def endless(progress):
        share = 0.0
        while progress(share):
            share = min(share + 0.01, 0.9)
        from FuzzyVesselCoreLib.errors import Cancelled

        raise Cancelled("cancelled")

    monkeypatch.setattr(VesselsWidget, "job", lambda self: endless)
    widget.run()
    qtbot.waitUntil(lambda: widget.bar.value > 0, timeout=20_000)
    widget.run()  # a second run is not started
    widget.cancel()
    qtbot.waitUntil(lambda: widget.run_button.enabled, timeout=20_000)
    assert widget.status.value == "Cancelled"
    assert len(viewer.layers) == 2


def test_what_does_not_fit_is_said(viewer, scan, qtbot):
    widget = VesselsWidget(viewer)
    viewer.window.add_dock_widget(widget)
    assert "Add a points layer" in run(widget, qtbot)
    points = add_points(viewer, scan, (7, 10, 300))
    assert "'in vessels' lies outside of 'ct, left'" in run(widget, qtbot)
    points.data = [scan.data_to_world((7, 10, 3))]
    viewer.add_labels(np.ones((3, 4, 5), np.uint8), name="other")
    widget.mask.value = viewer.layers["other"]
    assert "they must have the same" in run(widget, qtbot)
    lines = CentrelinesWidget(viewer)
    viewer.window.add_dock_widget(lines)
    lines.number.value = 9
    assert "has no label 9" in run(lines, qtbot)
    viewer.layers["other"].data = np.zeros((3, 4, 5), np.uint8)
    lines.number.value = 0
    assert "'other' is empty" in run(lines, qtbot)


def test_a_single_voxel_colours_and_time_are_refused(viewer):
    one = np.zeros((5, 5, 5), np.uint8)
    one[2, 2, 2] = 1
    job = jobs.centrelines_job(viewer.add_labels(one, name="spot"))
    with pytest.raises(InputError, match="'spot' has no branch"):
        job(lambda share: True)
    points = viewer.add_points([[1, 1, 1]], name="p")
    colours = viewer.add_image(np.zeros((5, 5, 5, 3), np.uint8), rgb=True, name="rgb")
    series = viewer.add_image(np.zeros((2, 5, 5, 5), np.uint8), name="series")
    for image, message in ((colours, "has colours"), (series, "has 4 dimensions")):
        with pytest.raises(InputError, match=message):
            jobs.vessels_job(image, points)
    flat = viewer.add_points([[1, 1]], ndim=2, name="flat")
    volume = viewer.add_image(np.zeros((5, 5, 5), np.uint8), name="volume")
    with pytest.raises(InputError, match="'flat' have 2 dimensions"):
        jobs.vessels_job(volume, flat)
    with pytest.raises(InputError, match="Choose the image"):
        jobs.vessels_job(None, points)
    with pytest.raises(InputError, match="Choose the labels"):
        jobs.centrelines_job(None)
