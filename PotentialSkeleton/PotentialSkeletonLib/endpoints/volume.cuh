// Voxels of an object by flat indices, in the order in which they join components. The object does not
// touch the volume's border.
#pragma once

#define SLENDERNESS 2.0
enum { IS_MAXIMUM = 1, IS_ENDPOINT = 2 };  // marks of voxels

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
    // Key of the order in which voxels join components: the highest first.
    __device__ u64 key(int voxel) const
    {
        return key_of(distances[voxel], voxel);
    }
    __device__ static u64 key_of(int distance, int voxel)
    {
        return (u64)(distance + 1) << 32 | (unsigned)voxel;
    }
    // Whether a shortest path from `other` goes through a voxel to which it is adjacent by a step.
    __device__ bool leads_to(int voxel, int other, int step) const
    {
        return voxel != other && distances[other] == distances[voxel] + step;
    }
    // The higher the further, of equally far voxels for the first in memory.
    __device__ u64 furthest_key(int voxel) const
    {
        return (u64)distances[voxel] << 32 | ~(unsigned)voxel;
    }
    // Whether a voxel begins a component: all neighbours join after it.
    __device__ bool is_local_maximum(int voxel) const
    {
        for (int side = 0; side < 27; side++)
            if (key(neighbour(voxel, side)) > key(voxel)) return false;
        return true;
    }
    // Whether a component that holds this voxel discards a maximum: for another that is higher, or as
    // high and before it in memory.
    __device__ bool discards(int voxel, int maximum) const
    {
        int there = distances[voxel], height = distances[maximum];
        return there > height || (there == height && voxel < maximum && is_local_maximum(voxel));
    }
};

__device__ u64 first_key_at(int distance) { return (u64)(distance + 1) << 32; }

struct Limits
{
    double unit, min_length;

    __device__ bool is_long(int distance, float width) const
    {
        return distance * unit > SLENDERNESS * width + min_length;
    }
    // The highest level below a height at which a component of a width is long; -1 for none.
    __device__ int long_enough_level(int height, float width) const
    {
        if (!is_long(height, width)) return -1;
        int level = height - (int)((SLENDERNESS * width + min_length) / unit);
        level = min(max(level, 0), height);
        while (!is_long(height - level, width)) level--;
        while (level < height && is_long(height - level - 1, width)) level++;
        return level;
    }
};

struct Offset
{
    int k, j, i;
};

struct Box
{
    int low_k, low_j, low_i, high_k, high_j, high_i;

    // Where a voxel is, from the box's first one.
    __device__ Offset offset_of(const Volume& volume, int voxel) const
    {
        int in_plane = voxel % volume.plane;
        return {voxel / volume.plane - low_k, in_plane / volume.row - low_j, voxel % volume.row - low_i};
    }
    __device__ bool holds(const Volume& volume, int voxel) const
    {
        Offset at = offset_of(volume, voxel);
        return at.k >= 0 && at.k < high_k - low_k && at.j >= 0 && at.j < high_j - low_j && at.i >= 0 &&
               at.i < high_i - low_i;
    }
};
