// defines: VOXEL=unsigned char CLAMPED=1 | VOXEL=short CLAMPED=0 | VOXEL=unsigned short CLAMPED=1 | VOXEL=float CLAMPED=0
//
// Which tiles the seeds may reach above the cut, before any affinity is computed: components of pairs of
// neighbours whose affinity may be above the cut, and of them those with a seed. A pair is tested by one
// comparison, its outcome is one bit, and a row of a tile half a word of bits. Connected voxels of a row
// are a run, identified by its first voxel; runs are joined by union-find, within tiles and then across
// borders. Where most pairs are above the cut everything is connected: a sample of the tiles shows that,
// and the search is skipped.

#include "../tile_geometry.cuh"

#define WARPS (THREADS / 32)  // a warp takes a tile
// Some tiles have far more to join than others, and a block keeps its place until its last warp has ended.
#define JOIN_THREADS 64
#define JOIN_WARPS (JOIN_THREADS / 32)
#define EVERY_LANE 0xffffffffu
#define BOTH_BUT_LAST 0x7fff7fffu  // of two rows, all voxels but the last one
#define SAMPLED_TILE 17  // one in so many tiles is sampled; with 16 all may lie in one column
#define NO_RUN 0xffffffffu
#define CLOSED __int_as_float(0x7fffffff)  // intensity of a voxel outside of the volume or the mask

// What a voxel must be that has an edge above the cut, and a pair of neighbours that is one: within
// the ellipse that reached_tiles.py computes. CLAMPED: whether a sum beyond one of its limits costs nothing more.
struct Bounds
{
    float lowest, highest;
    float ratio, offset, limit, min_sum, max_sum;

    // A voxel, and its share of a pair's sum
    struct Share
    {
        float voxel, sum;
    };

    __device__ Share share(float voxel) const { return {voxel, __fmaf_rn(voxel, ratio, offset)}; }
    __device__ bool hold(float voxel) const { return voxel >= lowest && voxel <= highest; }
    __device__ bool hold(const Share& one, const Share& other) const
    {
        float sum = one.sum + other.sum, difference = one.voxel - other.voxel;
#if CLAMPED
        sum = fminf(fmaxf(sum, min_sum), max_sum);
#endif
        return __fmaf_rn(difference, difference, sum * sum) <= limit;
    }
    __device__ bool hold(float one, float other) const { return hold(share(one), share(other)); }
};

// Pairs above the cut in the sampled tiles, and the limit from which on the search is skipped.
struct Sample
{
    u32* pairs;
    u32 limit;

    __device__ bool is_dense() const { return *(volatile u32*)pairs > limit; }
    __device__ void add(u32 tile, int lane, u32 edges)
    {
        if (tile % SAMPLED_TILE) return;
        u32 sum = __popc(edges);
        for (int step = 16; step; step >>= 1) sum += __shfl_down_sync(EVERY_LANE, sum, step);
        if (lane == 0 && sum) atomicAdd(pairs, sum);
    }
};

__device__ __forceinline__ u32 half_of(u32 rows, int half) { return half ? rows >> 16 : rows & 0xffff; }

// Two rows of a tile, at j and j + 4, are a lane's; bits of both in one word.
struct Rows
{
    u32 open;    // voxels that may have an edge
    u32 starts;  // those of them that are the first of a run
};

struct Row
{
    u32 open, starts;
    u32 first;  // number of its first voxel

    // Number of the first voxel of the run that voxel i is in
    __device__ u32 run(int i) const { return first + 31 - __clz(starts & ((2u << i) - 1)); }
};

// Voxels are numbered tile by tile.
__device__ __forceinline__ Row row_of(const Rows& rows, u32 tile, int lane, int half)
{
    u32 first = tile * VOXELS + ((lane >> 2) << 7 | half << 6 | (lane & 3) << 4);
    return {half_of(rows.open, half), half_of(rows.starts, half), first};
}

// The union-find root, with path halving; other threads may do the same concurrently. compute-sanitizer's
// racecheck reports these writes (`join_row_runs`): what is written is an ancestor, in any order, and never to a
// root, which only `join` changes, by an atomic operation.
__device__ u32 find_root(volatile u32* parent, u32 at)
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

// The higher rank becomes the parent. Ranks are pseudo-random: ordered by number the paths to the roots
// would be as long as a row of tiles.
__device__ __forceinline__ bool ranks_below(u32 one, u32 other) { return one * 2654435761u < other * 2654435761u; }

__device__ void join(u32* parent, u32 one, u32 other)
{
    one = find_root(parent, one);
    other = find_root(parent, other);
    while (one != other) {
        bool first = ranks_below(one, other);
        u32 early = first ? one : other, late = first ? other : one;
        u32 before = atomicCAS(&parent[early], early, late);
        if (before == early) return;
        one = find_root(parent, before);
        other = late;
    }
}

// All bits from the first start beyond voxel i on: up to it one edge is as good as all.
__device__ __forceinline__ u32 next_run_on(u32 starts, int i)
{
    u32 later = starts & ~1u << i;
    return ~((later & (0 - later)) - 1);
}

// Join the runs of two rows of a tile, where edges lead from one to the other.
__device__ void join_rows(u32* parent, u32 edges, const Row& one, const Row& other)
{
    while (edges) {
        int i = __ffs(edges) - 1;
        join(parent, one.run(i), other.run(i));
        edges &= next_run_on(one.starts | other.starts, i);
    }
}

// Exchange lanes and bits: bit b of lane l becomes bit l of lane b.
__device__ __forceinline__ u32 exchanged(u32 bits, int lane)
{
    u32 low = 0x0000ffff;  // bits whose number lacks `step`
#pragma unroll
    for (int step = 16; step; step >>= 1, low ^= low << step) {
        u32 other = __shfl_xor_sync(EVERY_LANE, bits, step);
        bits = lane & step ? (bits & ~low) | (other >> step & low) : (bits & low) | (other << step & ~low);
    }
    return bits;
}

// Of a lane's two rows: voxels that may have an edge, and the edges upwards within the tile
struct Edges
{
    u32 open, along_i, along_j, along_k;
};

// A lane looks at one voxel of each two rows, and keeps a bit for each: the lanes' bits are exchanged at the
// end. What is not open is CLOSED, with which no pair holds.
__device__ __forceinline__ Edges mark_edges(const VOXEL* voxels, const unsigned char* mask, const TileGeometry& p, int lane,
                                            const Bounds& bounds)
{
    int j = p.j0 + (lane >> 4) * 4, i = p.i0 + (lane & 15);
    u32 rows = 0, corner = p.number(p.k0, j, i), plane = (u32)p.nj * p.ni;  // rows: those inside, of four
#pragma unroll
    for (int n = 0; n < 4; n++) rows |= (j + n < p.nj && i < p.ni) << n;
    Edges own = {0, 0, 0, 0};
    Bounds::Share below[4];
#pragma unroll
    for (int n = 0; n < 4; n++) below[n] = {CLOSED, CLOSED};
#pragma unroll 1
    for (int k = 0; k < SIDE_K; k++, corner += plane) {
        VOXEL read[4];  // all loads before the first use
        u32 inside = p.k0 + k < p.nk ? rows : 0;
#pragma unroll
        for (int n = 0; n < 4; n++) read[n] = inside >> n & 1 ? voxels[corner + n * p.ni] : (VOXEL)0;
        if (mask) {
#pragma unroll
            for (int n = 0; n < 4; n++)
                if (inside >> n & 1 && !mask[corner + n * p.ni]) inside ^= 1u << n;
        }
        own = {own.open >> 4, own.along_i >> 4, own.along_j >> 4, own.along_k >> 4};
        Bounds::Share share[5];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            float voxel = read[n];
            bool open = inside >> n & 1 && bounds.hold(voxel);
            if (open) own.open |= 1u << (28 + n);
            share[n] = bounds.share(open ? voxel : CLOSED);
        }
        float fifth = __shfl_down_sync(EVERY_LANE, share[0].voxel, 16);  // of the upper four rows
        share[4] = bounds.share(lane < 16 ? fifth : CLOSED);
#pragma unroll
        for (int n = 0; n < 4; n++) {
            float right = __shfl_down_sync(EVERY_LANE, share[n].voxel, 1);
            if (bounds.hold(share[n], bounds.share(right))) own.along_i |= 1u << (28 + n);
            if (bounds.hold(share[n], share[n + 1])) own.along_j |= 1u << (28 + n);
            if (bounds.hold(below[n], share[n])) own.along_k |= 1u << (28 + n);
            below[n] = share[n];
        }
    }
    return {exchanged(own.open, lane), exchanged(own.along_i, lane) & BOTH_BUT_LAST, exchanged(own.along_j, lane),
            exchanged(own.along_k >> 4, lane)};
}

// The runs of all tiles.
struct Forest
{
    u32 tiles;
    Rows* rows;   // each lane's
    u32* parent;  // of each run, by the number of its first voxel; the last entry is the seeds'
};

// The runs of each tile, joined within it.
extern "C" __global__ void __launch_bounds__(JOIN_THREADS)
    join_row_runs(TileGrid grid, Forest all, Sample sample, Bounds bounds, const VOXEL* voxels, const unsigned char* mask)
{
    __shared__ u32 parents[JOIN_WARPS][VOXELS];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    u32 tile = blockIdx.x * JOIN_WARPS + warp;
    if (tile == 0 && lane == 0) all.parent[all.tiles * VOXELS] = all.tiles * VOXELS;
    if (tile >= all.tiles || __any_sync(EVERY_LANE, sample.is_dense())) return;
    Edges edges = mark_edges(voxels, mask, grid.geometry(tile), lane, bounds);
    sample.add(tile, lane, edges.along_i);
    Rows own = {edges.open, edges.open & ~(edges.along_i << 1)};
    all.rows[tile * 32 + lane] = own;
    if (!__any_sync(EVERY_LANE, own.open)) return;
    u32* up = parents[warp];
    for (u32 n = lane; n < VOXELS; n += 32) up[n] = n;
    Rows next = {0, __shfl_down_sync(EVERY_LANE, own.starts, 1)};
    Rows first = {0, __shfl_sync(EVERY_LANE, own.starts, lane & ~3)};
    Rows higher = {0, __shfl_down_sync(EVERY_LANE, own.starts, 4)};
    __syncwarp();
    for (int half = 0; half < 2; half++) {
        Row row = row_of(own, 0, lane, half);
        bool fourth = (lane & 3) == 3;  // its upper neighbour is the first one of the upper four rows
        Row beside = fourth ? row_of(first, 0, lane - 3, 1) : row_of(next, 0, lane + 1, half);
        join_rows(up, half_of(edges.along_j, half), row, beside);
        join_rows(up, half_of(edges.along_k, half), row, row_of(higher, 0, lane + 4, half));
    }
    __syncwarp();
    for (int half = 0; half < 2; half++) {
        Row row = row_of(own, 0, lane, half);
        for (u32 starts = row.starts; starts; starts &= starts - 1) {
            u32 n = row.first + __ffs(starts) - 1;
            all.parent[tile * VOXELS + n] = tile * VOXELS + find_root(up, n);
        }
    }
}

// The two sides of tiles' borders. Most pairs there join the same two trees of the tiles: only the first
// of such pairs, in a lane and in its neighbour, is taken to the trees' ends, for which all lanes wait.
struct Border
{
    const VOXEL* voxels;
    Bounds bounds;
    u32* parent;
    u32 last_one, last_other;  // parents of the runs that were joined last

    // at: number of the first row's first voxel in the volume; step: to the neighbour beyond the border.
    // All lanes of the warp come here; those without a border have no pairs.
    __device__ void join_rows(const Row& one, const Row& other, u32 pairs, u32 at, u32 step)
    {
        while (__any_sync(EVERY_LANE, pairs)) {
            bool above = false;
            u32 a = 0, b = 0;
            while (pairs && !above) {
                int i = __ffs(pairs) - 1;
                pairs &= pairs - 1;
                above = bounds.hold((float)voxels[at + i], (float)voxels[at + i + step]);
                if (!above) continue;
                pairs &= next_run_on(one.starts | other.starts, i);
                a = parent[one.run(i)];
                b = parent[other.run(i)];
                above = a != last_one || b != last_other;
            }
            join_once(above, a, b);
        }
    }

    // at: number of the first row's last voxel
    __device__ void join_ends(const Row& one, const Row& other, bool both, u32 at)
    {
        u32 a = 0, b = 0;
        bool above = both && bounds.hold((float)voxels[at], (float)voxels[at + 1]);
        if (above) {
            a = parent[one.run(SIDE_I - 1)];
            b = parent[other.run(0)];
            above = a != last_one || b != last_other;
        }
        join_once(above, a, b);
    }

    // above: whether this lane has a pair. One that has none shows its neighbour one of a tree with itself.
    __device__ void join_once(bool above, u32 a, u32 b)
    {
        int lane = threadIdx.x & 31;
        u32 below_a = __shfl_up_sync(EVERY_LANE, above ? a : b, 1), below_b = __shfl_up_sync(EVERY_LANE, b, 1);
        if (!above) return;
        last_one = a;
        last_other = b;
        if (lane == 0 || a != below_a || b != below_b) join(parent, a, b);
    }
};

// Join the runs across the tiles' upper borders.
extern "C" __global__ void __launch_bounds__(JOIN_THREADS)
    join_tiles(TileGrid grid, Forest all, Sample sample, Bounds bounds, const VOXEL* voxels)
{
    int lane = threadIdx.x & 31;
    u32 tile = blockIdx.x * JOIN_WARPS + (threadIdx.x >> 5);
    if (tile >= all.tiles || sample.is_dense()) return;
    const Rows* kept = all.rows;
    Rows own = kept[tile * 32 + lane];
    if (!__any_sync(EVERY_LANE, own.open)) return;
    int nk = grid.nk, nj = grid.nj, ni = grid.ni;
    u32 tiles_i = grid.tiles_i(), tiles_j = grid.tiles_j();
    TileGeometry p = grid.geometry(tile);
    Border border = {voxels, bounds, all.parent, NO_RUN, NO_RUN};
    int k = p.k0 + (lane >> 2), j = p.j0 + (lane & 3);
    bool last_k = lane >= 28 && p.k0 + SIDE_K < nk, last_j = (lane & 3) == 3 && p.j0 + SIDE_J < nj;
    u32 above_k = tile + tiles_i * tiles_j, above_j = tile + tiles_i;
    Rows other = last_k ? kept[above_k * 32 + lane - 28] : Rows{0, 0};
    for (int half = 0; half < 2; half++) {
        Row row = row_of(own, tile, lane, half), beyond = row_of(other, above_k, lane - 28, half);
        border.join_rows(row, beyond, row.open & beyond.open, p.number(k, j + 4 * half, p.i0), nj * ni);
    }
    other = last_j ? kept[above_j * 32 + lane - 3] : Rows{0, 0};
    Row row = row_of(own, tile, lane, 1), beyond = row_of(other, above_j, lane - 3, 0);
    border.join_rows(row, beyond, row.open & beyond.open, p.number(k, j + 4, p.i0), ni);
    if (p.i0 + SIDE_I >= ni) return;
    other = kept[(tile + 1) * 32 + lane];
    for (int half = 0; half < 2; half++) {
        row = row_of(own, tile, lane, half);
        beyond = row_of(other, tile + 1, lane, half);
        bool both = row.open >> (SIDE_I - 1) & beyond.open & 1;
        border.join_ends(row, beyond, both, p.number(k, j + 4 * half, p.i0 + SIDE_I - 1));
    }
}

// Let the trees of the seeds' runs end at the seeds' entry.
extern "C" __global__ void join_seeds(TileGrid grid, Forest all, Sample sample, const long long* seeds, u32 count)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count || sample.is_dense()) return;
    int nj = grid.nj, ni = grid.ni, i = seeds[n] % ni, j = seeds[n] / ni % nj, k = seeds[n] / ni / nj;
    u32 tile = grid.tile_at(k, j, i);
    int lane = k % SIDE_K * 4 + j % 4, half = j % SIDE_J / 4;
    Row row = row_of(all.rows[tile * 32 + lane], tile, lane, half);
    if (row.open >> i % SIDE_I & 1) all.parent[find_root(all.parent, row.run(i % SIDE_I))] = all.tiles * VOXELS;
}

// List the tiles with a run that is connected with the seeds.
extern "C" __global__ void __launch_bounds__(THREADS) list_reached(Forest all, Sample sample, u32* listed, u32* count)
{
    if (sample.is_dense()) return;
    const u32* parent = all.parent;
    __shared__ bool reached[WARPS];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    u32 tile = blockIdx.x * WARPS + warp;
    bool any = false;
    Rows own = tile < all.tiles ? all.rows[tile * 32 + lane] : Rows{0, 0};
    for (int half = 0; half < 2; half++) {
        Row row = row_of(own, tile, lane, half);
        for (u32 starts = row.starts; starts; starts &= starts - 1) {
            u32 at = row.first + __ffs(starts) - 1, up = parent[at];
            if (up != at && up / VOXELS == tile) continue;  // that run sees to it
            while (up != at) {
                at = up;
                up = parent[at];
            }
            any |= at == all.tiles * VOXELS;
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
