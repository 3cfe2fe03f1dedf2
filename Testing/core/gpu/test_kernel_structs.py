"""Structs that are passed to kernels by value, filled by the names of their fields."""

import numpy as np
import pytest

from emulators.cuda import EmulatedDevice, KernelFault, what_is_missing
from FuzzyVesselCoreLib.gpu.kernel_structs import struct_layout

needs_compiler = pytest.mark.skipif(bool(what_is_missing()), reason=str(what_is_missing()))

SOURCE = """
typedef unsigned short u16;
// struct Sums { int wrong; };
struct Sums
{
    const short* terms;  // int not_this;
    char sign;
    int *counts, count;
    double scale;
    unsigned first;

    __device__ int* ends() const { int two = 2; return counts + two; }
    ITEM* items;
};
extern "C" __global__ void k(Sums sums, int add)
{
    int n = threadIdx.x;
    double scale = sums.sign * sums.scale;
    if (n < sums.count) sums.counts[n] = (int)(scale * sums.terms[n]) + add + (int)sums.first;
    if (sums.items) sums.items[0] = 7;
}
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def device():
    return EmulatedDevice()


def fields(device, **changed):
    terms = device.xp.array(np.arange(4), np.int16)
    values = dict(terms=terms, counts=device.xp.zeros(4, np.int32), items=None)
    return {**values, "sign": -1, "count": 4, "scale": 2.5, "first": 100, **changed}


def launch(device, path, struct, threads=4):
    device.kernel(path, "k", ("ITEM=u16",))((1,), (threads,), (struct, np.int32(1)))


@needs_compiler
def test_a_kernel_reads_what_was_filled_in_by_name(device, path):
    values = fields(device, items=device.xp.zeros(1, np.uint16))
    launch(device, path, device.struct(path, "Sums", **values))
    assert values["counts"].tolist() == [101, 99, 96, 94]
    assert values["items"].tolist() == [7]


@needs_compiler
def test_the_layout_is_the_compilers(device, path):
    names = "terms", "sign", "counts", "count", "scale", "first", "items"
    lines = [f"out[{n}] = (int)offsetof(Sums, {name});" for n, name in enumerate(names)]
    body = " ".join([*lines, f"out[{len(names)}] = (int)sizeof(Sums);"])
    path.write_text(
        f'#include <cstddef>\n{SOURCE}\nextern "C" __global__ void offsets(int* out) {{ {body} }}'
    )
    out = device.xp.zeros(len(names) + 1, np.int32)
    device.kernel(path, "offsets", ("ITEM=u16",))((1,), (1,), (out,))
    layout = struct_layout(path, "Sums")
    assert tuple(layout.fields) == layout.dtype.names == names
    assert [layout.dtype.fields[name][1] for name in names] == out[:-1].tolist()
    assert layout.dtype.itemsize == layout.packer.size == out[-1]
    pointed = {name: kind for name, kind in layout.fields.items() if kind is not None}
    assert pointed == {"terms": np.dtype("i2"), "counts": np.dtype("i4"), "items": "unknown"}


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"sum": 1}, TypeError, "wrong or missing fields: sum"),
        ({"count": 1 << 31}, OverflowError, "Sums.count: 2147483648 does not fit int32"),
        ({"first": -1}, OverflowError, "Sums.first: -1"),
        ({"count": 2.0}, TypeError, "Sums.count is an integer"),
        ({"count": np.zeros(1, np.int32)}, TypeError, "is a number"),
        ({"terms": 5}, TypeError, "Sums.terms is a pointer"),
        ({"terms": np.zeros(4, np.int32)}, TypeError, "points to int16, not to int32"),
        ({"counts": np.zeros(4, np.float32)}, TypeError, "points to int32, not to float32"),
        ({"counts": np.zeros(8, np.int32)[::2]}, TypeError, "not contiguous"),
    ],
)
def test_what_does_not_fit_the_declaration_is_refused(device, path, changed, error, says):
    with pytest.raises(error, match=says):
        device.struct(path, "Sums", **fields(device, **changed))


def test_a_field_that_is_missing_is_named(device, path):
    values = fields(device)
    del values["scale"]
    with pytest.raises(TypeError, match="wrong or missing fields: scale"):
        device.struct(path, "Sums", **values)


@pytest.mark.parametrize("field", ["int sizes[2];", "Other other;"])
def test_fields_of_other_kinds_are_refused(path, field):
    path.write_text(f"struct S {{ int first; {field} }};")
    with pytest.raises(TypeError, match="neither a number nor a pointer"):
        struct_layout(path, "S")


def test_a_struct_that_is_not_there_is_named(path):
    with pytest.raises(TypeError, match=r"k\.cu has no struct Means"):
        struct_layout(path, "Means")


@needs_compiler
def test_arrays_of_a_struct_are_guarded_as_arguments_are(device, path):
    values = fields(device, count=5)
    with pytest.raises(KernelFault, match="outside"):
        launch(device, path, device.struct(path, "Sums", **values), threads=5)


@needs_compiler
def test_a_struct_is_no_pointer_and_has_a_size(device, path):
    (path.parent / "other.cu").write_text("struct Few { int one; };")
    few = device.struct(path.parent / "other.cu", "Few", one=1)
    with pytest.raises(TypeError, match="argument 0 is a struct of 4 bytes"):
        launch(device, path, few)
