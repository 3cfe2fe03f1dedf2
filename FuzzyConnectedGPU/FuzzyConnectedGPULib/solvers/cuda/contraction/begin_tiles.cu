// What is filled before contract_tiles.cu runs. A file of its own, as it is compiled at the same time.

#include "../tile_geometry.cuh"
#include "affinity_tables.cuh"

// What contract_tiles finds: no nodes in tiles that it leaves out; the entries of both tables.
extern "C" __global__ void begin(u32 tiles, u32* first_nodes, Affinity a, Tables tables)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < tiles) first_nodes[n] = NO_NODES;
    if (n >= tables.size()) return;
    int sum = (int)n - tables.differences;
    bool ends = sum == -1 && !a.weighted;
    tables.entries[n] = sum >= 0 ? sum_term((float)(tables.lowest_sum + sum), a)
                        : ends   ? 0
                                 : difference_term((float)n, a);
}

// Levels, 0 so far, of the seeds (null: TOP), and marks, 0 so far, for their tiles.
extern "C" __global__ void begin_seeds(const long long* seeds, const u16* seed_levels, u32 count, TileGrid grid,
                                       u16* levels, u8* seeded)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    levels[seeds[n]] = seed_levels ? seed_levels[n] : TOP;
    seeded[grid.tile_of(seeds[n])] = 1;
}
