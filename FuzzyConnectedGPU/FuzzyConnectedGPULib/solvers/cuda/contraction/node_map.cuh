// From voxels to the nodes that their tiles are contracted to.
#pragma once

#include "../tile_geometry.cuh"

// Parent of a node that stays, and of one whose best edge leads to a tile that no seed reaches: it survives and
// need not hook, as no seed reaches it either.
#define ALONE 0xffffffffu

// The nodes of voxels.
struct NodeMap
{
    NODE* node_of;  // counted from the first of its tile, or NONE
    u32* first_nodes;  // of each tile, or NO_NODES

    __device__ __forceinline__ u32 at(u32 voxel, const TileGrid& grid) const
    {
        u32 first = first_nodes[grid.tile_of(voxel)];
        return first == NO_NODES ? ALONE : first + node_of[voxel];
    }
};
