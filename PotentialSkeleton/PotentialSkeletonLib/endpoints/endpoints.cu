// Local maxima that may be endpoints of an object; equals candidates.py, of the CPU. Voxels are flat
// indices; the object does not touch the volume's border.

#include "volume.cuh"

#define WARP 0xffffffffu

// Lists the maxima that are far enough from the core; `counts[0]` is their number, also of those beyond
// the capacity.
extern "C" __global__ void find_local_maxima(const int* distances, int size, int row, int plane,
                                             double unit, double min_length, int capacity,
                                             int* maxima, int* counts)
{
    Volume volume = {distances, nullptr, row, plane};
    int step = gridDim.x * blockDim.x;
    for (long long n = blockIdx.x * blockDim.x + threadIdx.x; n < size; n += step)
        if (distances[n] * unit > min_length && volume.is_local_maximum((int)n)) {
            int at = atomicAdd(&counts[0], 1);
            if (at < capacity) maxima[at] = (int)n;
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

// From each maximum follows a shortest path to the core; lists in `found` the key of those whose path,
// at some voxel, is long enough for the width of the voxels before, and their number in `counts[1]`.
// Each warp does about so many steps and leaves in `positions` where the next launch goes on;
// `counts[2]` is the number of paths that are left.
extern "C" __global__ void follow_paths(const int* distances, const float* depth, int row, int plane,
                                        double unit, double min_length, const int* steps,
                                        const int* maxima, int capacity, int max_steps,
                                        int begins, int* positions, u64* found, int* counts)
{
    Volume volume = {distances, depth, row, plane};
    Limits limits = {unit, min_length};
    int count = min(counts[0], capacity), warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    Path path = {volume, (int)threadIdx.x % 32, max_steps};
    for (int n = warp; n < count; n += gridDim.x * blockDim.x / 32) {
        int maximum = maxima[n], height = distances[maximum];
        Position at = {maximum, 0.0f};
        if (!begins) at = ((Position*)positions)[n];
        while (at.voxel != DONE && path.budget > 0) {
            int here = distances[at.voxel], next = DONE;
            bool is_endpoint = limits.is_long(height - here, at.width);
            if (!is_endpoint && limits.is_long(height, at.width)) {
                int higher = path.ascend(at.voxel, height);
                int there = distances[higher];
                if (there < height || (there == height && higher >= maximum))
                    next = path.following(at.voxel, steps);
            }
            if (is_endpoint && path.lane == 0)
                found[atomicAdd(&counts[1], 1)] = volume.furthest_key(maximum);
            at.width = max(at.width, depth[at.voxel]);
            at.voxel = next == at.voxel ? DONE : next;
        }
        if (path.lane == 0) {
            ((Position*)positions)[n] = at;
            if (at.voxel != DONE) atomicAdd(&counts[2], 1);
        }
    }
}
