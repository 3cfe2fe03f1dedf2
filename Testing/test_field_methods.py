"""Each way to sum the forces: on the CPU, its kernels on the CPU in both orders, on a real card."""

import tracemalloc

import numpy as np
import pytest

from cuda_on_cpu import CpuCudaDevice
from FuzzyVesselCommon.errors import Cancelled, DeviceError, InputError
from PotentialSkeletonLib import FORCE_METHODS, force_field
from PotentialSkeletonLib.field_methods import (
    CPU_METHODS,
    CUDA_METHODS,
    cheapest,
    direct_cuda,
    direct_serial,
    distance_bands,
    fft_convolution,
)
from PotentialSkeletonLib.solids import label_components, solids
from solid_shapes import ball, box_corner, largest_error, summed_forces, two_components, wavy_tube

DIRECT_ON_CUDA = ("cuda-simple", "cuda-constant", "cuda-shared")
CUDA_ALONE = [method for method in CUDA_METHODS if method not in CPU_METHODS]


def nothing(fraction):
    pass


def solid_of(mask):
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    return solid


def assert_exact(forces, mask, strength):
    """Against the definition, in the box that the mask fills (no margin)."""
    solid = solid_of(mask)
    expected, lengths = summed_forces(mask[solid.box], strength)
    vectors = np.zeros_like(expected)
    vectors.reshape(-1, 3)[solid.points] = forces
    assert largest_error(vectors, expected, lengths) < 1e-9


@pytest.mark.parametrize("strength", range(2, 10))
@pytest.mark.parametrize("mask", [wavy_tube((40, 22, 24)), box_corner()], ids=["tube", "corner"])
@pytest.mark.parametrize("method", [direct_serial, fft_convolution])
def test_methods_on_the_cpu_are_exact(method, mask, strength):
    assert_exact(method.sum_forces(solid_of(mask), strength, nothing), mask, strength)


@pytest.mark.parametrize("strength", [2, 3, 6, 9])
@pytest.mark.parametrize("variant", DIRECT_ON_CUDA)
def test_kernels_of_the_direct_sum_are_exact(cpu_cuda, variant, strength):
    mask = wavy_tube((24, 18, 20))
    forces, launch = direct_cuda.sum_forces(solid_of(mask), strength, nothing, cpu_cuda, variant)
    assert_exact(forces, mask, strength)
    assert launch.threads % 32 == 0
    assert 0 < launch.occupancy <= 1


@pytest.mark.parametrize("variant", DIRECT_ON_CUDA)
def test_charges_and_points_are_summed_in_parts(cpu_cuda, variant, monkeypatch):
    monkeypatch.setattr(direct_cuda, "CHARGES", 100)  # no multiple of a block
    cpu_cuda.properties["multiProcessorCount"] = 1
    cpu_cuda.properties["maxThreadsPerMultiProcessor"] = 128
    mask = wavy_tube((24, 18, 20))
    before = cpu_cuda.launches
    forces, launch = direct_cuda.sum_forces(solid_of(mask), 6, nothing, cpu_cuda, variant)
    assert launch.wave == 128
    solid = solid_of(mask)
    parts = -(-solid.points.size // 128) * -(-len(solid.charges) // 100)
    assert cpu_cuda.launches - before == parts > 20
    assert_exact(forces, mask, 6)


def test_blocks_that_do_not_fit_are_named(cpu_cuda):
    with pytest.raises(DeviceError, match="cuda-shared with 2048 threads"):
        direct_cuda.Launch(cpu_cuda, 6, "cuda-shared", threads=2048)


@pytest.mark.parametrize("strength", [2, 3, 6, 9])
def test_convolution_on_cuda_is_exact(cpu_cuda, strength):
    mask = wavy_tube((40, 22, 24))
    forces = fft_convolution.sum_forces(solid_of(mask), strength, nothing, cpu_cuda)
    assert_exact(forces, mask, strength)


def test_convolution_in_many_slabs_is_the_same(monkeypatch, cpu_cuda):
    solid = solid_of(wavy_tube((40, 22, 24)))
    for gpu, backend in ((None, fft_convolution.OnCpu), (cpu_cuda, fft_convolution.OnCuda)):
        whole = fft_convolution.sum_forces(solid, 6, nothing, gpu)
        monkeypatch.setattr(backend, "slab", 1)
        np.testing.assert_array_equal(fft_convolution.sum_forces(solid, 6, nothing, gpu), whole)


def test_both_kinds_of_kernel_have_the_same_planes(cpu_cuda):
    for component in range(3):
        planes = [
            backend.kernel(slice(2, 7), (9, 12), component, cut=3)
            for backend in (fft_convolution.OnCpu(6), fft_convolution.OnCuda(6, cpu_cuda))
        ]
        np.testing.assert_allclose(planes[1], planes[0], rtol=1e-14)


def test_bands_hold_every_point_once_and_no_charge_is_near():
    mask = ball(20)
    solid = solid_of(mask)
    bands = list(distance_bands.distance_bands(solid, 9))
    assert len(bands) > 1
    members = np.concatenate([members for _, members in bands])
    np.testing.assert_array_equal(np.sort(members), np.arange(solid.points.size))
    for cut, members in bands:
        for position in solid.positions(members):
            assert np.abs(solid.charges - position).max(axis=1).min() >= cut


def test_bands_keep_the_convolution_exact_deep_inside(monkeypatch):
    # One band alone would lose the middle of a thick object to rounding.
    solid = solid_of(wavy_tube((90, 100, 100), fill=0.5))
    deepest = np.flatnonzero(solid.free_layers(16))[::50]
    exact = direct_serial.sum_at(solid.positions(deepest), solid.charges, 9, nothing)
    size = np.linalg.norm(exact, axis=1)

    def error():
        forces = fft_convolution.sum_forces(solid, 9, nothing)[deepest]
        return (np.linalg.norm(forces - exact, axis=1) / size).max()

    assert error() < 1e-8
    monkeypatch.setattr(distance_bands, "WEAKEST", 1e99)
    assert error() > 1e-6


@pytest.mark.parametrize("share", ["all", "some", "none"])
def test_auto_is_exact_whatever_it_chooses(share, monkeypatch, cpu_cuda):
    monkeypatch.setattr(distance_bands, "WEAKEST", 1e3)
    mask = wavy_tube((30, 20, 22))
    solid = solid_of(mask)
    sizes = sorted(members.size for _, members in distance_bands.distance_bands(solid, 9))
    most = {"all": sizes[-1], "some": (sizes[0] + sizes[-1]) / 2, "none": 0}[share]
    padded = np.prod(fft_convolution.padded_shape(solid.classes.shape))
    for gpu, kind in ((None, "CPU"), (cpu_cuda, "CUDA")):
        pairs = most * len(solid.charges) / padded
        monkeypatch.setattr(cheapest, f"PAIRS_A_VOXEL_ON_{kind}", pairs)
        forces, convolved, launch = cheapest.sum_forces(solid, 9, nothing, gpu)
        assert_exact(forces, mask, 9)
        assert (convolved > 0) == (share != "all")
        assert (convolved < solid.points.size) == (share != "none")
        assert (launch is not None) == (gpu is not None and share != "none")


def test_auto_takes_the_direct_sum_for_the_smallest_and_the_convolution_for_the_largest():
    assert force_field(ball(4), device="cpu").method == "direct-serial"
    assert force_field(ball(24), device="cpu").method == "fft"


def test_auto_needs_no_numba(monkeypatch):
    monkeypatch.setattr(cheapest, "find_spec", lambda name: None)
    assert force_field(ball(4), device="cpu").method == "fft"


def test_auto_says_where_two_methods_shared_the_work():
    mask = np.zeros((60, 60, 75), bool)
    mask[5:54, 5:54, 2:51] = ball(24, margin=0)
    mask[20:27, 20:27, 60:67] = True
    field = force_field(mask, device="cpu")
    assert field.method == "fft"
    assert "27 directly" in field.notes[0]


@pytest.mark.parametrize("method", CPU_METHODS)
def test_every_method_gives_the_same_field(method):
    mask = two_components()
    field = force_field(mask, method=method, device="cpu")
    expected = force_field(mask, method="direct-serial", device="cpu")
    np.testing.assert_allclose(field.vectors, expected.vectors, rtol=1e-6, atol=1e-13)
    assert field.device == "cpu"
    assert field.method in ("fft", "direct-serial")
    assert field.threads_per_block is None
    assert set(field.seconds) == {"prepare", "classify", "sum", "boundary"}


@pytest.mark.parametrize("method", CUDA_ALONE)
def test_methods_of_cuda_refuse_the_cpu(method):
    with pytest.raises(InputError, match="CUDA only"):
        force_field(ball(4), method=method, device="cpu")


def test_the_serial_method_refuses_cuda():
    with pytest.raises(InputError, match="CPU only"):
        force_field(ball(4), method="direct-serial", device="cuda")


def test_methods_are_described():
    assert set(FORCE_METHODS) == {*CPU_METHODS, *CUDA_METHODS}
    assert all(FORCE_METHODS.values())


# The face on a card that the CPU plays -----------------------------------------------------------


@pytest.fixture
def played(monkeypatch, cpu_cuda):
    """`force_field` takes the CPU for a card."""
    import sys

    module = sys.modules["PotentialSkeletonLib.force_field"]
    monkeypatch.setattr(module, "choose_device", lambda name: "cpu" if name == "cpu" else cpu_cuda)
    return cpu_cuda


@pytest.mark.parametrize("method", CUDA_METHODS)
def test_the_field_on_cuda_equals_the_cpus(played, method):
    mask = two_components()
    field = force_field(mask, method=method)
    expected = force_field(mask, method="direct-serial")
    np.testing.assert_allclose(field.vectors, expected.vectors, rtol=1e-6, atol=1e-13)
    assert field.device == played.name
    if field.method != "fft":
        assert field.threads_per_block % 32 == 0
        assert 0 < field.occupancy <= 1


def test_auto_falls_back_to_the_cpu_where_the_cards_memory_is_short(played):
    played._memory = 1 << 20
    mask = ball(24)
    with pytest.raises(DeviceError, match="too little memory for the convolution"):
        force_field(mask, device="cuda")
    with pytest.warns(UserWarning, match="too little memory"):
        field = force_field(mask)
    assert field.device == "cpu"
    assert "too little memory" in field.notes[0]


@pytest.mark.parametrize("method", CUDA_METHODS)
def test_cancelling_ends_a_run_on_cuda(played, method):
    seen = []
    with pytest.raises(Cancelled):
        force_field(ball(12), method=method, progress=lambda f: seen.append(f) or len(seen) < 2)
    assert len(seen) == 2


def test_constant_memory_takes_no_more_than_it_holds():
    with CpuCudaDevice() as device:
        launch = direct_cuda.Launch(device, 6, "cuda-constant")
        charges = device.put(np.zeros((direct_cuda.CHARGES + 1, 3)))
        points = device.put(np.zeros((1, 3), np.int32))
        with pytest.raises(Exception, match="do not fit charges"):
            launch(points, charges, device.xp.zeros((1, 3)))


def test_the_convolutions_memory_is_estimated():
    solid = solid_of(wavy_tube((150, 100, 100)))
    tracemalloc.start()
    fft_convolution.sum_forces(solid, 6, nothing)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = fft_convolution.needed_bytes(solid.classes.shape, on_cuda=False)
    assert 0.7 * peak < estimate < 1.5 * peak


# On a real card ----------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("strength", range(2, 10))
@pytest.mark.parametrize("method", [*DIRECT_ON_CUDA, "fft"])
@pytest.mark.filterwarnings("ignore:At strength 2")
def test_a_card_gives_the_serial_field(method, strength):
    mask = wavy_tube((90, 40, 44))
    field = force_field(mask, strength, method=method, device="cuda")
    expected = force_field(mask, strength, method="direct-serial")
    inner = field.classes == 3
    error = np.linalg.norm(field.vectors[inner] - expected.vectors[inner], axis=1)
    assert (error <= 1e-6 * np.linalg.norm(expected.vectors[inner], axis=1)).all()
    assert field.device.startswith("cuda:0")
    assert field.peak_bytes > 0


@pytest.mark.gpu
@pytest.mark.parametrize("method", CUDA_METHODS)
def test_a_card_repeats_itself_bit_for_bit(method):
    fields = [force_field(two_components(), method=method, device="cuda") for _ in range(5)]
    for field in fields[1:]:
        np.testing.assert_array_equal(field.vectors, fields[0].vectors)


@pytest.mark.gpu
@pytest.mark.parametrize("method", CUDA_METHODS)
def test_a_card_gives_its_memory_back_when_cancelled(method):
    import cupy

    force_field(ball(20), method=method, device="cuda")
    before = cupy.cuda.Device(0).mem_info[0]
    with pytest.raises(Cancelled):
        force_field(ball(20), method=method, device="cuda", progress=lambda f: f == 0)
    assert cupy.cuda.Device(0).mem_info[0] >= before
