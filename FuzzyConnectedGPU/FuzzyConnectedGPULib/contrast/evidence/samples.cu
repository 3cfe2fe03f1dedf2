// What medians need: samples of a volume as integers in the order of the numbers.

typedef unsigned int u32;

#define EXCLUDED 0x7fffffff  // behind all numbers

// Voxels along K, J and I from a corner on, so many voxels of the volume apart. Of the samples whose flag is below
// `least`, none; flags may be null. distances: |value - centre| instead of the value.
// Voxels of a part, some steps apart.
struct Part
{
    u32 corner, along_k, along_j, along_i;
    int nk, nj, ni;  // how many
};

// Which of them, and what of them.
struct Selection
{
    const unsigned char* flags;  // null: all
    int least;  // flag
    int distances;  // from `centre`, instead of values
    float centre;
};

extern "C" __global__ void __launch_bounds__(256) take_samples(const float* volume, Part part, Selection wanted, int* keys)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x, row = part.ni, plane = row * part.nj;
    if (n >= plane * part.nk) return;
    int key = EXCLUDED;
    if (!wanted.flags || wanted.flags[n] >= wanted.least) {
        u32 k = n / plane, j = n / row % part.nj, i = n % row;
        float value = volume[part.corner + k * part.along_k + j * part.along_j + i * part.along_i];
        value = (wanted.distances ? fabsf(value - wanted.centre) : value) + 0.0f;  // -0 becomes 0
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
