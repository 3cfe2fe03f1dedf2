// Local maxima that may be endpoints of an object; equals candidates.py, of the CPU. Voxels are flat
// indices; the object does not touch the volume's border.

#include "volume.cuh"

#define WARP 0xffffffffu

struct MaximaList
{
    int capacity;
    int* maxima;
    int* counts;  // of maxima, of those found to be candidates, of paths that are left
};

// Lists the maxima that are far enough from the core; `counts[0]` is their number, also of those beyond
// the capacity.
extern "C" __global__ void find_local_maxima(Volume volume, int size, Limits limits, MaximaList list)
{
    int step = gridDim.x * blockDim.x;
    for (long long n = blockIdx.x * blockDim.x + threadIdx.x; n < size; n += step)
        if (limits.is_long(volume.distances[n], 0) && volume.is_local_maximum((int)n)) {
            int at = atomicAdd(&list.counts[0], 1);
            if (at < list.capacity) list.maxima[at] = (int)n;
        }
}

__device__ u64 largest_in_warp(u64 value)
{
    for (int other = 16; other; other /= 2) value = max(value, __shfl_xor_sync(WARP, value, other));
    return value;
}

// A path from a maximum to the core, followed by a warp; each lane looks at one neighbour.
struct Path
{
    const Volume& volume;
    int lane, budget;  // `budget`: steps that may still be done

    // The maximum to which the steepest ascent leads, or the first voxel on it above a height.
    __device__ int ascend(int voxel, int height)
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

// How far paths from maxima are followed; DONE where that is decided.
struct Position
{
    int voxel;
    float width;  // of the voxels before
};
#define DONE -1

struct Paths
{
    const int* steps;  // distances to the 27 voxels of a block
    int max_steps;  // of a warp in one launch, about
    int begin;  // whether the paths begin; else they go on from `positions`
    int* positions;
    u64* found;
};

// From each maximum follows a shortest path to the core; lists in `found` the key of those whose path,
// at some voxel, is long enough for the width of the voxels before, and their number in `counts[1]`.
// `positions` is where the next launch goes on; `counts[2]` is the number of paths that are left.
extern "C" __global__ void follow_paths(Volume volume, Limits limits, MaximaList list, Paths paths)
{
    const int* distances = volume.distances;
    int count = min(list.counts[0], list.capacity), warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    Path path = {volume, (int)threadIdx.x % 32, paths.max_steps};
    for (int n = warp; n < count; n += gridDim.x * blockDim.x / 32) {
        int maximum = list.maxima[n], height = distances[maximum];
        Position at = {maximum, 0.0f};
        if (!paths.begin) at = ((Position*)paths.positions)[n];
        while (at.voxel != DONE && path.budget > 0) {
            int here = distances[at.voxel], next = DONE;
            bool is_endpoint = limits.is_long(height - here, at.width);
            if (!is_endpoint && limits.is_long(height, at.width)) {
                int higher = path.ascend(at.voxel, height);
                int there = distances[higher];
                if (there < height || (there == height && higher >= maximum))
                    next = path.following(at.voxel, paths.steps);
            }
            if (is_endpoint && path.lane == 0)
                paths.found[atomicAdd(&list.counts[1], 1)] = volume.furthest_key(maximum);
            at.width = max(at.width, volume.depth[at.voxel]);
            at.voxel = next == at.voxel ? DONE : next;
        }
        if (path.lane == 0) {
            ((Position*)paths.positions)[n] = at;
            if (at.voxel != DONE) atomicAdd(&list.counts[2], 1);
        }
    }
}
