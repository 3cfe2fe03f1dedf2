// Widest paths of the weakest voxel over 26 neighbours, by active tiles.
//
// A voxel's level is the lower of its own capacity and the highest level round it. A visit brings a
// tile to its own fixpoint, then activates those neighbour tiles in which it would raise a voxel.
// Levels only ever rise towards a unique fixpoint, so the order of visits does not change the result.

#include "tile_rounds.cuh"

#define RIVAL 2  // owner of a voxel of another object, as in path_owners.cu

struct Tile
{
    u16 level[HALO][HALO][HALO];
    u16 capacity[HALO][HALO][HALO];  // 0: outside the volume or the mask, or below the floor
    u16 next[SIDE][SIDE][SIDE];      // the tile's own levels after a step
    u32 raised;                      // directions of the neighbour tiles that would rise
};

// Contrast to levels. The arithmetic is the CPU's, in double precision.
struct Scale
{
    double unit, steps;  // levels that make a unit
    int floor_level;  // no path goes below it
    float certainly_low;  // contrast that is below it for sure
};

// Other objects start where `smooth` (null: there are none) is above `brighter`.
struct Rivals
{
    const float* smooth;
    float brighter;
    u8* owners;
};

// Capacities of all voxels: their contrast in levels, 0 where no path may go. Levels are 0, but those of
// rivals: their own.
extern "C" __global__ void __launch_bounds__(256) find_capacities(
    const float* contrast, const u8* mask, Tiles tiles, Scale scale, Rivals rivals, u16* capacity, u16* levels,
    TileLists lists)
{
    int nj = tiles.nj, ni = tiles.ni;
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= (u32)tiles.nk * nj * ni) return;
    float value = contrast[n];
    int level = 0;
    if (value >= scale.certainly_low && !(mask && !mask[n])) {
        level = (int)fmin(fmax(floor((double)value / scale.unit * scale.steps), 0.0), 65535.0);
        if (level < scale.floor_level) level = 0;
    }
    capacity[n] = level;
    bool rival = rivals.smooth && level && rivals.smooth[n] > rivals.brighter;
    levels[n] = rival ? level : 0;
    if (rivals.smooth) rivals.owners[n] = rival ? RIVAL : 0;
    if (rival) lists.add(tiles.tile(n / ni / nj, n / ni % nj, n % ni), 0, tiles.count());
}

// The starts (K, J, I each) at their own level, and their tiles listed.
extern "C" __global__ void __launch_bounds__(THREADS) begin_paths(
    const int* starts, int start_count, const u16* capacity, Tiles tiles, u16* levels, TileLists lists)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= start_count) return;
    int k = starts[3 * n], j = starts[3 * n + 1], i = starts[3 * n + 2];
    u32 at = tiles.voxel(k, j, i);
    levels[at] = capacity[at];
    lists.add(tiles.tile(k, j, i), 0, tiles.count());
}

// The highest level among the 3 x 3 voxels round a column in one plane.
__device__ __forceinline__ int highest(const Tile& tile, int z, int y, int x)
{
    int best = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) best = max(best, (int)tile.level[z][y + dy][x + dx]);
    return best;
}

__device__ void visit(Tile& tile, const Tiles& tiles, const u16* capacity, u16* levels, int k0, int j0, int i0)
{
    int t = threadIdx.x, x = (t & 7) + 1, y = (t >> 3) + 1;
    for (int n = t; n < CELLS; n += THREADS) {
        Cell c(n);
        int k = k0 + c.z - 1, j = j0 + c.y - 1, i = i0 + c.x - 1;
        u16 limit = 0, level = 0;
        if (tiles.holds(k, j, i)) {
            u32 at = tiles.voxel(k, j, i);
            limit = capacity[at];
            // Another tile may be raising it at this moment: either value will do.
            if (limit) level = *(volatile u16*)(levels + at);
        }
        tile.capacity[c.z][c.y][c.x] = limit;
        tile.level[c.z][c.y][c.x] = level;
    }
    __syncthreads();

    // All read, then all write: the columns see one another's levels of the step before, but along
    // its own column a thread goes up and down at once.
    u16 *next = &tile.next[0][y - 1][x - 1], risen = 0, changed;
    do {
        int below = highest(tile, 0, y, x), here = highest(tile, 1, y, x), level = 0;
#pragma unroll 2
        for (int k = 0; k < SIDE; k++) {
            int above = highest(tile, k + 2, y, x), best = max(max(below, here), max(above, level));
            level = max((int)tile.level[k + 1][y][x], min(best, (int)tile.capacity[k + 1][y][x]));
            next[k * SIDE * SIDE] = level;
            below = here;
            here = above;
        }
#pragma unroll 2
        for (int k = SIDE - 2; k >= 0; k--) {
            level = max((int)next[k * SIDE * SIDE], min(level, (int)tile.capacity[k + 1][y][x]));
            next[k * SIDE * SIDE] = level;
        }
        __syncthreads();
        changed = 0;
        for (int k = 0; k < SIDE; k++)
            if (next[k * SIDE * SIDE] != tile.level[k + 1][y][x]) {
                tile.level[k + 1][y][x] = next[k * SIDE * SIDE];
                changed |= 1 << k;
            }
        risen |= changed;
    } while (__syncthreads_or(changed));

    for (int k = 0; k < SIDE; k++)
        if (risen >> k & 1) levels[tiles.voxel(k0 + k, j0 + y - 1, i0 + x - 1)] = tile.level[k + 1][y][x];
    u32 raised = 0;
    for (int n = t; n < CELLS; n += THREADS) {
        Cell c(n);
        int before = tile.level[c.z][c.y][c.x];
        if (c.is_own() || tile.capacity[c.z][c.y][c.x] <= before) continue;
        if (c.any_own_neighbour([&](int z, int y, int x) { return tile.level[z][y][x] > before; }))
            raised |= 1u << c.direction();
    }
    if (raised) atomicOr(&tile.raised, raised);
}

// One round of `visit_active`.
extern "C" __global__ void __launch_bounds__(THREADS) visit_tiles(
    const u16* capacity, u16* levels, Tiles tiles, TileLists lists, int round)
{
    __shared__ Tile tile;
    visit_active(tiles, lists, round, tile.raised,
                 [&](int k, int j, int i) { visit(tile, tiles, capacity, levels, k, j, i); });
}
