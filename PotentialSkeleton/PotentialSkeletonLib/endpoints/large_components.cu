// What large components are grown for: protrusions, end caps, and what lies beyond a skeleton's ends.
// Each is a rule that says which voxels belong to a component, and what follows when it is grown.

#include "large_components.cuh"

#define NONE -1.0f

// The protrusions of maxima. Thread 0 of each block decides on a maximum; the first block writes it.
struct ProtrusionRule
{
    const Volume& volume;
    const Lists& lists;
    Limits limits;
    const int *maxima, *which;  // `which`: numbers of the maxima whose components are grown
    int count, number;
    unsigned char* marks;
    float* widths;

    __device__ bool allows(const Volume& volume, int, int other, int) const
    {
        return volume.distances[other] >= 0;
    }
    __device__ bool meet(const Volume& volume, const Growth& growth, Found* found, int voxel) const
    {
        int width = __float_as_int(volume.depth[voxel]);
        bool is_wider = width > growth.width && width > *(volatile int*)&found->width;
        if (is_wider && voxel != growth.joining) atomicMax(&found->width, width);
        return marks[voxel] != IS_ENDPOINT && !volume.discards(voxel, growth.voxel);
    }
    __device__ void begin(Growth& growth)
    {
        growth.step = END;
        if (growth.at == count) return;
        begin_with(growth, lists, maxima[which[growth.at]], number + growth.at);
        growth.level = limits.long_enough_level(volume.distances[growth.voxel], 0);
        growth.least = first_key_at(growth.level + 1);
    }
    __device__ void grown(Growth& growth, const Found& found)
    {
        int height = volume.distances[growth.voxel];
        if (found.discarded) return decide(growth, NONE);
        if (growth.joining >= 0) {
            float width = __int_as_float(growth.width);
            bool is_long = limits.is_long(height - volume.distances[growth.joining], width);
            growth.width = max(growth.width, __float_as_int(volume.depth[growth.joining]));
            growth.joining = -1;
            if (is_long) return decide(growth, __int_as_float(growth.width));
            growth.level = -1;
        }
        int level = limits.long_enough_level(height, __int_as_float(growth.width));
        if (level < 0) return decide(growth, NONE);
        if (level != growth.level) {
            growth.level = level;
            return go_on_from(growth, first_key_at(level + 1));
        }
        if (growth.waiting == 0) return decide(growth, NONE);
        if (growth.step != FIND_NEXT) {
            growth.step = FIND_NEXT;
            growth.highest = 0;
            return;
        }
        growth.joining = (int)(unsigned)growth.highest;
        go_on_from(growth, growth.highest);
    }
    __device__ void decide(Growth& growth, float width)
    {
        int n = which[growth.at];
        if (blockIdx.x == 0) {
            widths[n] = width;
            if (width >= 0) marks[maxima[n]] = IS_ENDPOINT;
        }
        growth.at++;
        begin(growth);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) grow_protrusions(
    const int* distances, int row, int plane, int* visited, int number, int* workspace, int size, int* state,
    int launch, int max_work, const float* depth, double unit, double min_length, const int* maxima,
    const int* which, int count, unsigned char* marks, float* widths)
{
    Volume volume = {distances, depth, row, plane};
    Lists lists = {visited, workspace, size};
    ProtrusionRule rule = {volume, lists, {unit, min_length}, maxima, which, count, number, marks,
                           widths};
    grow(rule, volume, lists, (State*)state, launch, max_work);
}

// A cap, in a box: the connected component of a voxel at distances from `far` up, then its slab: that
// from `near` up.
struct CapRule
{
    const Lists& lists;
    Box box;
    int start, far, near, number;
    int* sizes;

    __device__ bool allows(const Volume& volume, int, int other, int) const
    {
        return volume.distances[other] >= near && box.holds(volume, other);
    }
    __device__ bool meet(const Volume&, const Growth&, Found*, int) const { return true; }
    __device__ void begin(Growth& growth)
    {
        begin_with(growth, lists, start, number);
        growth.least = first_key_at(far);
        growth.level = 0;
    }
    __device__ void grown(Growth& growth, const Found&)
    {
        if (blockIdx.x == 0) sizes[growth.level] = growth.count;
        if (growth.level++)
            growth.step = END;
        else
            go_on_from(growth, first_key_at(near));
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) grow_cap(
    const int* distances, int row, int plane, int* visited, int number, int* workspace, int size, int* state,
    int launch, int max_work, int low_k, int low_j, int low_i, int high_k, int high_j, int high_i,
    int start, int far, int near)
{
    Volume volume = {distances, nullptr, row, plane};
    Box box = {low_k, low_j, low_i, high_k, high_j, high_i};
    Lists lists = {visited, workspace, size};
    CapRule rule = {lists, box, start, far, near, number, ((State*)state)->sizes};
    grow(rule, volume, lists, (State*)state, launch, max_work);
}

// What lies beyond ends of a skeleton: voxels whose shortest path to it leads to an end, of ends with
// equally short paths to the first. The furthest is found, of equally far ones the first in memory.
struct BeyondRule
{
    const Lists& lists;
    const int *steps, *ends;
    int count, number;
    u64* furthest;

    __device__ bool allows(const Volume& volume, int voxel, int other, int side) const
    {
        return volume.leads_to(voxel, other, steps[side]);
    }
    __device__ bool meet(const Volume& volume, const Growth& growth, Found* found, int voxel) const
    {
        u64 key = volume.furthest_key(voxel);
        if (key > growth.highest && key > *(volatile u64*)&found->highest) atomicMax(&found->highest, key);
        return true;
    }
    __device__ void begin(Growth& growth)
    {
        growth.step = END;
        if (growth.at < count) begin_with(growth, lists, ends[growth.at], number);
    }
    __device__ void grown(Growth& growth, const Found&)
    {
        if (blockIdx.x == 0) furthest[growth.at] = growth.highest;
        growth.at++;
        begin(growth);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) grow_beyond(
    const int* distances, int row, int plane, int* visited, int number, int* workspace, int size, int* state,
    int launch, int max_work, const int* steps, const int* ends, int count, u64* furthest)
{
    Volume volume = {distances, nullptr, row, plane};
    Lists lists = {visited, workspace, size};
    BeyondRule rule = {lists, steps, ends, count, number, furthest};
    grow(rule, volume, lists, (State*)state, launch, max_work);
}
