// Tiles of 8 x 8 x 8 voxels and the rounds in which the active ones are visited, a block of 64
// threads each: one column along K a thread.
#pragma once

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

// lists: two lists of tiles, in turn a round's and the next one's. counts: their lengths in turn of
// three, so that the third can be cleared meanwhile. listed: the last round each tile was listed
// for, counted from 1; 0 for never.
struct Rounds
{
    int *lists, *counts, *listed;

    __device__ void list(const Tiles& tiles, int tile, int round) const
    {
        if (atomicExch(&listed[tile], round + 1) == round + 1) return;
        lists[(round & 1) * tiles.count() + atomicAdd(&counts[round % 3], 1)] = tile;
    }
};

// A cell of a tile with its halo: its place there, and the way to the tile that it belongs to.
struct Cell
{
    int z, y, x;

    __device__ explicit Cell(int n) : z(n / (HALO * HALO)), y(n / HALO % HALO), x(n % HALO) {}
    __device__ static int side(int place) { return place == 0 ? -1 : place == HALO - 1; }
    __device__ int way() const { return side(z) * 9 + side(y) * 3 + side(x) + DIRECTIONS / 2; }
    __device__ bool is_own() const { return way() == DIRECTIONS / 2; }

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

// One round: visit the active tiles, and list those of the next round that a visit names: it gets
// the K, J, I of the tile's first voxel and sets a bit of `raised` for each way to such a tile.
template <class Visit>
__device__ void visit_active(const Tiles& tiles, const Rounds& rounds, int round, u32& raised, Visit visit)
{
    const int* active = rounds.lists + (round & 1) * tiles.count();
    int active_count = rounds.counts[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) rounds.counts[(round + 2) % 3] = 0;
    int along_j = tiles.along_j(), along_i = tiles.along_i();
    for (int n = blockIdx.x; n < active_count; n += gridDim.x) {
        int own = active[n], way = threadIdx.x;
        if (way == 0) raised = 0;
        visit(own / along_i / along_j * SIDE, own / along_i % along_j * SIDE, own % along_i * SIDE);
        __syncthreads();
        if (way < DIRECTIONS && (raised >> way & 1)) {
            int other = own + ((way / 9 - 1) * along_j + way / 3 % 3 - 1) * along_i + way % 3 - 1;
            rounds.list(tiles, other, round + 1);
        }
        __syncthreads();
    }
}
