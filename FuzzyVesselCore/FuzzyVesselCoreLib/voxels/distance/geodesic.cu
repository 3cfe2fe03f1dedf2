// Shortest ways inside an object over steps to 26 neighbours, by tiles that may still change.
//
// A tile is 8 x 8 x 8 voxels and 64 threads: each thread holds one column along K in registers; the
// tile with its neighbours' voxels lies in shared memory. A visit lowers the tile's distances until
// nothing changes in it, then lists those neighbour tiles in which it would lower a voxel. Distances
// only ever fall, and each is the length of a way, so the order of the visits cannot change the
// result.

#define SIDE 8
#define HALO 10
#define FAR (1 << 30)  // in the object and not reached
#define OUTSIDE (FAR + (FAR >> 1))  // larger than FAR by more than a step; a step more is no overflow

struct Tile
{
    int distance[HALO][HALO][HALO];
    unsigned lowers;  // a bit for each of the 27 tiles around, 9 K + 3 J + I
    // Lengths of the steps that change only I (1), only J (2), J and I (3), only K (4) and so on.
    int steps[8];

    __device__ int step(int dk, int dj, int di) const
    {
        return steps[(dk != 0) * 4 + (dj != 0) * 2 + (di != 0)];
    }
};

__device__ void load(Tile& tile, const int* distances, int nk, int nj, int ni, int k0, int j0, int i0)
{
    for (int n = threadIdx.x; n < HALO * HALO * HALO; n += SIDE * SIDE) {
        int k = n / (HALO * HALO), j = n / HALO % HALO, i = n % HALO;
        int at_k = k0 + k - 1, at_j = j0 + j - 1, at_i = i0 + i - 1, here = -1;
        if (at_k >= 0 && at_j >= 0 && at_i >= 0 && at_k < nk && at_j < nj && at_i < ni)
            here = distances[((long long)at_k * nj + at_j) * ni + at_i];
        tile.distance[k][j][i] = here < 0 ? OUTSIDE : here;
    }
    if (threadIdx.x == 0) tile.lowers = 0;
    __syncthreads();
}

// Lowers the distances of the tile until nothing changes; other columns are read while they change.
// Returns a bit for each voxel of the thread's column that became less.
__device__ unsigned settle(Tile& tile, int y, int x)
{
    volatile int* column = &tile.distance[0][y + 1][x + 1];
    int own[SIDE];
#pragma unroll
    for (int k = 0; k < SIDE; k++) own[k] = column[(k + 1) * HALO * HALO];
    unsigned lowered = 0;
    int below = column[0], above = column[(HALO - 1) * HALO * HALO], up = tile.step(1, 0, 0);
    int changed;
    do {
        int best[SIDE];
#pragma unroll
        for (int k = 0; k < SIDE; k++) best[k] = own[k];
#pragma unroll
        for (int side = 0; side < 9; side++) {
            int dj = side / 3 - 1, di = side % 3 - 1;
            if (side == 4) continue;
            volatile int* other = column + dj * HALO + di;
            int level = tile.step(0, dj, di), aslant = tile.step(1, dj, di);
            int last = other[0], here = other[HALO * HALO];
#pragma unroll
            for (int k = 0; k < SIDE; k++) {
                int next = other[(k + 2) * HALO * HALO];
                best[k] = min(best[k], min(here + level, min(last, next) + aslant));
                last = here;
                here = next;
            }
        }
        best[0] = min(best[0], below + up);
        best[SIDE - 1] = min(best[SIDE - 1], above + up);
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            if (own[k] > FAR) best[k] = own[k];
#pragma unroll
        for (int k = 1; k < SIDE; k++)
            if (own[k] <= FAR) best[k] = min(best[k], best[k - 1] + up);
#pragma unroll
        for (int k = SIDE - 2; k >= 0; k--)
            if (own[k] <= FAR) best[k] = min(best[k], best[k + 1] + up);
        changed = 0;
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            if (best[k] < own[k]) {
                own[k] = best[k];
                column[(k + 1) * HALO * HALO] = best[k];
                lowered |= 1u << k;
                changed = 1;
            }
    } while (__syncthreads_or(changed));
    return lowered;
}

// Finds the tiles around in which this one would lower a voxel.
__device__ void look_around(Tile& tile)
{
    unsigned lowers = 0;
    for (int n = threadIdx.x; n < HALO * HALO * HALO; n += SIDE * SIDE) {
        int k = n / (HALO * HALO), j = n / HALO % HALO, i = n % HALO, here = tile.distance[k][j][i];
        int tk = (k + SIDE - 1) / SIDE, tj = (j + SIDE - 1) / SIDE, ti = (i + SIDE - 1) / SIDE;
        int around = tk * 9 + tj * 3 + ti;
        if (around == 13 || here > FAR) continue;
        bool lower = false;
        for (int a = max(k - 1, 1); a <= min(k + 1, SIDE); a++)
            for (int b = max(j - 1, 1); b <= min(j + 1, SIDE); b++)
                for (int c = max(i - 1, 1); c <= min(i + 1, SIDE); c++)
                    lower |= tile.distance[a][b][c] + tile.step(a - k, b - j, c - i) < here;
        if (lower) lowers |= 1u << around;
    }
    if (lowers) atomicOr(&tile.lowers, lowers);
    __syncthreads();
}

// One round: visits the listed tiles and lists those of the next round.
//
// lists: two lists of tiles, in turn this round's and the next one's. counts: their lengths in turn
// of three, so that the third can be cleared meanwhile. listed: the last round each tile was listed
// for, from 1.
extern "C" __global__ void __launch_bounds__(64) visit_tiles(
    int* distances, int nk, int nj, int ni, const int* steps, int* lists, int* counts, int* listed, int round)
{
    __shared__ Tile tile;
    if (threadIdx.x < 8) tile.steps[threadIdx.x] = steps[threadIdx.x];
    int tiles_k = (nk + SIDE - 1) / SIDE, tiles_j = (nj + SIDE - 1) / SIDE, tiles_i = (ni + SIDE - 1) / SIDE;
    int tile_count = tiles_k * tiles_j * tiles_i, x = threadIdx.x & 7, y = threadIdx.x >> 3;
    const int* active = lists + (round & 1) * (long long)tile_count;
    int* next = lists + ((round + 1) & 1) * (long long)tile_count;
    int active_count = counts[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[(round + 2) % 3] = 0;

    for (int n = blockIdx.x; n < active_count; n += gridDim.x) {
        int ti = active[n] % tiles_i, tj = active[n] / tiles_i % tiles_j, tk = active[n] / tiles_i / tiles_j;
        load(tile, distances, nk, nj, ni, tk * SIDE, tj * SIDE, ti * SIDE);
        unsigned lowered = settle(tile, y, x);
        look_around(tile);
        for (int k = 0; k < SIDE; k++)
            if (lowered >> k & 1)
                distances[((long long)(tk * SIDE + k) * nj + tj * SIDE + y) * ni + ti * SIDE + x] =
                    tile.distance[k + 1][y + 1][x + 1];
        int around = threadIdx.x;
        if (around < 27 && (tile.lowers >> around & 1)) {
            int other = active[n] + ((around / 9 - 1) * tiles_j + around / 3 % 3 - 1) * tiles_i + around % 3 - 1;
            if (atomicExch(&listed[other], round + 1) != round + 1)
                next[atomicAdd(&counts[(round + 1) % 3], 1)] = other;
        }
        __syncthreads();
    }
}

// Sets the sources from which something may become nearer to 0 and lists their tiles for round 1.
extern "C" __global__ void begin(
    int* distances, int nj, int ni, int tiles_j, int tiles_i, const long long* sources, int source_count,
    int* list, int* count, int* listed)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= source_count || distances[sources[n]] <= 0) return;
    distances[sources[n]] = 0;
    int i = sources[n] % ni, j = sources[n] / ni % nj, k = sources[n] / ni / nj;
    int tile = (k / SIDE * tiles_j + j / SIDE) * tiles_i + i / SIDE;
    if (atomicExch(&listed[tile], 1) != 1) list[atomicAdd(count, 1)] = tile;
}

// Distances before anything is reached.
extern "C" __global__ void clear(const unsigned char* mask, long long size, int* distances)
{
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < size; n += (long long)gridDim.x * blockDim.x)
        distances[n] = mask[n] ? FAR : -1;
}

// What was not reached is left out.
extern "C" __global__ void leave_out_unreached(long long size, int* distances)
{
    for (long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x; n < size; n += (long long)gridDim.x * blockDim.x)
        if (distances[n] == FAR) distances[n] = -1;
}
