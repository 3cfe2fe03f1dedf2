"""The division among several vessels on CUDA: the CPU's, bit for bit, on evidence that stays."""

import numpy as np
import pytest

pytest.importorskip("numba")
from test_several_vessels import POINTS, Contrast, crossing

from FuzzyConnectedGPULib import segment_several
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyConnectedGPULib.contrast import contrast_model
from FuzzyConnectedGPULib.contrast.evidence.device_volume import DeviceVolume
from FuzzyConnectedGPULib.relative.cuda import contrast_owners
from FuzzyConnectedGPULib.relative.groups import DISPUTED
from FuzzyConnectedGPULib.several import several_vessels
from FuzzyConnectedGPULib.several.division import divide_by_contrast
from FuzzyVesselCoreLib.errors import Cancelled, DeviceError
from FuzzyVesselCoreLib.progress import Progress


class DeviceContrast(Contrast):
    """Evidence whose contrast is on a device."""

    device_bytes = 1

    def __init__(self, contrast, gpu):
        super().__init__(contrast)
        self.contrast = DeviceVolume(gpu.put(self.contrast), gpu)


def random_case(seed):
    """Contrasts with many ties, a scene with holes, points of several vessels, and background."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, (12, 20, 22)))
    contrast = rng.integers(-1, 5, shape) / rng.choice([1, 3])
    scene = (rng.random(shape) < 0.85).astype(np.float32)
    places = rng.permutation(scene.size)[: int(rng.integers(3, 9))]
    voxels = np.stack(np.unravel_index(places, shape), axis=1)
    scene[tuple(voxels.T)] = 1
    groups = {"a": voxels[:1], "b": voxels[1:2], "c": voxels[2:-1] if seed % 2 else voxels[2:]}
    background = voxels[-1:] if seed % 2 and len(voxels) > 3 else None
    if background is not None:
        scene[tuple(background.T)] = 0
    groups = {name: each for name, each in groups.items() if len(each)}
    return contrast, scene, groups, background


@pytest.mark.parametrize("seed", range(20))
def test_random_volumes_are_divided_as_on_the_cpu(interleaved_cuda, seed):
    contrast, scene, groups, background = random_case(seed)
    host = divide_by_contrast(Contrast(contrast), scene, groups, Progress(), background)
    with interleaved_cuda as gpu:
        evidence = DeviceContrast(contrast, gpu)
        ours = divide_by_contrast(evidence, scene, groups, Progress(), background, gpu)
    np.testing.assert_array_equal(ours, host)


def test_the_random_volumes_hold_disputed_voxels_and_several_vessels():
    disputed = 0
    for seed in range(20):
        contrast, scene, groups, background = random_case(seed)
        found = divide_by_contrast(Contrast(contrast), scene, groups, Progress(), background)
        disputed += np.count_nonzero(found == DISPUTED)
        assert len(np.unique(found)) > 2
    assert disputed > 20


@pytest.fixture
def on_cuda(cpu_cuda, monkeypatch):
    """The emulated device, which "cuda" and "auto" name."""
    for module in (contrast_model, several_vessels):
        monkeypatch.setattr(
            module, "choose_device", lambda word: "cpu" if word == "cpu" else cpu_cuda
        )
    return cpu_cuda


@pytest.mark.parametrize("background", [None, [(6, 1, 20)]])
def test_several_vessels_on_the_device_divide_there(on_cuda, monkeypatch, background):
    volume, kept, calls = crossing(), CachedConnectedness(), []
    owners = contrast_owners.owners_by_contrast
    monkeypatch.setattr(
        contrast_owners, "owners_by_contrast", lambda *a: calls.append(1) or owners(*a)
    )
    options = dict(device="cuda", background_seeds=background)
    ours = segment_several(volume, POINTS, cached=kept, **options)
    assert len(calls) == 1
    assert kept.on_device  # nothing of it was copied to the host
    evidence, scene = kept.evidence, ours.scene.values
    points = {name: np.array(each) for name, each in POINTS.items()}
    others = np.array(background or np.empty((0, 3), int))
    host = divide_by_contrast(evidence, scene, points, Progress(), others)
    if background:
        host[host == len(points) + 1] = several_vessels.BACKGROUND
    np.testing.assert_array_equal(ours.owners, host)
    again = segment_several(volume, POINTS, cached=kept, **options)
    np.testing.assert_array_equal(again.labels, ours.labels)


def test_a_device_that_fails_in_the_division_gives_way_to_the_cpu(on_cuda, monkeypatch):
    def fails(*_arguments):
        raise DeviceError("the device is lost")

    volume = crossing()
    monkeypatch.setattr(contrast_owners, "owners_by_contrast", fails)
    with pytest.raises(DeviceError, match="lost"):
        segment_several(volume, POINTS, device="cuda")
    ours = segment_several(volume, POINTS, device="auto")
    host = segment_several(volume, POINTS, device="cpu")
    np.testing.assert_array_equal(ours.labels, host.labels)


def test_the_division_can_be_cancelled(cpu_cuda):
    contrast, scene, groups, _ = random_case(3)
    overtaken = Progress(lambda _share: False)
    with cpu_cuda as gpu:
        evidence = DeviceContrast(contrast, gpu)
        with pytest.raises(Cancelled):
            divide_by_contrast(evidence, scene, groups, overtaken, None, gpu)
