"""Structs by value (`gpu.record`): C's layout, pointers, wrong values."""

import numpy as np
import pytest

SOURCE = """
struct Inner { char c; double d; };
struct Outer {
    bool flag; const float* values; const short* none; short step; Inner inner; int count;
};
extern "C" __global__ void use(Outer o, double* out)
{
    out[0] = o.flag; out[1] = o.none == 0; out[2] = o.step; out[3] = o.inner.c; out[4] = o.inner.d;
    out[5] = 0;
    for (int n = 0; n < o.count; n++) out[5] += o.values[n];
}
"""


def _use(device, folder):
    path = folder / "use.cu"
    path.write_text(SOURCE)
    values = device.put(np.arange(5, dtype=np.float32))
    out = device.xp.zeros(6)
    inner = device.record(np.int8(-3), np.float64(0.1))
    outer = device.record(np.bool_(True), values, None, np.int16(-7), inner, np.int32(5))
    del values
    device.kernel(path, "use")((1,), (1,), (outer, out))
    assert device.get(out).tolist() == [1, 1, -7, -3, 0.1, 10]


def test_a_struct_has_the_layout_of_the_compiler(cpu_cuda, tmp_path):
    _use(cpu_cuda, tmp_path)


@pytest.mark.gpu
def test_a_struct_has_the_layout_of_the_compiler_on_a_gpu(gpu, tmp_path):
    _use(gpu, tmp_path)


@pytest.mark.parametrize("wrong", [3, 0.5, [1, 2]], ids=str)
def test_values_without_a_type_are_refused(cpu_cuda, wrong):
    with pytest.raises(TypeError, match="numpy scalars"):
        cpu_cuda.record(wrong)


def test_an_array_with_gaps_is_refused(cpu_cuda):
    with pytest.raises(TypeError, match="contiguous"):
        cpu_cuda.record(cpu_cuda.xp.zeros((4, 4))[:, :2])
