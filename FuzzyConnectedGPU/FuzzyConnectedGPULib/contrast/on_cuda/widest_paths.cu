// Widest paths of the weakest voxel over 26 neighbours, by active tiles.
//
// A voxel's level is the lower of its own capacity and the highest level round it. A visit brings a
// tile of 8 x 8 x 8 voxels to its own fixpoint, then activates those neighbour tiles in which it
// would raise a voxel. Levels only ever rise towards the one fixpoint, so the order of the visits
// cannot change the result.

#define SIDE 8
#define HALO 10  // a tile's side with its neighbours' voxels
#define CELLS (HALO * HALO * HALO)
#define THREADS 64
#define DIRECTIONS 27  // of neighbour tiles; the 14th is the tile itself

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

struct Tile
{
    u16 level[HALO][HALO][HALO];
    u16 capacity[HALO][HALO][HALO];  // 0: outside the volume or the mask, or below the floor
    u32 raised;                      // directions in which a neighbour tile would rise
};

// Capacities of all voxels: their contrast in steps, 0 where no path may go. `steps` of them make
// one unit; the arithmetic is the CPU's, in double precision. What is below `certainly_low` needs none.
extern "C" __global__ void __launch_bounds__(256) find_capacities(
    const float* contrast, const u8* mask, u32 count, double unit, double steps, int floor_level, float certainly_low,
    u16* capacity)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    float value = contrast[n];
    int level = 0;
    if (value >= certainly_low && !(mask && !mask[n])) {
        level = (int)fmin(fmax(floor((double)value / unit * steps), 0.0), 65535.0);
        if (level < floor_level) level = 0;
    }
    capacity[n] = level;
}

// What the first round finds: the starts at their own level, and their tiles listed.
extern "C" __global__ void __launch_bounds__(64) begin_paths(
    const long long* starts, int start_count, const u16* capacity, u16* levels, const int* tiles, int tile_count,
    int* lists, int* counts, int* listed)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < start_count) levels[starts[n]] = capacity[starts[n]];
    if (n == 0) counts[0] = counts[3] = tile_count;
    if (n >= tile_count) return;
    lists[n] = tiles[n];
    listed[tiles[n]] = 1;
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

// Whether the tile's own voxels would raise a voxel of its halo.
__device__ bool raises(const Tile& tile, int z, int y, int x)
{
    int before = tile.level[z][y][x], most = tile.capacity[z][y][x], best = 0;
    if (most <= before) return false;
    for (int oz = max(z - 1, 1); oz <= min(z + 1, SIDE); oz++)
        for (int oy = max(y - 1, 1); oy <= min(y + 1, SIDE); oy++)
            for (int ox = max(x - 1, 1); ox <= min(x + 1, SIDE); ox++)
                best = max(best, (int)tile.level[oz][oy][ox]);
    return best > before;
}

__device__ __forceinline__ int side_of(int place) { return place == 0 ? -1 : place == HALO - 1; }

__device__ void visit(Tile& tile, const u16* capacity, u16* levels, int nk, int nj, int ni, int k0, int j0, int i0)
{
    int t = threadIdx.x, x = (t & 7) + 1, y = (t >> 3) + 1;
    if (t == 0) tile.raised = 0;
    for (int n = t; n < CELLS; n += THREADS) {
        int z = n / (HALO * HALO), cy = n / HALO % HALO, cx = n % HALO;
        int k = k0 + z - 1, j = j0 + cy - 1, i = i0 + cx - 1;
        u16 most = 0, level = 0;
        if (k >= 0 && j >= 0 && i >= 0 && k < nk && j < nj && i < ni) {
            u32 at = ((u32)k * nj + j) * ni + i;
            most = capacity[at];
            // Another tile may be raising it at this moment: either value will do.
            if (most) level = *(volatile u16*)(levels + at);
        }
        tile.capacity[z][cy][cx] = most;
        tile.level[z][cy][cx] = level;
    }
    __syncthreads();

    // Each thread has a column along K. All read, then all write: the columns see one another's
    // levels of the step before, but along its own column a thread goes up and down at once.
    u16 level[SIDE], start[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++) level[k] = start[k] = tile.level[k + 1][y][x];
    int changed;
    do {
        int below = highest(tile, 0, y, x), here = highest(tile, 1, y, x);
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            int above = highest(tile, k + 2, y, x), best = max(max(below, here), above);
            if (k > 0) best = max(best, (int)level[k - 1]);
            level[k] = max((int)level[k], min(best, (int)tile.capacity[k + 1][y][x]));
            below = here;
            here = above;
        }
#pragma unroll
        for (int k = SIDE - 2; k >= 0; k--)
            level[k] = max((int)level[k], min((int)level[k + 1], (int)tile.capacity[k + 1][y][x]));
        __syncthreads();
        changed = 0;
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            if (level[k] != tile.level[k + 1][y][x]) {
                tile.level[k + 1][y][x] = level[k];
                changed = 1;
            }
    } while (__syncthreads_or(changed));

#pragma unroll
    for (int k = 0; k < SIDE; k++)
        if (level[k] != start[k]) levels[((u32)(k0 + k) * nj + j0 + y - 1) * ni + i0 + x - 1] = level[k];
    u32 raised = 0;
    for (int n = t; n < CELLS; n += THREADS) {
        int z = n / (HALO * HALO), cy = n / HALO % HALO, cx = n % HALO;
        int dz = side_of(z), dy = side_of(cy), dx = side_of(cx);
        if ((dz || dy || dx) && raises(tile, z, cy, cx)) raised |= 1u << (dz + 1) * 9 + (dy + 1) * 3 + dx + 1;
    }
    if (raised) atomicOr(&tile.raised, raised);
    __syncthreads();
}

// One round: visit the active tiles and list those of the next round.
//
// lists: two lists of tiles, in turn this round's and the next one's. counts: their lengths in turn
// of three, so that the third can be cleared meanwhile; counts[3] counts the tiles ever listed.
// listed: the last round each tile was listed for, counted from 1; 0 for never.
extern "C" __global__ void __launch_bounds__(THREADS) visit_tiles(
    const u16* capacity, u16* levels, int nk, int nj, int ni, int* lists, int* counts, int* listed, int round)
{
    __shared__ Tile tile;
    int tiles_i = (ni + SIDE - 1) / SIDE, tiles_j = (nj + SIDE - 1) / SIDE, tiles_k = (nk + SIDE - 1) / SIDE;
    int tile_count = tiles_i * tiles_j * tiles_k;
    const int* active = lists + (round & 1) * (long long)tile_count;
    int* next = lists + ((round + 1) & 1) * (long long)tile_count;
    int active_count = counts[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(round + 2) % 3] = 0;

    for (int n = blockIdx.x; n < active_count; n += gridDim.x) {
        int own = active[n], ti = own % tiles_i, tj = own / tiles_i % tiles_j, tk = own / tiles_i / tiles_j;
        visit(tile, capacity, levels, nk, nj, ni, tk * SIDE, tj * SIDE, ti * SIDE);
        int way = threadIdx.x;
        if (way < DIRECTIONS && (tile.raised >> way & 1)) {
            // It leads into the volume: outside, all capacities are 0.
            int other = own + ((way / 9 - 1) * tiles_j + way / 3 % 3 - 1) * tiles_i + way % 3 - 1;
            int before = atomicExch(&listed[other], round + 2);
            if (before != round + 2) next[atomicAdd(&counts[(round + 1) % 3], 1)] = other;
            if (before == 0) atomicAdd(&counts[3], 1);
        }
        __syncthreads();
    }
}
