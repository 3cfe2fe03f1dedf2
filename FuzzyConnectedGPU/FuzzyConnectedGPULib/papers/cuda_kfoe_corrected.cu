// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// Corrected CUDA-kFOE (both papers, "improved CUDA-kFOE"): one fused kernel, affinities from a
// look-up table, and correction iterations that repeat the voxels on the edges of the thread blocks.
// A block is 16 x 16 x 1 voxels, as in the Chinese paper. The correction makes error voxels rare but
// does not exclude them; that is the algorithm as published.

#include "../solvers/affinity.cuh"

struct Scene
{
    const VOXEL* voxels;
    const unsigned char* mask;  // null: no mask
    float* values;
    const unsigned char* now;  // the papers' flag arrays C1
    unsigned char* next;       // and C2
    int* changed;
    int nk, nj, ni;
};

struct Tables
{
    const float *sums, *differences;  // null for float volumes, which have no table
    int lowest_sum;
};

__device__ __forceinline__ int looked_up_level(const Scene& s, const Tables& tables, long long c, long long e,
                                               const Affinity& a)
{
    if (!tables.sums) return affinity_level((float)s.voxels[c], (float)s.voxels[e], a);
    int first = (int)s.voxels[c], second = (int)s.voxels[e];
    return combined_level(tables.sums[first + second - tables.lowest_sum], tables.differences[abs(first - second)], a);
}

// Pass the value of voxel c on to its neighbour e (papers, step 2.3).
__device__ __forceinline__ void pass_on(const Scene& s, const Tables& tables, long long c, long long e, const Affinity& a)
{
    if (s.mask && !(s.mask[c] && s.mask[e])) return;
    float affinity = looked_up_level(s, tables, c, e, a) / 65535.0f;
    float reached = fminf(((volatile float*)s.values)[c], affinity);
    if (reached > ((volatile float*)s.values)[e]) {
        atomicExch(&s.values[e], reached);
        s.next[e] = 1;
        *s.changed = 1;
    }
}

extern "C" __global__ void parallel_kfoe(Scene s, Affinity a, Tables tables, int corrections, int directions)
{
    int nk = s.nk, nj = s.nj, ni = s.ni;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    bool inside = i < ni && j < nj;
    long long c = ((long long)k * nj + j) * ni + i, plane = (long long)nj * ni;
    bool flagged = inside && s.now[c];
    const long long step[6] = {-1, 1, -ni, ni, -plane, plane};
    const bool open[6] = {i > 0, i < ni - 1, j > 0, j < nj - 1, k > 0, k < nk - 1};
    // A block of one layer has all its voxels on the edges that face the layers beside it.
    bool at_edge = threadIdx.x == 0 || threadIdx.x == blockDim.x - 1 || threadIdx.y == 0 ||
                   threadIdx.y == blockDim.y - 1 || threadIdx.z == 0 || threadIdx.z == blockDim.z - 1;
#pragma unroll
    for (int side = 0; side < 6; side++) {
        if (flagged && open[side]) pass_on(s, tables, c, c + step[side], a);
        __syncthreads();  // the papers: the threads of the different directions in step
    }
    for (int n = 0; n < corrections; n++) {
#pragma unroll
        for (int side = 0; side < 6; side++)
            if (side < directions && flagged && at_edge && open[side]) pass_on(s, tables, c, c + step[side], a);
        __syncthreads();
    }
}
