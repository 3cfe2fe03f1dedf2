// How a volume is cut into tiles for contraction, and from voxels to the nodes of the tiles.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// A tile: 8 x 8 x 16 voxels (K, J, I), 4 of them, one above the other, to a thread
#define SIDE_K 8
#define SIDE_J 8
#define SIDE_I 16
#define VOXELS 1024
#define THREADS 256
#define OWN 4
#define PAIRS 320  // of neighbours across a tile's upper borders, and as many across its lower ones

#define TOP 0xffffu
#define NONE ((NODE)0xffffu)   // node of a voxel from whose component nothing leads out
// Outgoing edge of a node that hooks onto the source; onto a node of its tile, as it does by its edge within;
// onto none, as another one hooks onto it along the same edge
#define SEED 0xffffffffu
#define INSIDE 0xfffffffeu
#define STAYS 0xfffffffdu
#define NO_NODES 0xffffffffu  // first node of a tile without any edge
#define ALONE 0xffffffffu     // parent of a node that survives the first round, as another one hooks onto it

// A tile's place in the volume, and the thread's voxels in it. All but the tile's corner is computed
// anew wherever it is needed: registers are scarcer.
struct TileGeometry
{
    int nk, nj, ni;
    int k0, j0, i0;

    __device__ int i() const { return threadIdx.x & 15; }
    __device__ int j() const { return threadIdx.x >> 4 & 7; }
    __device__ int k() const { return (threadIdx.x >> 7) * OWN; }  // of the lowest voxel
    __device__ int voxel(int m) const { return (k() + m) << 7 | (threadIdx.x & 127); }
    // Of a voxel in the volume; voxels are fewer than 2**32.
    __device__ u32 number(int k, int j, int i) const { return ((u32)k * nj + j) * ni + i; }
    __device__ u32 at(int m) const { return number(k0 + k() + m, j0 + j(), i0 + i()); }
    __device__ bool inside(int m) const { return k0 + k() + m < nk && j0 + j() < nj && i0 + i() < ni; }
};

// One of the pairs of neighbours across a tile's upper or lower borders: 128 along K, 128 along J, 64 along I.
// Of its lower voxel the place in the tile; -1: below the tile.
struct BorderPair
{
    int axis, k, j, i;

    __device__ __forceinline__ BorderPair(int n, bool upper) : axis(n >> 7)
    {
        k = axis == 0 ? (upper ? SIDE_K - 1 : -1) : axis == 1 ? n >> 4 & 7 : n >> 3 & 7;
        j = axis == 1 ? (upper ? SIDE_J - 1 : -1) : axis == 0 ? n >> 4 & 7 : n & 7;
        i = axis == 2 ? (upper ? SIDE_I - 1 : -1) : n & 15;
    }
};

// A volume in tiles.
struct TileGrid
{
    int nk, nj, ni;

    __device__ __forceinline__ int tiles_i() const { return (ni + SIDE_I - 1) / SIDE_I; }
    __device__ __forceinline__ int tiles_j() const { return (nj + SIDE_J - 1) / SIDE_J; }
    __device__ __forceinline__ int tile_of(u32 voxel) const
    {
        int k = voxel / ni / nj, j = voxel / ni % nj, i = voxel % ni;
        return (k / SIDE_K * tiles_j() + j / SIDE_J) * tiles_i() + i / SIDE_I;
    }
    __device__ __forceinline__ TileGeometry geometry(int tile) const
    {
        int in_row = tiles_i(), in_plane = in_row * tiles_j();
        return {nk, nj, ni, tile / in_plane * SIDE_K, tile % in_plane / in_row * SIDE_J, tile % in_row * SIDE_I};
    }
};

// The nodes that the tiles are contracted to.
struct NodeMap
{
    NODE* node_of;     // of each voxel, counted from the first of its tile, or NONE
    u32* first_nodes;  // of each tile, or NO_NODES

    __device__ __forceinline__ u32 at(u32 voxel, const TileGrid& grid) const
    {
        u32 first = first_nodes[grid.tile_of(voxel)];
        return first == NO_NODES ? ALONE : first + node_of[voxel];
    }
};
