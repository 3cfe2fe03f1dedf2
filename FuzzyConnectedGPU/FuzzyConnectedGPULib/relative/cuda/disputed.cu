// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// Disputed voxels: iterative relative connectedness by active tiles, and the rule for ties.
//
// Owners only ever rise (nobody < a group < several) towards the one least solution, so the order of
// the visits cannot change the result. For the rule for ties a round has an end: what is reached in it
// leads on in the next one.

#include "../../solvers/cuda/affinity.cuh"
#include "../../contrast/paths/tile_rounds.cuh"

#define NOBODY 0
#define DISPUTED 255
#define SIDES 6
#define SETTLED (1 << SIDES)  // beside a voxel's optimal edges: it was reached in an earlier round

// The neighbours' order is that of neighbours.py: -I, +I, -J, +J, -K, +K.
__device__ __forceinline__ int step_k(int side) { return side < 4 ? 0 : side & 1 ? 1 : -1; }
__device__ __forceinline__ int step_j(int side) { return side >> 1 != 1 ? 0 : side & 1 ? 1 : -1; }
__device__ __forceinline__ int step_i(int side) { return side > 1 ? 0 : side & 1 ? 1 : -1; }

__device__ __forceinline__ u32 joined(u32 one, u32 other)
{
    if (one == NOBODY || one == other) return other;
    return other == NOBODY ? one : DISPUTED;
}

// For each disputed voxel the sides from which optimal edges lead to it, and what the neighbours there
// that groups have give it; the tiles are listed in which they give anything.
extern "C" __global__ void __launch_bounds__(256) find_edges(
    const VOXEL* voxels, const u16* levels, const u8* owners, Tiles tiles, Affinity a, u8* edges, u8* found,
    TileLists lists)
{
    int nk = tiles.nk, nj = tiles.nj, ni = tiles.ni;
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= (u32)nk * nj * ni) return;
    u32 sides = 0, owner = NOBODY;
    if (owners[n] == DISPUTED) {
        int k = n / ni / nj, j = n / ni % nj, i = n % ni;
        float voxel = (float)voxels[n];
        u32 level = levels[n];
#pragma unroll
        for (int side = 0; side < SIDES; side++) {
            int ok = k + step_k(side), oj = j + step_j(side), oi = i + step_i(side);
            if (!tiles.holds(ok, oj, oi)) continue;
            u32 other = tiles.voxel(ok, oj, oi);
            if (levels[other] < level || affinity_level(voxel, (float)voxels[other], a) < level) continue;
            sides |= 1u << side;
            if (owners[other] != DISPUTED) owner = joined(owner, owners[other]);
        }
        if (owner) lists.add(tiles.tile(k, j, i), 0, tiles.count());
    }
    edges[n] = sides;
    found[n] = owner;
}

struct Tile
{
    u8 edges[HALO][HALO][HALO], found[HALO][HALO][HALO];
    u32 raised;  // ways to the neighbour tiles that would change
};

// What optimal edges bring to a cell from neighbours in the tile.
__device__ __forceinline__ u32 brought(const Tile& tile, int z, int y, int x, u32 owner)
{
    u32 sides = tile.edges[z][y][x];
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
        int oz = z + step_k(side), oy = y + step_j(side), ox = x + step_i(side);
        if (sides >> side & 1) owner = joined(owner, *(volatile const u8*)&tile.found[oz][oy][ox]);
    }
    return owner;
}

__device__ void visit(Tile& tile, const Tiles& tiles, const u8* edges, u8* found, int k0, int j0, int i0)
{
    int t = threadIdx.x, x = (t & 7) + 1, y = (t >> 3) + 1;
    for (int n = t; n < CELLS; n += THREADS) {
        Cell c(n);
        int k = k0 + c.z - 1, j = j0 + c.y - 1, i = i0 + c.x - 1;
        u8 sides = 0, owner = NOBODY;
        if (tiles.holds(k, j, i)) {
            u32 at = tiles.voxel(k, j, i);
            sides = edges[at];
            // Another tile may be changing it at this moment: either value will do.
            if (sides) owner = *(volatile u8*)(found + at);
        }
        tile.edges[c.z][c.y][c.x] = sides;
        tile.found[c.z][c.y][c.x] = owner;
    }
    u32 risen = 0, changed;
    do {
        __syncthreads();
        changed = 0;
        for (int z = 1; z <= SIDE; z++) {
            u32 before = tile.found[z][y][x], owner = brought(tile, z, y, x, before);
            if (owner == before) continue;
            *(volatile u8*)&tile.found[z][y][x] = owner;
            changed |= 1u << z;
        }
        risen |= changed;
    } while (__syncthreads_or(changed));

    for (int z = 1; z <= SIDE; z++)
        if (risen >> z & 1) found[tiles.voxel(k0 + z - 1, j0 + y - 1, i0 + x - 1)] = tile.found[z][y][x];
    u32 raised = 0;
    for (int n = t; n < CELLS; n += THREADS) {
        Cell c(n);
        u32 before = tile.found[c.z][c.y][c.x], sides = tile.edges[c.z][c.y][c.x];
        if (c.is_own() || !sides || before == DISPUTED) continue;
        for (int side = 0; side < SIDES; side++) {
            int z = c.z + step_k(side), y = c.y + step_j(side), x = c.x + step_i(side);
            bool own = z >= 1 && y >= 1 && x >= 1 && z <= SIDE && y <= SIDE && x <= SIDE;
            if (own && sides >> side & 1 && joined(before, tile.found[z][y][x]) != before) raised |= 1u << c.direction();
        }
    }
    if (raised) atomicOr(&tile.raised, raised);
    __threadfence();
}

// One round of `visit_active`.
extern "C" __global__ void __launch_bounds__(THREADS) visit_tiles(
    const u8* edges, u8* found, Tiles tiles, TileLists lists, int round)
{
    __shared__ Tile tile;
    visit_active(tiles, lists, round, tile.raised,
                 [&](int k, int j, int i) { visit(tile, tiles, edges, found, k, j, i); });
}

// Voxels that were reached lead on from now on.
extern "C" __global__ void settle(u8* edges, const u8* found, u32 count)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count && found[n] != NOBODY) edges[n] |= SETTLED;
}

// One step on from the voxels that are settled; changed: whether there was any.
extern "C" __global__ void __launch_bounds__(256) step_on(const u8* edges, u8* found, int nk, int nj, int ni, int* changed)
{
    Tiles tiles = {nk, nj, ni};
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= (u32)nk * nj * ni) return;
    u32 sides = edges[n], owner = NOBODY;
    if (!sides || sides & SETTLED) return;
    int k = n / ni / nj, j = n / ni % nj, i = n % ni;
    for (int side = 0; side < SIDES; side++) {
        if (!(sides >> side & 1)) continue;
        u32 other = tiles.voxel(k + step_k(side), j + step_j(side), i + step_i(side));
        if (edges[other] & SETTLED) owner = joined(owner, found[other]);
    }
    if (!owner) return;
    found[n] = owner;
    *changed = 1;
}

// Owners of the disputed voxels are those that were found.
extern "C" __global__ void take_found(const u8* found, u32 count, u8* owners)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count && owners[n] == DISPUTED) owners[n] = found[n];
}
