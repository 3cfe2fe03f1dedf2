// Widest paths of the weakest voxel over 26 neighbours.
//
// A voxel's level is the lower of its own capacity and the highest level round it. Tiles of 8 x 8 x 8
// voxels are visited in rounds: a block of 64 threads, one for each column along K, brings its tile to
// its own fixpoint, then marks those neighbour tiles for the next round in which it would raise a
// voxel. Levels only ever rise towards a unique fixpoint, so the order of visits does not change the
// result. The same rounds then find which voxels the starts' paths reach before competing structures do.

#define SIDE 8
#define HALO 10  // a tile's side with its neighbours' voxels
#define CELLS (HALO * HALO * HALO)
#define THREADS 64
#define MIDDLE 13  // of the 27 directions of neighbour tiles: the tile itself

#define NOBODY 0
#define OURS 1
#define COMPETING 2  // a start of the others: it stays theirs
#define NEW 3    // has become ours in this visit

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

// A volume of fewer than 2**32 voxels, and its tiles.
struct Tiles
{
    int nk, nj, ni;

    __device__ u32 voxel(int k, int j, int i) const { return ((u32)k * nj + j) * ni + i; }
    __device__ bool holds(int k, int j, int i) const
    {
        return k >= 0 && j >= 0 && i >= 0 && k < nk && j < nj && i < ni;
    }
    __device__ int along_j() const { return (nj + SIDE - 1) / SIDE; }
    __device__ int along_i() const { return (ni + SIDE - 1) / SIDE; }
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
    __device__ int direction() const { return side(z) * 9 + side(y) * 3 + side(x) + MIDDLE; }

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

// Capacities of all voxels: their contrast in levels, as on the CPU in double precision; 0 where no path
// may go. Levels are 0, but those of competing structures (`smooth` above `brighter`; null: none)
// are their own, and their tiles are marked.
extern "C" __global__ void __launch_bounds__(256) find_capacities(
    const float* contrast, const u8* mask, Tiles tiles, float lowest, double unit, double steps, const float* smooth,
    float brighter, u16* capacity, u16* levels, u8* owners, u8* marked)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= (u32)tiles.nk * tiles.nj * tiles.ni) return;
    float value = contrast[n];
    int level = 0;
    if (value >= lowest && !(mask && !mask[n])) level = (int)fmin(floor((double)value / unit * steps), 65535.0);
    bool competing = smooth && level && smooth[n] > brighter;
    capacity[n] = level;
    levels[n] = competing ? level : 0;
    if (smooth) owners[n] = competing ? COMPETING : NOBODY;
    if (competing) marked[tiles.tile(n / tiles.ni / tiles.nj, n / tiles.ni % tiles.nj, n % tiles.ni)] = 1;
}

// The starts (K, J, I each) at their own level, and their tiles marked.
extern "C" __global__ void begin_paths(
    const int* starts, int start_count, const u16* capacity, Tiles tiles, u16* levels, u8* marked)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= start_count) return;
    int k = starts[3 * n], j = starts[3 * n + 1], i = starts[3 * n + 2];
    u32 at = tiles.voxel(k, j, i);
    levels[at] = capacity[at];
    marked[tiles.tile(k, j, i)] = 1;
}

// The starts as ours, and the tiles of all their neighbours marked.
extern "C" __global__ void begin_owners(const int* starts, int start_count, Tiles tiles, u8* owners, u8* marked)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= start_count) return;
    int k = starts[3 * n], j = starts[3 * n + 1], i = starts[3 * n + 2];
    owners[tiles.voxel(k, j, i)] = OURS;
    for (int d = 0; d < 27; d++) {
        int ok = k + d / 9 - 1, oj = j + d / 3 % 3 - 1, oi = i + d % 3 - 1;
        if (tiles.holds(ok, oj, oi)) marked[tiles.tile(ok, oj, oi)] = 1;
    }
}

// A round, one block a tile: `visit` gets the first voxel of a tile that is marked, and sets a bit of
// `raised` for each direction of a neighbour tile that must be visited in the next round.
template <class Visit>
__device__ void visit_marked(const Tiles& tiles, u8* marked, u8* next, int* any, u32& raised, Visit visit)
{
    int own = blockIdx.x, direction = threadIdx.x, along_j = tiles.along_j(), along_i = tiles.along_i();
    if (!marked[own]) return;
    __syncthreads();
    if (direction == 0) marked[own] = raised = 0;
    __syncthreads();
    visit(own / along_i / along_j * SIDE, own / along_i % along_j * SIDE, own % along_i * SIDE);
    __syncthreads();
    if (direction < 27 && (raised >> direction & 1)) {
        next[own + ((direction / 9 - 1) * along_j + direction / 3 % 3 - 1) * along_i + direction % 3 - 1] = 1;
        *any = 1;
    }
}

struct LevelTile
{
    u16 level[HALO][HALO][HALO];
    u16 capacity[HALO][HALO][HALO];  // 0: outside the volume or the mask, or below the floor
    u16 next[SIDE][SIDE][SIDE];      // the tile's own levels after a step
    u32 raised;
};

// The highest level among the 3 x 3 voxels round a column in one plane.
__device__ __forceinline__ int highest(const LevelTile& tile, int z, int y, int x)
{
    int best = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) best = max(best, (int)tile.level[z][y + dy][x + dx]);
    return best;
}

extern "C" __global__ void __launch_bounds__(THREADS) raise_levels(
    const u16* capacity, u16* levels, Tiles tiles, u8* marked, u8* next_marked, int* any)
{
    __shared__ LevelTile tile;
    visit_marked(tiles, marked, next_marked, any, tile.raised, [&](int k0, int j0, int i0) {
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
            if (c.direction() == MIDDLE || tile.capacity[c.z][c.y][c.x] <= before) continue;
            if (c.any_own_neighbour([&](int oz, int oy, int ox) { return tile.level[oz][oy][ox] > before; }))
                raised |= 1u << c.direction();
        }
        if (raised) atomicOr(&tile.raised, raised);
    });
}

struct OwnerTile
{
    u16 level[HALO][HALO][HALO];
    u8 owner[HALO][HALO][HALO];
    u32 raised;  // directions of the neighbour tiles that may hold more of ours
};

// Whether a voxel that nobody owns has a neighbour of ours among those of the highest level: a voxel that
// is no start itself has been reached from one of these.
__device__ bool becomes_ours(const OwnerTile& tile, int z, int y, int x)
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

// What is ours only ever grows, so the order of the visits cannot change the result.
extern "C" __global__ void __launch_bounds__(THREADS) spread_owners(
    const u16* levels, u8* owners, Tiles tiles, u8* marked, u8* next_marked, int* any)
{
    __shared__ OwnerTile tile;
    visit_marked(tiles, marked, next_marked, any, tile.raised, [&](int k0, int j0, int i0) {
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
            if (c.direction() == MIDDLE || tile.owner[c.z][c.y][c.x] != NOBODY || level == 0) continue;
            auto leads = [&](int oz, int oy, int ox) {
                return tile.owner[oz][oy][ox] == NEW && tile.level[oz][oy][ox] >= level;
            };
            if (c.any_own_neighbour(leads)) raised |= 1u << c.direction();
        }
        if (raised) atomicOr(&tile.raised, raised);
    });
}

// Level 0 to what is not ours.
extern "C" __global__ void __launch_bounds__(256) keep_ours(const u8* owners, u32 count, u16* levels)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count && owners[n] != OURS) levels[n] = 0;
}
