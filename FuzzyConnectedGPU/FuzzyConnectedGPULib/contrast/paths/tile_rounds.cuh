// Tiles of 8 x 8 x 8 voxels, visited in rounds by blocks of 64 threads: one column along K per thread.
#pragma once

#include "tile_lists.cuh"

#define SIDE 8
#define HALO 10  // a tile's side with its neighbours' voxels
#define CELLS (HALO * HALO * HALO)
#define THREADS 64
#define DIRECTIONS 27  // of neighbour tiles; the 14th is the tile itself

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

// A volume and its tiles. Voxels are fewer than 2**32.
struct Tiles
{
    int nk, nj, ni;

    __device__ u32 voxel(int k, int j, int i) const { return ((u32)k * nj + j) * ni + i; }
    __device__ bool holds(int k, int j, int i) const
    {
        return k >= 0 && j >= 0 && i >= 0 && k < nk && j < nj && i < ni;
    }
    __device__ int along_k() const { return (nk + SIDE - 1) / SIDE; }
    __device__ int along_j() const { return (nj + SIDE - 1) / SIDE; }
    __device__ int along_i() const { return (ni + SIDE - 1) / SIDE; }
    __device__ long long count() const { return (long long)along_k() * along_j() * along_i(); }
    __device__ int tile(int k, int j, int i) const
    {
        return (k / SIDE * along_j() + j / SIDE) * along_i() + i / SIDE;
    }
};

// A cell of a tile with its halo: its position there, and the direction of the tile it belongs to.
struct Cell
{
    int z, y, x;

    __device__ explicit Cell(int n) : z(n / (HALO * HALO)), y(n / HALO % HALO), x(n % HALO) {}
    __device__ static int side(int place) { return place == 0 ? -1 : place == HALO - 1; }
    __device__ int direction() const { return side(z) * 9 + side(y) * 3 + side(x) + DIRECTIONS / 2; }
    __device__ bool is_own() const { return direction() == DIRECTIONS / 2; }

    // Whether one of its neighbours within the tile is as wanted.
    template <class Wanted>
    __device__ bool any_own_neighbour(Wanted wanted) const
    {
        for (int oz = max(z - 1, 1); oz <= min(z + 1, SIDE); oz++)
            for (int oy = max(y - 1, 1); oy <= min(y + 1, SIDE); oy++)
                for (int ox = max(x - 1, 1); ox <= min(x + 1, SIDE); ox++)
                    if (wanted(oz, oy, ox)) return true;
        return false;
    }
};

// One round of `TileLists`: a visit gets the K, J, I of the tile's first voxel and sets a bit of `raised` for
// each direction of a neighbour tile that must be visited in the next round.
template <class Visit>
__device__ void visit_active(const Tiles& tiles, const TileLists& lists, int round, u32& raised, Visit visit)
{
    int along_j = tiles.along_j(), along_i = tiles.along_i();
    const int* active = lists.begin_round(round, tiles.count());
    int active_count = lists.counts[round % 3];
    for (int n = blockIdx.x; n < active_count; n += gridDim.x) {
        int own = active[n], direction = threadIdx.x;
        if (direction == 0) raised = 0;
        visit(own / along_i / along_j * SIDE, own / along_i % along_j * SIDE, own % along_i * SIDE);
        __syncthreads();
        if (direction < DIRECTIONS && (raised >> direction & 1)) {
            int step = ((direction / 9 - 1) * along_j + direction / 3 % 3 - 1) * along_i + direction % 3 - 1;
            lists.add(own + step, round + 1, tiles.count());
        }
        __syncthreads();
    }
}
