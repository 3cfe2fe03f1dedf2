// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// CUDA-kFOE (Zhuge, Cao and Miller 2009; the papers' previous work): one kernel stores the six
// affinities of every voxel, the other passes values on to the neighbours. Two threads may raise one
// voxel at the same time, and then the smaller value can stay: the error voxels of the papers. This
// race is the algorithm as published and is left in on purpose.

#include "../solvers/affinity.cuh"

// Neighbour of voxel t on side 0..5 (-I, +I, -J, +J, -K, +K), or -1 outside the volume.
__device__ __forceinline__ long long neighbour(long long t, int side, int nk, int nj, int ni)
{
    long long plane = (long long)nj * ni;
    int i = t % ni, j = t / ni % nj, k = t / plane;
    switch (side) {
        case 0: return i > 0 ? t - 1 : -1;
        case 1: return i < ni - 1 ? t + 1 : -1;
        case 2: return j > 0 ? t - ni : -1;
        case 3: return j < nj - 1 ? t + ni : -1;
        case 4: return k > 0 ? t - plane : -1;
        default: return k < nk - 1 ? t + plane : -1;
    }
}

// affinities: six planes of the volume's size, 0 where there is no neighbour or the mask excludes it
extern "C" __global__ void store_affinities(
    const VOXEL* voxels, const unsigned char* mask, float* affinities, int nk, int nj, int ni, Affinity a)
{
    long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x, size = (long long)nk * nj * ni;
    if (t >= size) return;
    for (int side = 0; side < 6; side++) {
        long long e = neighbour(t, side, nk, nj, ni);
        bool open = e >= 0 && (!mask || (mask[t] && mask[e]));
        affinities[side * size + t] = open ? affinity_level((float)voxels[t], (float)voxels[e], a) / 65535.0f : 0.0f;
    }
}

// One round. now, next: the papers' flag arrays C1 and C2.
extern "C" __global__ void track(
    const float* affinities, float* scene, const unsigned char* now, unsigned char* next, int* changed,
    int nk, int nj, int ni)
{
    long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x, size = (long long)nk * nj * ni;
    if (t >= size || !now[t]) return;
    float value = scene[t];
    for (int side = 0; side < 6; side++) {
        float affinity = affinities[side * size + t];
        if (affinity <= 0.0f) continue;
        long long e = neighbour(t, side, nk, nj, ni);
        float reached = fminf(value, affinity);
        if (reached > scene[e]) {
            scene[e] = reached;
            next[e] = 1;
            *changed = 1;
        }
    }
}
