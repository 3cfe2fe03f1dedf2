// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// Which tiles the seeds may reach, before any affinity is computed: only voxels within an interval
// have edges above the cut, and of these only what hangs together with a seed matters. A row of a
// tile is a half-word of bits; a run of bits is one piece, and the pieces are joined by a forest in
// which each run points to a later one (union-find), first within the tiles and then across borders.

#include "tile_place.cuh"

#define WARPS (THREADS / 32)  // a warp takes a tile
#define ROWS (SIDE_K * SIDE_J)
#define RUNS_A_ROW (SIDE_I / 2)
#define RUNS (ROWS * RUNS_A_ROW)
#define EVERY_LANE 0xffffffffu

// The lane's two rows of a tile (along J) and the number of their first runs, all tiles counted
struct Rows
{
    u32 tile, lane, bits;

    __device__ u32 row(int half) const { return half ? bits >> 16 : bits & 0xffff; }
    __device__ u32 first_run(int half) const { return tile * RUNS + (2 * lane + half) * RUNS_A_ROW; }
};

__device__ __forceinline__ u32 starts_of(u32 row) { return row & ~(row << 1); }

// The end of the chain. What is passed on the way is led on further; others may do so meanwhile.
__device__ u32 root_of(volatile u32* parent, u32 at)
{
    u32 up = parent[at];
    while (up != at) {
        u32 further = parent[up];
        if (further != up) parent[at] = further;
        at = up;
        up = further;
    }
    return at;
}

__device__ void join(u32* parent, u32 one, u32 other)
{
    one = root_of(parent, one);
    other = root_of(parent, other);
    while (one != other) {
        u32 early = min(one, other), late = max(one, other);
        u32 before = atomicCAS(&parent[early], early, late);
        if (before == early) return;
        one = root_of(parent, before);
        other = late;
    }
}

// Join the runs of two rows that lie beside each other: two runs have one stretch in common or none.
__device__ void join_rows(u32* parent, u32 first_run, u32 row, u32 first_other, u32 other)
{
    u32 starts = starts_of(row & other);
    for (; starts; starts &= starts - 1) {
        u32 up_to = starts ^ (starts - 1);
        join(parent, first_run + __popc(starts_of(row) & up_to) - 1,
             first_other + __popc(starts_of(other) & up_to) - 1);
    }
}

// A bit for each voxel, and the runs joined within the tile. rows: two of each lane. parent: of the
// runs, by tile, row and run; the last entry, behind all tiles, is the seeds'.
extern "C" __global__ void __launch_bounds__(THREADS) join_runs(
    const VOXEL* voxels, const unsigned char* mask, int nk, int nj, int ni, float lowest, float highest, u32 tiles,
    u32* rows, u32* parent)
{
    __shared__ u32 parents[WARPS][RUNS];
    u32 warp = threadIdx.x >> 5, tile = blockIdx.x * WARPS + warp, lane = threadIdx.x & 31;
    if (tile == 0 && lane == 0) parent[tiles * RUNS] = tiles * RUNS;
    if (tile >= tiles) return;
    Place p = place_of(tile, nk, nj, ni);
    int j = p.j0 + (lane >> 4), i = p.i0 + (lane & 15);
    Rows own = {0, lane, 0};  // numbered within the tile
#pragma unroll 1
    for (int k = 0; k < SIDE_K; k += 2) {
        VOXEL voxel[8];  // all loads before the first use
        bool open[8];
#pragma unroll
        for (int n = 0; n < 8; n++) {
            int kn = p.k0 + k + n / 4, jn = j + n % 4 * 2;
            open[n] = kn < nk && jn < nj && i < ni;
            voxel[n] = open[n] ? voxels[p.number(kn, jn, i)] : (VOXEL)0;
        }
        if (mask) {
#pragma unroll
            for (int n = 0; n < 8; n++) open[n] = open[n] && mask[p.number(p.k0 + k + n / 4, j + n % 4 * 2, i)];
        }
#pragma unroll
        for (int n = 0; n < 8; n++) {
            float value = voxel[n];
            u32 bits = __ballot_sync(EVERY_LANE, open[n] && value >= lowest && value <= highest);
            if (lane == k * 4 + n) own.bits = bits;
        }
    }
    rows[tile * 32 + lane] = own.bits;
    if (!__any_sync(EVERY_LANE, own.bits)) return;
    u32* up = parents[warp];
    for (u32 n = lane; n < RUNS; n += 32) up[n] = n;
    u32 beside = __shfl_down_sync(EVERY_LANE, own.bits, 1), above = __shfl_down_sync(EVERY_LANE, own.bits, 4);
    __syncwarp();
    join_rows(up, own.first_run(0), own.row(0), own.first_run(1), own.row(1));
    Rows next = {0, lane + 1, beside}, higher = {0, lane + 4, above};
    if (lane % 4 < 3) join_rows(up, own.first_run(1), own.row(1), next.first_run(0), next.row(0));
    for (int half = 0; half < 2 && lane < 28; half++)
        join_rows(up, own.first_run(half), own.row(half), higher.first_run(half), higher.row(half));
    __syncwarp();
    for (int half = 0; half < 2; half++) {
        u32 first = own.first_run(half), runs = __popc(starts_of(own.row(half)));
        for (u32 n = first; n < first + runs; n++) parent[tile * RUNS + n] = tile * RUNS + root_of(up, n);
    }
}

__device__ __forceinline__ Rows rows_of(const u32* rows, u32 tile, u32 lane)
{
    return {tile, lane, rows[tile * 32 + lane]};
}

// Join the runs across the tiles' upper borders.
extern "C" __global__ void __launch_bounds__(THREADS) join_tiles(const u32* rows, int nk, int nj, int ni, u32 tiles,
                                                                 u32* parent)
{
    u32 tile = blockIdx.x * WARPS + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (tile >= tiles) return;
    int tiles_i = (ni + SIDE_I - 1) / SIDE_I, tiles_j = (nj + SIDE_J - 1) / SIDE_J;
    Place p = place_of(tile, nk, nj, ni);
    Rows own = rows_of(rows, tile, lane);
    if (!own.bits) return;
    if (lane >= 28 && p.k0 + SIDE_K < nk) {
        Rows higher = rows_of(rows, tile + tiles_i * tiles_j, lane - 28);
        for (int half = 0; half < 2; half++)
            join_rows(parent, own.first_run(half), own.row(half), higher.first_run(half), higher.row(half));
    }
    if (lane % 4 == 3 && p.j0 + SIDE_J < nj) {
        Rows next = rows_of(rows, tile + tiles_i, lane - 3);
        join_rows(parent, own.first_run(1), own.row(1), next.first_run(0), next.row(0));
    }
    if (own.bits & 0x80008000u && p.i0 + SIDE_I < ni) {
        Rows right = rows_of(rows, tile + 1, lane);
        for (int half = 0; half < 2; half++)
            if (own.row(half) >> 15 && right.row(half) & 1)
                join(parent, own.first_run(half) + __popc(starts_of(own.row(half))) - 1, right.first_run(half));
    }
}

// Join the seeds' runs.
extern "C" __global__ void join_seeds(const long long* seeds, u32 count, const u32* rows, int nj, int ni, u32 tiles,
                                      u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    int i = seeds[n] % ni, j = seeds[n] / ni % nj, k = seeds[n] / ni / nj;
    u32 tiles_i = (ni + SIDE_I - 1) / SIDE_I, tiles_j = (nj + SIDE_J - 1) / SIDE_J;
    u32 tile = (k / SIDE_K * tiles_j + j / SIDE_J) * tiles_i + i / SIDE_I;
    Rows r = rows_of(rows, tile, k % SIDE_K * 4 + j % SIDE_J / 2);
    u32 row = r.row(j & 1), up_to = (2u << i % SIDE_I) - 1;
    if (row >> i % SIDE_I & 1)
        join(parent, r.first_run(j & 1) + __popc(starts_of(row) & up_to) - 1, tiles * RUNS);
}

// List the tiles in which a run hangs together with the seeds.
extern "C" __global__ void __launch_bounds__(THREADS) list_reached(const u32* rows, const u32* parent, u32 tiles,
                                                                   u32* listed, u32* count)
{
    __shared__ bool reached[WARPS];
    u32 warp = threadIdx.x >> 5, tile = blockIdx.x * WARPS + warp, lane = threadIdx.x & 31;
    bool any = false;
    Rows own = {tile, lane, tile < tiles ? rows[tile * 32 + lane] : 0};
    for (int half = 0; half < 2; half++) {
        u32 first = own.first_run(half), runs = __popc(starts_of(own.row(half)));
        for (u32 n = first; n < first + runs; n++) {
            u32 at = n, up = parent[n];
            if (up != n && up / RUNS == tile) continue;  // that run sees to it
            while (up != at) {
                at = up;
                up = parent[at];
            }
            any |= at == tiles * RUNS;
        }
    }
    any = __any_sync(EVERY_LANE, any);
    if (lane == 0) reached[warp] = any;
    __syncthreads();
    if (threadIdx.x > 0) return;
    u32 more = 0;
    for (int n = 0; n < WARPS; n++) more += reached[n];
    if (more == 0) return;
    u32 at = atomicAdd(count, more);
    for (int n = 0; n < WARPS; n++)
        if (reached[n]) listed[at++] = blockIdx.x * WARPS + n;
}
