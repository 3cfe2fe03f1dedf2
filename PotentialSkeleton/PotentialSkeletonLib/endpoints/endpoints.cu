// Tips of an object; see tips.py and limbs.py of the CPU, whose results these equal. Voxels are
// flat indices; the object does not touch the volume's border.

#include "volume.cuh"

#define WARP 0xffffffffu

// Lists the tops that are far enough from the core; `counts[0]` is their number, also of those for
// which there is no room.
extern "C" __global__ void find_tops(const int* distances, int size, int row, int plane, double unit,
                                     double smallest, int room, int* tops, int* counts)
{
    Volume volume = {distances, nullptr, row, plane};
    int step = gridDim.x * blockDim.x;
    for (long long n = blockIdx.x * blockDim.x + threadIdx.x; n < size; n += step)
        if (distances[n] * unit > smallest && volume.is_top((int)n)) {
            int at = atomicAdd(&counts[0], 1);
            if (at < room) tops[at] = (int)n;
        }
}

__device__ u64 largest_in_warp(u64 value)
{
    for (int other = 16; other; other /= 2) value = max(value, __shfl_xor_sync(WARP, value, other));
    return value;
}

// A way from a top to the core, followed by a warp; each lane looks at one neighbour.
struct Way
{
    const Volume& volume;
    int lane, budget;  // `budget`: steps that may still be done

    // The top to which the steepest ascent leads, or the first voxel on it above a height.
    __device__ int top_above(int voxel, int height)
    {
        while (volume.distances[voxel] <= height) {
            u64 own = lane < 27 ? volume.key(volume.neighbour(voxel, lane)) : 0;
            int steepest = (int)(unsigned)largest_in_warp(own);
            budget--;
            if (steepest == voxel) break;
            voxel = steepest;
        }
        return voxel;
    }
    // The next voxel towards the core, the deepest, of equally deep ones the first in memory; or the
    // voxel itself.
    __device__ int following(int voxel, const int* steps)
    {
        u64 own = 0;
        int other = volume.neighbour(voxel, min(lane, 26));
        if (lane < 27 && volume.distances[other] >= 0 && volume.leads_to(other, voxel, steps[lane]))
            own = (u64)__float_as_uint(volume.depth[other]) << 32 | (32 - lane);
        int side = 32 - (int)(unsigned)largest_in_warp(own);
        budget--;
        return side == 32 ? voxel : volume.neighbour(voxel, side);
    }
};

// How far ways from tops are followed; NOWHERE where that is told.
struct Place
{
    int voxel;
    float width;  // of the voxels before
};
#define NOWHERE -1

// From each top follows a shortest way to the core; lists the key of those whose way, at some voxel, is
// long enough for the width of the voxels before, in `found`, and their number in `counts[1]`. Each warp
// does about so many steps and leaves in `places` where the next launch goes on; `counts[2]` tells how
// many ways are left.
extern "C" __global__ void follow_ways(const int* distances, const float* depth, int row, int plane,
                                       double unit, double smallest, const int* steps,
                                       const int* tops, int room, int most_steps, int begins,
                                       int* places, u64* found, int* counts)
{
    Volume volume = {distances, depth, row, plane};
    Limits limits = {unit, smallest};
    int count = min(counts[0], room), warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    Way way = {volume, (int)threadIdx.x % 32, most_steps};
    for (int n = warp; n < count; n += gridDim.x * blockDim.x / 32) {
        int top = tops[n], height = distances[top];
        Place at = {top, 0.0f};
        if (!begins) at = ((Place*)places)[n];
        while (at.voxel != NOWHERE && way.budget > 0) {
            int here = distances[at.voxel], next = NOWHERE;
            bool is_tip = limits.is_long(height - here, at.width);
            if (!is_tip && limits.is_long(height, at.width)) {
                int higher = way.top_above(at.voxel, height);
                if (distances[higher] < height || (distances[higher] == height && higher >= top))
                    next = way.following(at.voxel, steps);
            }
            if (is_tip && way.lane == 0) found[atomicAdd(&counts[1], 1)] = volume.furthest_key(top);
            at.width = max(at.width, depth[at.voxel]);
            at.voxel = next == at.voxel ? NOWHERE : next;
        }
        if (way.lane == 0) {
            ((Place*)places)[n] = at;
            if (at.voxel != NOWHERE) atomicAdd(&counts[2], 1);
        }
    }
}
