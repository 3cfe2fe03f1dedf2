"""Each way to sum the forces: on the CPU, its kernels on the CPU in both orders, on a real card."""

import sys
import tracemalloc

import numpy as np
import pytest
from scipy import fft

from emulators.cuda import EmulatedDevice
from FuzzyVesselCoreLib.errors import Cancelled, DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import label_components
from FuzzyVesselCoreLib.voxels.cube_morphology import erode
from PotentialSkeletonLib import FORCE_METHODS, force_field
from PotentialSkeletonLib.field.convolution import cpu_transforms, cuda_lines, cuda_transforms
from PotentialSkeletonLib.field.convolution.fft_padding import Sizes
from PotentialSkeletonLib.field.convolution.kernel_spectra import KernelSpectra
from PotentialSkeletonLib.field.cuda_solid import CudaSolid
from PotentialSkeletonLib.field.methods import (
    CPU_METHODS,
    CUDA_METHODS,
    automatic,
    direct_cuda,
    direct_serial,
    distance_bands,
    fft_convolution,
)
from PotentialSkeletonLib.field.neighbour_mean import average_boundary
from PotentialSkeletonLib.field.solid import solids
from support.card_memory import lost_memory
from support.solid_shapes import (
    ball,
    box_corner,
    largest_error,
    summed_forces,
    two_components,
    wavy_tube,
)

DIRECT_ON_CUDA = ("cuda-simple", "cuda-constant", "cuda-shared")
CUDA_ALONE = [method for method in CUDA_METHODS if method not in CPU_METHODS]


def solid_of(mask, gpu=None):
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    return solid if gpu is None else CudaSolid(gpu.put(solid.object.view(np.uint8)), 0, gpu)


def summed(method, mask, strength, *options, gpu=None):
    """The forces in the box that the mask fills; float64 where the method keeps it."""
    solid = solid_of(mask, gpu)
    vectors = np.zeros((*solid.classes.shape, 3), np.float64 if gpu is None else np.float32)
    result = method.sum_forces(solid, strength, vectors, Progress(), *options)
    return vectors, result


def assert_exact(vectors, mask, strength):
    """Against the definition, in the box that the mask fills (no margin)."""
    expected, lengths = summed_forces(mask[solid_of(mask).box], strength)
    bound = 1e-9 if vectors.dtype == np.float64 else 2e-7
    assert largest_error(vectors, expected, lengths) < bound


@pytest.mark.parametrize("strength", range(2, 10))
@pytest.mark.parametrize("mask", [wavy_tube((40, 22, 24)), box_corner()], ids=["tube", "corner"])
@pytest.mark.parametrize("method", [direct_serial, fft_convolution])
def test_methods_on_the_cpu_are_exact(method, mask, strength):
    assert_exact(summed(method, mask, strength)[0], mask, strength)


@pytest.mark.parametrize("strength", [2, 3, 6, 9])
@pytest.mark.parametrize("variant", DIRECT_ON_CUDA)
def test_kernels_of_the_direct_sum_are_exact(cpu_cuda, variant, strength):
    mask = wavy_tube((24, 18, 20))
    vectors, result = summed(direct_cuda, mask, strength, cpu_cuda, variant, gpu=cpu_cuda)
    assert_exact(vectors, mask, strength)
    assert result.launch.threads % 32 == 0
    assert 0 < result.launch.occupancy <= 1


@pytest.mark.parametrize("variant", DIRECT_ON_CUDA)
def test_charges_and_points_are_summed_in_parts(cpu_cuda, variant, monkeypatch):
    monkeypatch.setattr(direct_cuda, "CHARGES_PER_LAUNCH", 100)  # no multiple of a block
    cpu_cuda.properties["multiProcessorCount"] = 1
    cpu_cuda.properties["maxThreadsPerMultiProcessor"] = 128
    mask = wavy_tube((24, 18, 20))
    solid = solid_of(mask, cpu_cuda)
    points, charges = np.count_nonzero(solid.targets), len(solid.charges)
    vectors = np.zeros((*solid.classes.shape, 3), np.float32)
    before = cpu_cuda.launches
    result = direct_cuda.sum_forces(solid, 6, vectors, Progress(), cpu_cuda, variant)
    assert result.launch.wave == 128
    parts = -(-points // 128) * -(-charges // 100)
    assert cpu_cuda.launches - before == parts > 20
    assert_exact(vectors, mask, 6)


def test_blocks_that_do_not_fit_are_named(cpu_cuda):
    with pytest.raises(DeviceError, match="cuda-shared with 2048 threads"):
        direct_cuda.Launch(cpu_cuda, 6, "cuda-shared", threads=2048)


@pytest.mark.parametrize("strength", [2, 3, 6, 9])
def test_convolution_on_cuda_is_exact(cpu_cuda, strength):
    mask = wavy_tube((40, 22, 24))
    vectors, result = summed(fft_convolution, mask, strength, cpu_cuda, gpu=cpu_cuda)
    assert_exact(vectors, mask, strength)
    assert not result.on_host


@pytest.mark.parametrize("depth", [110, 250])
def test_the_convolution_in_one_pass_along_k_is_exact(cpu_cuda, depth):
    mask = wavy_tube((depth, 12, 14))
    assert Sizes(solid_of(mask).classes.shape, on_device=True).padded[0] in cuda_lines.LINE_SIZES
    vectors, _ = summed(fft_convolution, mask, 6, cpu_cuda, gpu=cpu_cuda)
    assert_exact(vectors, mask, 6)


def numbers(gpu, *shape):
    random = np.random.default_rng(0)
    return gpu.put(random.normal(size=shape) + 1j * random.normal(size=shape))


def lines_and_cufft(gpu, size):
    """The components of one group of columns, by `lines.cu` and by cuFFT."""
    sizes = Sizes((size // 2, 3, 5), on_device=True)
    sizes.padded = size, 6, 8  # rows that fill no block
    transforms = cuda_transforms.CudaTransforms(sizes, 6, gpu)
    kernel = KernelSpectra(sizes.padded, 1, transforms)
    kernel.begin(slice(0, size // 2 + 1))
    columns, some = numbers(gpu, size // 2, 3, 5).swapaxes(1, 2), slice(0, 5)
    found = [np.array(part) for part in transforms.convolved(columns, kernel, some)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transforms, "_lines", None)
        return found, [np.array(part) for part in transforms.convolved(columns, kernel, some)]


@pytest.mark.parametrize("size", cuda_lines.LINE_SIZES)
def test_lines_are_convolved_as_by_cufft(cpu_cuda, size):
    for part, other in zip(*lines_and_cufft(cpu_cuda, size), strict=True):
        np.testing.assert_allclose(part, other, rtol=0, atol=1e-14 * abs(other).max())


def test_lines_have_no_races(interleaved_cuda):
    for part, other in zip(*lines_and_cufft(interleaved_cuda, 256), strict=True):
        np.testing.assert_allclose(part, other, rtol=0, atol=1e-14 * abs(other).max())


def test_roots_of_unity_are_exact():
    for size in cuda_lines.LINE_SIZES:
        roots = cuda_lines.roots_of_unity(size)
        exact = np.exp(-2j * np.arange(size) * np.arccos(np.longdouble(-1)) / size)
        assert abs(roots - exact).max() < 1.6e-16


def test_the_convolution_in_many_groups_is_the_same(monkeypatch):
    mask = wavy_tube((40, 22, 24))
    whole, _ = summed(fft_convolution, mask, 6)
    monkeypatch.setattr(cpu_transforms.CpuTransforms, "group", 1)
    parts, _ = summed(fft_convolution, mask, 6)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-18)


def test_transforms_need_not_be_done_in_place(monkeypatch):
    mask = wavy_tube((40, 22, 24))
    whole, _ = summed(fft_convolution, mask, 6)
    in_place, calls = fft.fft, []

    def elsewhere(x, axis, overwrite_x):
        calls.append(overwrite_x)
        return in_place(x, axis=axis)

    monkeypatch.setattr(fft, "fft", elsewhere)
    found, _ = summed(fft_convolution, mask, 6)
    assert any(calls)
    np.testing.assert_array_equal(found, whole)


def test_a_gpu_of_little_memory_works_in_parts(cpu_cuda):
    mask = wavy_tube((40, 22, 24))
    whole, _ = summed(fft_convolution, mask, 6, cpu_cuda, gpu=cpu_cuda)
    sizes = Sizes(solid_of(mask).classes.shape, on_device=True)
    group = sizes.smallest_group * sizes.bytes_per_number
    waits = []
    for memory in (2 * sizes.waiting_bytes + group, sizes.waiting_bytes, group):
        cpu_cuda._memory = int(memory / cuda_transforms.USABLE_SHARE) + 1
        before = cpu_cuda.launches
        parts, result = summed(fft_convolution, mask, 6, cpu_cuda, gpu=cpu_cuda)
        waits.append(result.on_host)
        assert cpu_cuda.launches - before > 20
        np.testing.assert_allclose(parts, whole, rtol=1e-6, atol=1e-18)
    assert waits == [False, True, True]
    cpu_cuda._memory = group // 2
    with pytest.raises(DeviceError, match="too little memory for the convolution"):
        summed(fft_convolution, mask, 6, cpu_cuda, gpu=cpu_cuda)


def test_what_leaves_no_room_for_one_column_waits_in_the_hosts_memory(cpu_cuda):
    plate = np.ones((40, 22, 3), bool)
    whole, _ = summed(fft_convolution, plate, 6, cpu_cuda, gpu=cpu_cuda)
    sizes = Sizes(plate.shape, on_device=True)
    column = sizes.smallest_group * sizes.bytes_per_number
    assert sizes.waiting_bytes < column / 2
    for memory in (column, column + sizes.waiting_bytes):
        cpu_cuda._memory = int(memory / cuda_transforms.USABLE_SHARE) + 1
        parts, result = summed(fft_convolution, plate, 6, cpu_cuda, gpu=cpu_cuda)
        assert result.on_host == (memory == column)
        np.testing.assert_allclose(parts, whole, rtol=1e-6, atol=1e-18)


@pytest.mark.parametrize("side", [1, 3, 5, 7])
def test_few_planes_tell_where_no_cube_is(side):
    random = np.random.default_rng(side)
    for density in (0.8, 0.97, 0.995):
        mask = random.random((17, 11, 13)) < density
        held = erode(mask, side // 2).any()
        assert distance_bands.may_hold_cube(mask, side) or not held
    assert distance_bands.may_hold_cube(np.ones((7, 7, 7), bool), side)
    assert not distance_bands.may_hold_cube(np.ones((6, 40, 40), bool), 7)
    assert not distance_bands.may_hold_cube(np.zeros((9, 9, 9), bool), side)


def test_sizes_are_large_enough_and_those_along_k_suit_the_card():
    for depth in (2, 9, 61, 100, 487):
        least = 2 * depth - 3
        on_device, on_cpu = (Sizes((depth, 9, 14), on_device).padded for on_device in (True, False))
        assert on_device[1:] == on_cpu[1:]
        assert least <= on_cpu[0] <= on_device[0] <= 2 * least + 2
        assert on_device[0] % 2 == 0
        assert on_device[0] % 5


def test_both_kinds_of_rows_are_the_same(cpu_cuda):
    sizes = Sizes((12, 9, 14))
    cpu = cpu_transforms.CpuTransforms(sizes, 6)
    cuda = cuda_transforms.CudaTransforms(sizes, 6, cpu_cuda)
    kernel = cpu.empty_kernel(3)
    rows = [kernel.rows(slice(None))[kernel.place[2:7]], cuda.kernel_rows(slice(2, 7), 3)]
    np.testing.assert_allclose(*(np.delete(r, sizes.padded[2] // 2, axis=2) for r in rows), 1e-14)
    classes = np.random.default_rng(0).integers(0, 4, sizes.shape, np.uint8)
    rows = [each.charge_rows(classes, slice(3, 8), 0.5) for each in (cpu, cuda)]
    np.testing.assert_array_equal(rows[1][:, :, :14], rows[0])
    assert not rows[1][:, :, 14:].any()


@pytest.mark.parametrize("charge_distance", [0, 1, 3])
@pytest.mark.parametrize("mask", [wavy_tube((24, 18, 20)), box_corner()], ids=["tube", "corner"])
def test_solids_on_the_card_are_the_same(cpu_cuda, mask, charge_distance):
    [(_, solid)] = solids(label_components(mask)[0], charge_distance)
    on_device = CudaSolid(cpu_cuda.put(solid.object.view(np.uint8)), charge_distance, cpu_cuda)
    for name in ("classes", "targets", "is_free", "charges"):
        np.testing.assert_array_equal(getattr(on_device, name), getattr(solid, name))


def test_boundary_voxels_on_the_card_have_the_same_mean(cpu_cuda):
    mask = box_corner()
    solid, on_device = solid_of(mask), solid_of(mask, cpu_cuda)
    forces = np.random.default_rng(0).random((*mask.shape, 3), np.float32)

    def fill(solid, vectors, progress):
        vectors[solid.targets] = forces[solid.targets]

    vectors = np.zeros_like(forces)
    fill(solid, vectors, None)
    average_boundary(solid.classes, vectors)
    np.testing.assert_array_equal(on_device.forces(fill), vectors)


def test_bands_hold_every_point_once_and_no_charge_is_near(monkeypatch, cpu_cuda):
    monkeypatch.setattr(distance_bands, "MAX_RATIO", 1e5)
    mask = ball(20)
    solid = solid_of(mask)
    bands = list(distance_bands.distance_bands(solid, 9))
    assert len(bands) > 1
    np.testing.assert_array_equal(sum(members.astype(int) for _, members in bands), solid.targets)
    for cut, members in bands:
        for position in solid.positions(members):
            assert np.abs(solid.charges - position).max(axis=1).min() >= cut
    on_device = list(distance_bands.distance_bands(solid_of(mask, cpu_cuda), 9))
    for (cut, members), (cut_there, members_there) in zip(bands, on_device, strict=True):
        assert cut == cut_there
        np.testing.assert_array_equal(members_there, members)


def test_bands_keep_the_convolution_exact_deep_inside(monkeypatch):
    # One band alone would lose the middle of a thick object to rounding.
    solid = solid_of(wavy_tube((90, 100, 100), fill=0.5))
    deepest = solid.positions(erode(solid.is_free, 16))[::50]
    exact = direct_serial.sum_at(deepest, solid.charges, 9, Progress())
    size = np.linalg.norm(exact, axis=1)

    def error():
        vectors = np.zeros((*solid.classes.shape, 3))
        fft_convolution.sum_forces(solid, 9, vectors, Progress())
        return (np.linalg.norm(vectors[tuple(deepest.T)] - exact, axis=1) / size).max()

    assert error() < 1e-7
    monkeypatch.setattr(distance_bands, "MAX_RATIO", 1e99)
    assert error() > 1e-6


@pytest.mark.parametrize("share", ["all", "some", "none"])
def test_auto_is_exact_whatever_it_chooses(share, monkeypatch, cpu_cuda):
    monkeypatch.setattr(distance_bands, "MAX_RATIO", 1e3)
    mask = wavy_tube((30, 20, 22))
    solid = solid_of(mask)
    sizes = sorted(members.sum() for _, members in distance_bands.distance_bands(solid, 9))
    most = {"all": sizes[-1], "some": (sizes[0] + sizes[-1]) / 2, "none": 0}[share]
    for gpu, kind in ((None, "CPU"), (cpu_cuda, "CUDA")):
        padded = np.prod(Sizes(solid.classes.shape, on_device=gpu is not None).padded)
        pairs = most * len(solid.charges) / padded
        monkeypatch.setattr(automatic, f"PAIRS_PER_VOXEL_ON_{kind}", pairs)
        vectors, result = summed(automatic, mask, 9, gpu, gpu=gpu)
        assert_exact(vectors, mask, 9)
        assert result.convolved + result.direct == np.count_nonzero(solid.targets)
        assert (result.convolved > 0) == (share != "all")
        assert (result.direct > 0) == (share != "none")
        assert (result.launch is not None) == (gpu is not None and share != "none")


def test_auto_takes_the_direct_sum_for_the_smallest_and_the_convolution_for_the_largest():
    assert force_field(ball(4), device="cpu").method == "direct-serial"
    assert force_field(ball(24), device="cpu").method == "fft"


def test_a_missing_numba_is_named(monkeypatch):
    for name in ("scatter", "neighbour_mean"):
        monkeypatch.delitem(sys.modules, f"PotentialSkeletonLib.field.{name}", raising=False)
    monkeypatch.delitem(sys.modules, "FuzzyVesselCoreLib.jit.decorators")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(DeviceError, match="pip install numba"):
        force_field(ball(4), device="cpu")


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
    assert set(field.seconds) == {"prepare", "classify", "sum", "boundary", "place"}


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
    module = sys.modules["PotentialSkeletonLib.field.force_field"]
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
    played._memory = 1 << 16
    mask = ball(24)
    with pytest.raises(DeviceError, match="too little memory for the convolution"):
        force_field(mask, device="cuda")
    with pytest.warns(UserWarning, match="too little memory"):
        field = force_field(mask)
    assert field.device == "cpu"
    assert "too little memory" in field.notes[0]


def test_that_the_hosts_memory_helps_out_is_said(played):
    mask = ball(24)
    whole = force_field(mask, device="cuda")
    played._memory = 2 << 20
    field = force_field(mask, device="cuda")
    assert not whole.notes
    assert "waited in the computer's memory" in field.notes[0]
    np.testing.assert_allclose(field.vectors, whole.vectors, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("method", CUDA_METHODS)
def test_cancelling_ends_a_run_on_cuda(played, method):
    seen = []
    with pytest.raises(Cancelled):
        force_field(ball(12), method=method, progress=lambda f: seen.append(f) or len(seen) < 2)
    assert len(seen) == 2


def test_constant_memory_takes_no_more_than_it_holds():
    with EmulatedDevice() as device:
        launch = direct_cuda.Launch(device, 6, "cuda-constant")
        charges = device.put(np.zeros((direct_cuda.CHARGES_PER_LAUNCH + 1, 3)))
        points = device.put(np.zeros((1, 3), np.int32))
        with pytest.raises(Exception, match="do not fit charges"):
            launch(points, charges, device.xp.zeros((1, 3)))


def test_the_convolutions_memory_is_estimated():
    solid = solid_of(wavy_tube((150, 100, 100)))
    tracemalloc.start()
    vectors = np.zeros((*solid.classes.shape, 3), np.float32)
    fft_convolution.sum_forces(solid, 6, vectors, Progress())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = Sizes(solid.classes.shape).waiting_bytes
    assert 0.7 * peak < estimate + vectors.nbytes < 1.3 * peak


# On a real card ----------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("strength", range(2, 10))
@pytest.mark.parametrize("method", [*DIRECT_ON_CUDA, "fft"])
@pytest.mark.filterwarnings("ignore:At strength 2")
def test_a_gpu_gives_the_serial_field(method, strength):
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
def test_a_gpu_repeats_itself_bit_for_bit(method):
    fields = [force_field(two_components(), method=method, device="cuda") for _ in range(5)]
    for field in fields[1:]:
        np.testing.assert_array_equal(field.vectors, fields[0].vectors)


@pytest.mark.gpu
@pytest.mark.parametrize("method", CUDA_METHODS)
def test_a_gpu_gives_its_memory_back_when_cancelled(method):
    force_field(ball(20), method=method, device="cuda")

    def cancelled():
        with pytest.raises(Cancelled):
            force_field(ball(20), method=method, device="cuda", progress=lambda f: f == 0)

    assert lost_memory(cancelled) == 0


@pytest.mark.gpu
def test_a_gpu_whose_memory_is_short_gives_the_same_field(monkeypatch):
    mask = wavy_tube((200, 90, 94))
    whole = force_field(mask, method="fft", device="cuda")
    sizes = Sizes(solid_of(mask).classes.shape, on_device=True)
    for memory in (sizes.waiting_bytes, 3 * sizes.smallest_group * sizes.bytes_per_number):
        monkeypatch.setattr(CudaDevice, "free_memory", lambda self, memory=memory: memory)
        field = force_field(mask, method="fft", device="cuda")
        assert "waited in the computer's memory" in field.notes[0]
        np.testing.assert_allclose(field.vectors, whole.vectors, rtol=1e-6, atol=1e-13)
