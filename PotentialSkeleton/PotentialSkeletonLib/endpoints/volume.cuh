// Voxels of an object by flat indices, in the order in which they join pieces. The object does not
// touch the volume's border.
#pragma once

#define SLENDERNESS 2.0
enum { IS_TOP = 1, IS_TIP = 2 };  // marks of voxels

typedef unsigned long long u64;

struct Volume
{
    const int* distances;  // -1 outside
    const float* depth;
    int row, plane;  // steps to the next row and plane

    // Neighbour `side` of 27 in K, J, I; 13 is the voxel itself.
    __device__ int neighbour(int voxel, int side) const
    {
        return voxel + (side / 9 - 1) * plane + (side / 3 % 3 - 1) * row + side % 3 - 1;
    }
    // The place in the order in which voxels join pieces: the highest first.
    __device__ u64 key(int voxel) const
    {
        return key_of(distances[voxel], voxel);
    }
    __device__ static u64 key_of(int distance, int voxel)
    {
        return (u64)(distance + 1) << 32 | (unsigned)voxel;
    }
    // Whether a shortest way from `other` goes by a voxel, beside which it lies by a step.
    __device__ bool leads_to(int voxel, int other, int step) const
    {
        return voxel != other && distances[other] == distances[voxel] + step;
    }
    // The higher the further, of equally far voxels for the first in memory.
    __device__ u64 furthest_key(int voxel) const
    {
        return (u64)distances[voxel] << 32 | ~(unsigned)voxel;
    }
    // Whether a voxel begins a piece: all neighbours come after it.
    __device__ bool is_top(int voxel) const
    {
        for (int side = 0; side < 27; side++)
            if (key(neighbour(voxel, side)) > key(voxel)) return false;
        return true;
    }
    // Whether a piece that holds this voxel gives up a top: for another that is higher, or as high
    // and before it in memory.
    __device__ bool is_kept_before(int voxel, int top) const
    {
        int there = distances[voxel], height = distances[top];
        return there > height || (there == height && voxel < top && is_top(voxel));
    }
};

__device__ u64 first_key_at(int distance) { return (u64)(distance + 1) << 32; }

struct Limits
{
    double unit, smallest;

    __device__ bool is_long(int distance, float width) const
    {
        return distance * unit > SLENDERNESS * width + smallest;
    }
    // The largest distance so far below a height that a piece of a width is long; -1 where none is.
    __device__ int far_enough(int height, float width) const
    {
        if (!is_long(height, width)) return -1;
        int level = height - (int)((SLENDERNESS * width + smallest) / unit);
        level = min(max(level, 0), height);
        while (!is_long(height - level, width)) level--;
        while (level < height && is_long(height - level - 1, width)) level++;
        return level;
    }
};

struct Box
{
    int low_k, low_j, low_i, high_k, high_j, high_i;

    __device__ bool holds(const Volume& volume, int voxel) const
    {
        int k = voxel / volume.plane, j = voxel % volume.plane / volume.row, i = voxel % volume.row;
        return k >= low_k && k < high_k && j >= low_j && j < high_j && i >= low_i && i < high_i;
    }
};
