// Which voxels the paths of the starts reach before those of rivals do, when all levels are known.
//
// A voxel that is no start itself has been reached from its neighbours of the highest level, so it
// belongs to the starts where one of those does. What is the starts' only ever grows, so the order
// of the visits cannot change the result.

#include "tile_rounds.cuh"

#define NOBODY 0
#define OURS 1
#define RIVAL 2  // a start of the others, as in widest_paths.cu: it stays theirs
#define NEW 3    // has become ours in this visit

struct Tile
{
    u16 level[HALO][HALO][HALO];
    u8 owner[HALO][HALO][HALO];
    u32 raised;  // directions of the neighbour tiles that may hold more of ours
};

// The starts (K, J, I each), and the tiles of all their neighbours listed.
extern "C" __global__ void __launch_bounds__(THREADS) begin_owners(
    const int* starts, int start_count, Tiles tiles, u8* owners, TileLists lists)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= start_count) return;
    int k = starts[3 * n], j = starts[3 * n + 1], i = starts[3 * n + 2];
    owners[tiles.voxel(k, j, i)] = OURS;
    for (int d = 0; d < 27; d++) {
        int ok = k + d / 9 - 1, oj = j + d / 3 % 3 - 1, oi = i + d % 3 - 1;
        if (tiles.holds(ok, oj, oi)) lists.add(tiles.tile(ok, oj, oi), 0, tiles.count());
    }
}

// Whether a voxel that nobody owns has a neighbour of ours among those of the highest level.
__device__ bool becomes_ours(const Tile& tile, int z, int y, int x)
{
    if (tile.owner[z][y][x] != NOBODY || tile.level[z][y][x] == 0) return false;
    int best = 0, ours = 0;  // level of the highest, and of ours
    for (int oz = z - 1; oz <= z + 1; oz++)
        for (int oy = y - 1; oy <= y + 1; oy++)
            for (int ox = x - 1; ox <= x + 1; ox++) {
                int level = tile.level[oz][oy][ox], owner = tile.owner[oz][oy][ox];
                best = max(best, level);
                if (owner == OURS || owner == NEW) ours = max(ours, level);
            }
    return ours == best;
}

__device__ void visit(Tile& tile, const Tiles& tiles, const u16* levels, u8* owners, int k0, int j0, int i0)
{
    int t = threadIdx.x, x = (t & 7) + 1, y = (t >> 3) + 1;
    for (int n = t; n < CELLS; n += THREADS) {
        Cell c(n);
        int k = k0 + c.z - 1, j = j0 + c.y - 1, i = i0 + c.x - 1;
        u16 level = 0;
        u8 owner = NOBODY;
        if (tiles.holds(k, j, i)) {
            u32 at = tiles.voxel(k, j, i);
            level = levels[at];
            // Another tile may be changing it at this moment: either value will do.
            if (level) owner = *(volatile u8*)(owners + at);
        }
        tile.level[c.z][c.y][c.x] = level;
        tile.owner[c.z][c.y][c.x] = owner;
    }
    __syncthreads();
    u32 mine = 0, now;  // voxels of this column that have become ours, and in this step
    do {
        now = 0;
        for (int k = 0; k < SIDE; k++) now |= (u32)becomes_ours(tile, k + 1, y, x) << k;
        __syncthreads();
        for (int k = 0; k < SIDE; k++)
            if (now >> k & 1) tile.owner[k + 1][y][x] = NEW;
        mine |= now;
    } while (__syncthreads_or(now));

    for (int k = 0; k < SIDE; k++)
        if (mine >> k & 1) owners[tiles.voxel(k0 + k, j0 + y - 1, i0 + x - 1)] = OURS;
    if (!__syncthreads_or(mine)) return;
    u32 raised = 0;
    for (int n = t; n < CELLS; n += THREADS) {
        Cell c(n);
        int level = tile.level[c.z][c.y][c.x];
        if (c.is_own() || tile.owner[c.z][c.y][c.x] != NOBODY || level == 0) continue;
        auto leads = [&](int z, int y, int x) { return tile.owner[z][y][x] == NEW && tile.level[z][y][x] >= level; };
        if (c.any_own_neighbour(leads)) raised |= 1u << c.direction();
    }
    if (raised) atomicOr(&tile.raised, raised);
}

// One round of `visit_active`.
extern "C" __global__ void __launch_bounds__(THREADS) visit_owners(
    const u16* levels, u8* owners, Tiles tiles, TileLists lists, int round)
{
    __shared__ Tile tile;
    visit_active(tiles, lists, round, tile.raised,
                 [&](int k, int j, int i) { visit(tile, tiles, levels, owners, k, j, i); });
}

// Level 0 to what is not ours.
extern "C" __global__ void __launch_bounds__(256) keep_ours(const u8* owners, u32 count, u16* levels)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count && owners[n] != OURS) levels[n] = 0;
}
