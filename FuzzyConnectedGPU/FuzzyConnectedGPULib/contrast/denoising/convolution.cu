// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// Convolution along one axis, one thread a voxel; the border voxels are repeated outside. Lanes lie
// along I whatever the axis is, so that their reads are next to each other.

typedef unsigned int u32;

// An array seen from one of its axes: `count` voxels along it, `inner` apart, in all `total`.
struct Axis
{
    u32 total, count, inner;
};

template <class T>
__device__ __forceinline__ void convolve(const T* from, float lowest, Axis axis, const float* weights, int radius,
                                         float* to)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= axis.total) return;
    int place = n / axis.inner % axis.count, last = (int)axis.count - 1;
    float sum = 0;
    for (int d = -radius; d <= radius; d++) {
        int step = min(max(place + d, 0), last) - place;
        float value = (float)from[(long long)n + (long long)step * axis.inner];
        sum += weights[radius + d] * fmaxf(value, lowest);
    }
    to[n] = sum;
}

// Intensities of the volume's own type; those below `lowest` count as `lowest`.
extern "C" __global__ void __launch_bounds__(256) convolve_voxels(
    const VOXEL* from, float lowest, u32 total, u32 count, u32 inner, const float* weights, int radius, float* to)
{
    convolve(from, lowest, {total, count, inner}, weights, radius, to);
}

extern "C" __global__ void __launch_bounds__(256) convolve_floats(
    const float* from, u32 total, u32 count, u32 inner, const float* weights, int radius, float* to)
{
    convolve(from, __int_as_float(0xff800000), {total, count, inner}, weights, radius, to);
}
