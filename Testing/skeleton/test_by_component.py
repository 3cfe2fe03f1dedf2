"""The skeleton of numbered components, one in memory at a time, is that of the whole."""

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import SkeletonOptions, assembly, skeletonize
from PotentialSkeletonLib.by_component import skeletonize_components

SPACING = (2.0, 0.7, 0.9)


def numbered(mask):
    labels, count = ndimage.label(mask, np.ones((3, 3, 3)))
    boxes = ndimage.find_objects(labels)
    low, high = (np.array([[getattr(s, e) for s in b] for b in boxes]) for e in ("start", "stop"))
    return labels.astype(np.uint32), np.bincount(labels.ravel())[1 : count + 1], low, high


def same(mask, **options):
    whole = skeletonize(mask, SPACING, device="cpu", **options)
    chosen = SkeletonOptions(device="cpu", **options)
    found = skeletonize_components(*numbered(mask), SPACING, options=chosen)
    assert np.array_equal(found.voxels, whole.voxels)
    assert [b.points.tolist() for b in found.branches] == [
        b.points.tolist() for b in whole.branches
    ]
    assert [b.radius.tolist() for b in found.branches] == [
        b.radius.tolist() for b in whole.branches
    ]
    reports = [{k: v for k, v in each.report.items() if k != "seconds"} for each in (found, whole)]
    assert reports[0] == reports[1]
    return found


@pytest.mark.parametrize(("number", "share"), [(0, 0.2), (1, 0.35), (2, 0.5)])
def test_random_objects(number, share):
    noise = ndimage.gaussian_filter(np.random.default_rng(number).random((18, 20, 22)), 1)
    same(noise > np.quantile(noise, 1 - share))


def test_components_in_cavities_and_islands():
    mask = np.zeros((15, 15, 40), bool)
    mask[1:12, 1:12, 1:12] = True
    mask[3:10, 3:10, 3:10] = False
    mask[5:7, 5:7, 5:7] = True  # in the cavity
    mask[6:8, 6:8, 15:38] = True
    mask[13, 13, 39] = True  # an island
    assert same(mask).report["components"] == 3
    assert same(mask, drop_islands=5).report["islands_dropped"] == 1


def test_an_interrupted_run_is_resumed(tmp_path, monkeypatch):
    mask = np.zeros((9, 9, 60), bool)
    for start in (1, 21, 41):
        mask[3:6, 3:6, start : start + 15] = True
    original, done = assembly.skeletonize_component, []

    def failing(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(1)
        return original(*arguments)

    monkeypatch.setattr(assembly, "skeletonize_component", failing)
    with pytest.raises(KeyboardInterrupt):
        skeletonize_components(*numbered(mask), folder=tmp_path / "run")
    done[:] = [1]
    found = skeletonize_components(*numbered(mask), folder=tmp_path / "run")
    assert len(done) == 2
    monkeypatch.undo()
    assert np.array_equal(found.voxels, skeletonize(mask).voxels)
    assert not (tmp_path / "run").exists()


def test_bad_input_is_named():
    labels, sizes, low, high = numbered(np.pad(np.ones((3, 3, 9), bool), 1))
    calls = [
        ((labels, sizes, low, high), {"options": SkeletonOptions(close_tunnels=2)}, "a whole"),
        ((labels[0], sizes, low, high), {}, "K x J x I"),
        ((labels, sizes[:0], low[:0], high[:0]), {}, "empty"),
        ((labels, sizes, high, low), {}, "low below high"),
        ((labels, sizes, low, high + 9), {}, "outside the labels"),
        ((labels * 2, sizes, low, high), {}, "no component 1"),
        ((labels, sizes, low, high), {"memory_limit": 1000}, "above the limit"),
    ]
    for given, options, message in calls:
        with pytest.raises(InputError, match=message):
            skeletonize_components(*given, **options)
