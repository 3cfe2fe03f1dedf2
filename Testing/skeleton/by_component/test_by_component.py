"""A skeleton made component by component is that of the whole, bit for bit."""

import tracemalloc
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.files import step_folder
from FuzzyVesselCoreLib.voxels.components.labels import (
    component_boxes,
    component_sizes,
    label_components,
)
from PotentialSkeletonLib import SkeletonOptions, skeletonize
from PotentialSkeletonLib.by_component import (
    component_folder,
    filled_components,
    labelled_skeleton,
    skeletonize_components,
)
from PotentialSkeletonLib.by_component.component_needs import WORKSPACE, component_memory

SPACING = (1.3, 0.7, 0.9)


def components_of(mask):
    """Numbered labels, sizes, and the boxes' first voxels and the ones after the last."""
    labels, count = label_components(mask)
    boxes = component_boxes(labels, count)
    low, high = (
        np.array([[getattr(side, end) for side in box] for box in boxes])
        for end in ("start", "stop")
    )
    return labels, component_sizes(labels, count)[1:], low, high


def assert_same(one, other, place="skeleton"):
    """Everything but the seconds has the same types and bits."""
    assert type(one) is type(other), place
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), place
        assert one.tobytes() == other.tobytes(), place
    elif is_dataclass(one):
        for field in fields(one):
            name = field.name
            assert_same(getattr(one, name), getattr(other, name), f"{place}.{name}")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), place
        for key in one.keys() - {"seconds"}:
            assert_same(one[key], other[key], f"{place}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), place
        for number, pair in enumerate(zip(one, other)):
            assert_same(*pair, f"{place}[{number}]")
    else:
        assert one == other, place


def check(mask, **keywords):
    options = SkeletonOptions(device="cpu", **keywords)
    whole = skeletonize(mask, SPACING, options=options)
    assert_same(skeletonize_components(*components_of(mask), SPACING, options=options), whole)
    return whole.report


def blobs(number, share, sigma=1.5, side=20):
    noise = np.random.default_rng(number).normal(size=(side, side + 1, side + 2))
    smooth = ndimage.gaussian_filter(noise, sigma)
    return smooth > np.quantile(smooth, 1 - share)


def shells():
    """Two balls in a shell in a shell with a bar through one wall, and a tube beside them."""
    k, j, i = np.ogrid[:36, :37, :50]
    away = np.sqrt((k - 17.0) ** 2 + (j - 18.0) ** 2 + (i - 17.0) ** 2)
    mask = ((away < 16.5) & (away > 14)) | ((away < 10.5) & (away > 8))
    for centre in (14, 21):
        mask |= (k - 17) ** 2 + (j - centre) ** 2 + (i - 17) ** 2 < 5
    mask[8, 18, 15:30] = True
    mask[5:30, 3:6, 42:46] = True
    return mask


@pytest.mark.parametrize(
    ("number", "share", "options"),
    [
        (0, 0.1, dict(level=3)),
        (1, 0.2, dict(level=2, drop_islands=40, strength=4)),
        (3, 0.1, dict(level=1, charge_distance=1)),
    ],
)
def test_random_objects(number, share, options):
    report = check(blobs(number, share), **options)
    assert report["components"] > 1


def test_components_in_cavities_of_others():
    report = check(shells())
    assert (report["components"], report["cavities_filled"]) == (2, 2)


def test_an_island_that_is_large_because_its_cavity_is_filled():
    """A hollow ball of fewer voxels than the limit stays, as its cavity counts."""
    mask = np.zeros((16, 16, 40), bool)
    mask[2:13, 2:13, 2:13] = True
    mask[3:12, 3:12, 3:12] = False
    mask[4:12, 4:12, 20:38] = mask[1, 1, 16] = True
    size = 11**3 - 9**3
    report = check(mask, drop_islands=size + 1)
    assert (report["components"], report["islands_dropped"]) == (2, 1)


def test_components_whose_boxes_overlap_and_an_object_that_fills_the_volume():
    tangled = np.zeros((12, 20, 20), bool)
    tangled[2:10, 2:18, 2:18] = True
    tangled[2:10, 4:16, 4:16] = False
    tangled[4:8, 6:14, 8:12] = True  # in the ring's box
    assert check(tangled)["components"] == 2
    full = check(np.ones((9, 8, 7), bool))
    assert any("fills the volume" in warning for warning in full["warnings"])


def test_a_run_that_was_ended_goes_on(tmp_path, monkeypatch):
    mask = blobs(0, 0.1)
    given, options = components_of(mask), SkeletonOptions(device="cpu")
    folder = tmp_path / "run"
    shares = []

    def until_half(share):
        shares.append(share)
        if share >= 0.5:
            with pytest.raises(InputError, match="in use by another run"):
                skeletonize_components(*given, SPACING, options=options, folder=folder)
        return share < 0.5

    with pytest.raises(Cancelled):
        skeletonize_components(*given, SPACING, options=options, folder=folder, progress=until_half)
    assert shares == sorted(shares)
    kept = len(list(folder.glob("skeleton-*.npz")))
    assert kept > 0
    with pytest.raises(InputError, match="unfinished run whose spacing differed"):
        skeletonize_components(*given, (1, 1, 1), options=options, folder=folder)
    monkeypatch.setattr(filled_components, "_read", lambda *_: pytest.fail("read again"))
    done = []
    put = component_folder.ComponentFolder.put_skeleton
    monkeypatch.setattr(
        component_folder.ComponentFolder,
        "put_skeleton",
        lambda self, number, skeleton: (done.append(number), put(self, number, skeleton)),
    )
    found = skeletonize_components(*given, SPACING, options=options, folder=folder)
    assert_same(found, skeletonize(mask, SPACING, options=options))
    assert len(done) + kept == found.report["components"]
    assert not folder.exists()


def test_a_damaged_intermediate_result(tmp_path, monkeypatch):
    given, folder = components_of(blobs(0, 0.1)), tmp_path / "run"
    options = SkeletonOptions(device="cpu")
    monkeypatch.setattr(labelled_skeleton._Large, "recall", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        skeletonize_components(*given, SPACING, options=options, folder=folder)
    (folder / "filled-1.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"filled-1.npz cannot be read"):
        skeletonize_components(*given, SPACING, options=options, folder=folder)


def test_a_component_that_is_too_large_is_named():
    mask = np.zeros((60, 60, 60), bool)
    mask[1:4, 1:4, 1:9] = mask[10:50, 10:50, 10:50] = True
    given = components_of(mask)
    limit = int(component_memory(*given[2:])[1]) - 1
    with pytest.raises(InputError, match=r"Component 2 of 64000 voxels .* \[10:50, 10:50, 10:50\]"):
        skeletonize_components(*given, memory_limit=limit)


def test_the_memory_of_a_component_is_below_the_estimate():
    for mask in (np.ones((50, 45, 40), bool), blobs(3, 0.2, 2.5, 48)):
        labels, sizes, low, high = components_of(mask)
        options = SkeletonOptions(device="cpu", level=3)
        own = np.ascontiguousarray(labels == 1 + np.argmax(sizes))
        tracemalloc.start()
        skeletonize(own, options=options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        estimate = component_memory(low, high).max()
        assert (estimate - WORKSPACE) / 3 < peak < estimate


def test_bad_input():
    labels, *boxes = components_of(blobs(0, 0.1))
    with pytest.raises(InputError, match="close_tunnels is 2"):
        skeletonize_components(labels, *boxes, options=SkeletonOptions(close_tunnels=2))
    with pytest.raises(InputError, match="hold no component 1 in its box"):
        skeletonize_components(np.zeros_like(labels), *boxes)
    with pytest.raises(InputError, match="box lies outside the labels"):
        skeletonize_components(labels[:5], *boxes)
    with pytest.raises(InputError, match="labelmap is empty"):
        skeletonize_components(labels, *(each[:0] for each in boxes))

    class Broken:
        shape, dtype = labels.shape, labels.dtype

        def __getitem__(self, box):
            raise OSError("chunk c/0/0/0 is gone")

    with pytest.raises(InputError, match=r"Component 1 cannot be read.*chunk c/0/0/0 is gone"):
        skeletonize_components(Broken(), *boxes)


def test_a_run_that_was_ended_while_it_tidied_up(tmp_path, monkeypatch):
    mask = np.zeros((5, 6, 20), np.uint8)
    mask[1:4, 1:4, 2:18] = 1
    given, unlink = (*components_of(mask), SPACING), step_folder.Path.unlink

    def ended(place, missing_ok=False):
        unlink(place, missing_ok)
        raise KeyboardInterrupt

    monkeypatch.setattr(step_folder.Path, "unlink", ended)
    with pytest.raises(KeyboardInterrupt):
        skeletonize_components(*given, folder=tmp_path / "kept")
    monkeypatch.undo()
    found = skeletonize_components(*given, folder=tmp_path / "kept")
    assert_same(found, skeletonize(mask, SPACING))
    assert not (tmp_path / "kept").exists()
