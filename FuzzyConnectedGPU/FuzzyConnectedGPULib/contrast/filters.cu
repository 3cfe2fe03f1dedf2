// Weighted sums along one axis, the border values repeated outside. Compiled without fused
// multiply-add: each product and sum is rounded by itself, in the order of `filters._along`.
// `step`: voxels from one value to the next along the axis, which has `length` values and `count`
// sums; `before`: how far the first weight of the first sum lies before the first value.
extern "C" __global__ void weighted_sums(const float* __restrict__ values, long long step,
                                         int length, const float* __restrict__ weights, int taps,
                                         int before, float* sums, int count, long long size)
{
    long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (n >= size)
        return;
    int first = int(n / step % count) - before;
    const float* line = values + n / (step * count) * (step * length) + n % step;
    float sum = 0;
    for (int tap = 0; tap < taps; tap++)
        sum += weights[tap] * line[min(max(first + tap, 0), length - 1) * step];
    sums[n] = sum;
}
