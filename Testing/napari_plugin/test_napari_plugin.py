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
from fuzzy_vessel_napari.widgets import CentrelinesWidget, VesselsWidget

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
