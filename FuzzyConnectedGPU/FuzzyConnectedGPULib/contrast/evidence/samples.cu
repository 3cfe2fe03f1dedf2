// What medians need: samples of a volume as integers in the order of the numbers.

typedef unsigned int u32;

#define EXCLUDED 0x7fffffff  // behind all numbers

// Voxels along K, J and I from a corner on, so many voxels of the volume apart. Of the samples whose flag is below
// `least`, none; flags may be null. distances: |value - centre| instead of the value.
extern "C" __global__ void __launch_bounds__(256) take_samples(
    const float* volume, u32 corner, u32 along_k, u32 along_j, u32 along_i, int nk, int nj, int ni, const unsigned char* flags,
    int least, int distances, float centre, int* keys)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= (u32)nk * nj * ni) return;
    int key = EXCLUDED;
    if (!flags || flags[n] >= least) {
        u32 k = n / ((u32)nj * ni), j = n / ni % nj, i = n % ni;
        float value = volume[corner + k * along_k + j * along_j + i * along_i];
        value = (distances ? fabsf(value - centre) : value) + 0.0f;  // -0 becomes 0
        int bits = __float_as_int(value);
        key = bits ^ (bits >> 31 & 0x7fffffff);
    }
    keys[n] = key;
}

// (value - shift) * sign, in place
extern "C" __global__ void __launch_bounds__(256) shift_values(float* volume, u32 count, float shift, float sign)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) volume[n] = (volume[n] - shift) * sign;
}
