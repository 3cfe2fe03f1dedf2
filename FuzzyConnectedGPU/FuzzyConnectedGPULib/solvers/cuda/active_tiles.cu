// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// Widest paths by active tiles. A tile is 8 x 8 x 8 voxels and 64 threads: each thread holds one
// column along K in registers, its neighbours' columns lie in shared memory. A visit brings the tile
// to its own fixpoint, then activates those neighbour tiles in which it would raise a voxel. Values
// only ever rise towards a unique fixpoint, so the order of visits does not change the result.

#include "affinity.cuh"
#include "tile_lists.cuh"

#define SIDE 8
#define HALO 10  // a tile's side with its neighbours' faces
#define TOP 0xffff

typedef unsigned short u16;

struct Volume
{
    const VOXEL* voxels;
    const unsigned char* mask;  // null: no mask
    u16* levels;
    int nk, nj, ni;
};

struct Tile
{
    u16 level[SIDE][HALO][HALO];
    float voxel[SIDE][HALO][HALO];  // NaN: outside the volume or the mask
    int raised_faces;
};

__device__ __forceinline__ bool fetch(const Volume& v, int k, int j, int i, u16& level, float& voxel)
{
    level = 0;
    voxel = __int_as_float(0x7fffffff);
    if (k < 0 || j < 0 || i < 0 || k >= v.nk || j >= v.nj || i >= v.ni) return false;
    long long at = ((long long)k * v.nj + j) * v.ni + i;
    if (v.mask && !v.mask[at]) return false;
    // Another tile may be raising it at this moment: either value will do.
    level = *(volatile u16*)(v.levels + at);
    voxel = (float)v.voxels[at];
    return true;
}

// Whether a voxel at `level` would raise its neighbour across a face.
__device__ __forceinline__ bool raises(int level, int affinity, int neighbour)
{
    return min(level, affinity) > neighbour;
}

__device__ void visit(Tile& tile, const Volume& v, const Affinity& a, int k0, int j0, int i0)
{
    int t = threadIdx.x, x = t & 7, y = t >> 3;
    if (t == 0) tile.raised_faces = 0;

    // Own column, then the columns of the four lateral faces, half a column a thread.
    u16 level[SIDE], start[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        fetch(v, k0 + k, j0 + y, i0 + x, tile.level[k][y + 1][x + 1], tile.voxel[k][y + 1][x + 1]);
        level[k] = start[k] = tile.level[k][y + 1][x + 1];
    }
    int face = (t >> 3) & 3, along = (t & 7) + 1;
    int hy = face == 0 ? 0 : face == 1 ? HALO - 1 : along;
    int hx = face == 2 ? 0 : face == 3 ? HALO - 1 : along;
#if __CUDA_ARCH__ >= 1200
#pragma unroll 1  // unrolled, it spills a few registers there
#endif
    for (int k = (t >> 5) * 4; k < (t >> 5) * 4 + 4; k++)
        fetch(v, k0 + k, j0 + hy - 1, i0 + hx - 1, tile.level[k][hy][hx], tile.voxel[k][hy][hx]);
    u16 below, above;
    float voxel_below, voxel_above;
    fetch(v, k0 - 1, j0 + y, i0 + x, below, voxel_below);
    fetch(v, k0 + SIDE, j0 + y, i0 + x, above, voxel_above);
    __syncthreads();

    // Affinities: to the lower and upper neighbour along I and J, and between the K neighbours.
    u16 left[SIDE], right[SIDE], front[SIDE], back[SIDE], down[SIDE + 1];
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        const float* c = &tile.voxel[k][y + 1][x + 1];
        left[k] = affinity_level(c[0], c[-1], a);
        right[k] = affinity_level(c[0], c[1], a);
        front[k] = affinity_level(c[0], c[-HALO], a);
        back[k] = affinity_level(c[0], c[HALO], a);
        down[k] = affinity_level(c[0], k == 0 ? voxel_below : c[-HALO * HALO], a);
    }
    down[SIDE] = affinity_level(tile.voxel[SIDE - 1][y + 1][x + 1], voxel_above, a);

    level[0] = max(level[0], min(below, down[0]));
    level[SIDE - 1] = max(level[SIDE - 1], min(above, down[SIDE]));
    int changed;
    do {
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            volatile u16* c = &tile.level[k][y + 1][x + 1];
            int best = max(min(c[-1], left[k]), min(c[1], right[k]));
            best = max(best, max(min(c[-HALO], front[k]), min(c[HALO], back[k])));
            level[k] = max((int)level[k], best);
        }
#pragma unroll
        for (int k = 1; k < SIDE; k++) level[k] = max(level[k], min(level[k - 1], down[k]));
#pragma unroll
        for (int k = SIDE - 2; k >= 0; k--) level[k] = max(level[k], min(level[k + 1], down[k + 1]));
        changed = 0;
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            volatile u16* c = &tile.level[k][y + 1][x + 1];
            if (level[k] != *c) {
                *c = level[k];
                changed = 1;
            }
        }
    } while (__syncthreads_or(changed));

    // Write what rose, and find the faces through which a neighbour tile would rise.
    int faces = 0;
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        if (level[k] != start[k])
            v.levels[((long long)(k0 + k) * v.nj + j0 + y) * v.ni + i0 + x] = level[k];
        if (x == 0 && raises(level[k], left[k], tile.level[k][y + 1][0])) faces |= 1;
        if (x == 7 && raises(level[k], right[k], tile.level[k][y + 1][HALO - 1])) faces |= 2;
        if (y == 0 && raises(level[k], front[k], tile.level[k][0][x + 1])) faces |= 4;
        if (y == 7 && raises(level[k], back[k], tile.level[k][HALO - 1][x + 1])) faces |= 8;
    }
    if (raises(level[0], down[0], below)) faces |= 16;
    if (raises(level[SIDE - 1], down[SIDE], above)) faces |= 32;
    if (faces) atomicOr(&tile.raised_faces, faces);
    __threadfence();
    __syncthreads();
}

// What the first round finds: levels, 0 so far, of the seeds; and the tiles that hold one, listed.
// seed_levels: null where all are TOP.
extern "C" __global__ void begin(const long long* seeds, const u16* seed_levels, int seed_count, u16* levels,
                                 const int* tiles, int tile_count, TileLists all)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < seed_count) levels[seeds[n]] = seed_levels ? seed_levels[n] : TOP;
    if (n == 0) all.counts[0] = all.counts[3] = tile_count;
    if (n >= tile_count) return;
    all.lists[n] = tiles[n];
    all.listed[tiles[n]] = 1;
}

// One round of `TileLists`; counts[3] counts the tiles ever listed.
extern "C" __global__ void __launch_bounds__(64) visit_active_tiles(Volume v, Affinity a, TileLists tiles, int round)
{
    __shared__ Tile tile;
    int tiles_i = (v.ni + SIDE - 1) / SIDE, tiles_j = (v.nj + SIDE - 1) / SIDE, tiles_k = (v.nk + SIDE - 1) / SIDE;
    int tile_count = tiles_i * tiles_j * tiles_k;
    const int* active = tiles.begin_round(round, tile_count);
    int active_count = tiles.counts[round % 3];
    for (int n = blockIdx.x; n < active_count; n += gridDim.x) {
        int ti = active[n] % tiles_i, tj = active[n] / tiles_i % tiles_j, tk = active[n] / tiles_i / tiles_j;
        visit(tile, v, a, tk * SIDE, tj * SIDE, ti * SIDE);
        int face = threadIdx.x;
        if (face < 6 && (tile.raised_faces >> face & 1)) {
            // A raised face leads into the volume: across its border all affinities are 0.
            int step = face < 2 ? 1 : face < 4 ? tiles_i : tiles_i * tiles_j;
            int other = active[n] + (face & 1 ? step : -step);
            if (tiles.add(other, round + 1, tile_count) == 0) atomicAdd(&tiles.counts[3], 1);
        }
        __syncthreads();
    }
}
