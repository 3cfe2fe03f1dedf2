// Which neighbour each voxel of an object joins, in the order of their ranks.

const unsigned NOT_FIRST_I = 0x6DB6DB6u, NOT_LAST_I = 0x36DB6DBu;  // of a block of 27 voxels
const unsigned NOT_FIRST_J = 0x7E3F1F8u, NOT_LAST_J = 0x0FC7E3Fu;
const unsigned NOT_FIRST_K = 0x7FFFE00u, NOT_LAST_K = 0x003FFFFu;

__device__ unsigned dilate(unsigned bits)
{
    bits |= ((bits & NOT_LAST_I) << 1) | ((bits & NOT_FIRST_I) >> 1);
    bits |= ((bits & NOT_LAST_J) << 3) | ((bits & NOT_FIRST_J) >> 3);
    return bits | ((bits & NOT_LAST_K) << 9) | ((bits & NOT_FIRST_K) >> 9);
}

// Whether the voxels of a block are one 26-connected component; no voxels are not.
__device__ bool is_connected(unsigned bits)
{
    unsigned grown = bits & (0u - bits), before = 0;
    while (grown != before) {
        before = grown;
        grown = dilate(grown) & bits;
    }
    return bits != 0 && grown == bits;
}

// As `link_ranks` of endpoints.py.
extern "C" __global__ void link_ranks(const long long* __restrict__ voxels, long long count,
                                      const int* __restrict__ offsets,
                                      const int* __restrict__ ranks,
                                      const float* __restrict__ depth, int* joined, float* depths)
{
    long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    int own = ranks[voxels[n]], found = 0;
    unsigned bits = 0;
    for (int side = 0; side < 26; side++) {
        int other = ranks[voxels[n] + offsets[side]];
        if (other > 0 && other < own) {
            bits |= 1u << (side + (side > 12));
            found = other;
        }
    }
    joined[own - 1] = is_connected(bits) ? found : 0;
    depths[own - 1] = depth[voxels[n]];
}
