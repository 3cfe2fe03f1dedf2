// Geodesic distance over steps to 26 neighbours, by a work list of tiles that can still change.
//
// A visit lowers the tile's distances until nothing changes in it, then lists those adjacent tiles in
// which it would lower a voxel. Distances only ever fall, and each is the length of a path, so the
// order of the visits cannot change the result.

#include "geodesic_tile.cuh"

// One round: visits the listed tiles and lists those of the next round.
//
// lists: two lists of tiles, in turn this round's and the next one's. counts: their lengths in turn
// of three, so that the third can be cleared meanwhile. listed: the last round each tile was listed
// for, from 1.
extern "C" __global__ void __launch_bounds__(64) visit_tiles(
    int* distances, int nk, int nj, int ni, const int* steps, int* lists, int* counts, int* listed, int round)
{
    __shared__ Tile tile;
    if (threadIdx.x < 8) tile.steps[threadIdx.x] = steps[threadIdx.x];
    int tiles_k = (nk + SIDE - 1) / SIDE, tiles_j = (nj + SIDE - 1) / SIDE, tiles_i = (ni + SIDE - 1) / SIDE;
    int tile_count = tiles_k * tiles_j * tiles_i, x = threadIdx.x & 7, y = threadIdx.x >> 3;
    const int* active = lists + (round & 1) * (long long)tile_count;
    int* next = lists + ((round + 1) & 1) * (long long)tile_count;
    int active_count = counts[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(round + 2) % 3] = 0;

    for (int n = blockIdx.x; n < active_count; n += gridDim.x) {
        int ti = active[n] % tiles_i, tj = active[n] / tiles_i % tiles_j, tk = active[n] / tiles_i / tiles_j;
        load(tile, distances, nk, nj, ni, tk * SIDE, tj * SIDE, ti * SIDE);
        unsigned lowered = settle(tile, y, x);
        find_lowered_tiles(tile);
        for (int k = 0; k < SIDE; k++)
            if (lowered >> k & 1)
                distances[((long long)(tk * SIDE + k) * nj + tj * SIDE + y) * ni + ti * SIDE + x] =
                    tile.distance[k + 1][y + 1][x + 1];
        int around = threadIdx.x;
        if (around < 27 && (tile.lowers >> around & 1)) {
            int other = active[n] + ((around / 9 - 1) * tiles_j + around / 3 % 3 - 1) * tiles_i + around % 3 - 1;
            if (atomicExch(&listed[other], round + 1) != round + 1)
                next[atomicAdd(&counts[(round + 1) % 3], 1)] = other;
        }
        __syncthreads();
    }
}

// Sets the distances of sources that are not 0 yet to 0 and lists their tiles for round 1.
extern "C" __global__ void begin(
    int* distances, int nj, int ni, int tiles_j, int tiles_i, const long long* sources, int source_count,
    int* list, int* count, int* listed)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= source_count || distances[sources[n]] <= 0) return;
    distances[sources[n]] = 0;
    int i = sources[n] % ni, j = sources[n] / ni % nj, k = sources[n] / ni / nj;
    int tile = (k / SIDE * tiles_j + j / SIDE) * tiles_i + i / SIDE;
    if (atomicExch(&listed[tile], 1) != 1) list[atomicAdd(count, 1)] = tile;
}

// FAR in the object, -1 elsewhere.
extern "C" __global__ void mark_object(const unsigned char* mask, long long size, int* distances)
{
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < size; n += (long long)gridDim.x * blockDim.x)
        distances[n] = mask[n] ? FAR : -1;
}

// -1 where no source was reached.
extern "C" __global__ void mark_unreached(long long size, int* distances)
{
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < size; n += (long long)gridDim.x * blockDim.x)
        if (distances[n] == FAR) distances[n] = -1;
}
