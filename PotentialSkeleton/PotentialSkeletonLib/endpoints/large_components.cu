// What large components are grown for: protrusions, end caps, and what lies beyond a skeleton's ends.
// Each is a rule that says which voxels belong to a component, and what follows when it is grown.

#include "large_components.cuh"

#define NONE -1.0f

struct Maxima
{
    const int* maxima;
    const int* which;  // numbers of the maxima whose components are grown
    int count;  // of `which`
    unsigned char* marks;
    float* widths;
};

// The protrusions of maxima. Thread 0 of each block decides on a maximum; the first block writes it.
struct ProtrusionRule
{
    const Volume& volume;
    const Lists& lists;
    const Maxima& all;
    const Limits& limits;

    __device__ bool allows(const Volume& volume, int, int other, int) const
    {
        return volume.distances[other] >= 0;
    }
    __device__ bool meet(const Volume& volume, const Growth& growth, Found* found, int voxel) const
    {
        int width = __float_as_int(volume.depth[voxel]);
        bool is_wider = width > growth.width && width > *(volatile int*)&found->width;
        if (is_wider && voxel != growth.joining) atomicMax(&found->width, width);
        return all.marks[voxel] != IS_ENDPOINT && !volume.discards(voxel, growth.voxel);
    }
    __device__ void begin(Growth& growth)
    {
        growth.step = END;
        if (growth.at == all.count) return;
        begin_with(growth, lists, all.maxima[all.which[growth.at]], lists.number + growth.at);
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
        int n = all.which[growth.at];
        if (blockIdx.x == 0) {
            all.widths[n] = width;
            if (width >= 0) all.marks[all.maxima[n]] = IS_ENDPOINT;
        }
        growth.at++;
        begin(growth);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    grow_protrusions(Volume volume, Lists lists, Launch launch, Maxima maxima, Limits limits)
{
    ProtrusionRule rule = {volume, lists, maxima, limits};
    grow(rule, volume, lists, launch);
}

struct Cap
{
    int start, far, near;  // a voxel of it, and least distances
};

// A cap, in a box: the connected component of a voxel at distances from `far` up, then its slab: that
// from `near` up.
struct CapRule
{
    const Lists& lists;
    const Box& box;
    const Cap& cap;
    int* sizes;

    __device__ bool allows(const Volume& volume, int, int other, int) const
    {
        return volume.distances[other] >= cap.near && box.holds(volume, other);
    }
    __device__ bool meet(const Volume&, const Growth&, Found*, int) const { return true; }
    __device__ void begin(Growth& growth)
    {
        begin_with(growth, lists, cap.start, lists.number);
        growth.least = first_key_at(cap.far);
        growth.level = 0;
    }
    __device__ void grown(Growth& growth, const Found&)
    {
        if (blockIdx.x == 0) sizes[growth.level] = growth.count;
        if (growth.level++)
            growth.step = END;
        else
            go_on_from(growth, first_key_at(cap.near));
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    grow_cap(Volume volume, Lists lists, Launch launch, Box box, Cap cap)
{
    CapRule rule = {lists, box, cap, launch.state()->sizes};
    grow(rule, volume, lists, launch);
}

struct Ends
{
    const int* steps;  // distances to the 27 voxels of a block
    const int* ends;
    int count;
    u64* furthest;
};

// What lies beyond ends of a skeleton: voxels whose shortest path to it leads to an end, of ends with
// equally short paths to the first. The furthest is found, of equally far ones the first in memory.
struct BeyondRule
{
    const Lists& lists;
    const Ends& all;

    __device__ bool allows(const Volume& volume, int voxel, int other, int side) const
    {
        return volume.leads_to(voxel, other, all.steps[side]);
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
        if (growth.at < all.count) begin_with(growth, lists, all.ends[growth.at], lists.number);
    }
    __device__ void grown(Growth& growth, const Found&)
    {
        if (blockIdx.x == 0) all.furthest[growth.at] = growth.highest;
        growth.at++;
        begin(growth);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    grow_beyond(Volume volume, Lists lists, Launch launch, Ends ends)
{
    BeyondRule rule = {lists, ends};
    grow(rule, volume, lists, launch);
}
