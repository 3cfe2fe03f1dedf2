// A tile of 8 x 8 x 8 voxels in shared memory, with its neighbours' voxels. A block of 64 threads
// works on it: each thread holds one column along K in registers.
#pragma once

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

// Finds the adjacent tiles in which this one would lower a voxel.
__device__ void find_lowered_tiles(Tile& tile)
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
