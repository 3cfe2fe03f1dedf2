// Protrusions whose components are small enough for the shared memory of one block each. Voxels are
// flat indices; the object does not touch the volume's border. Equals local_maxima.py, of the CPU.

#include "volume.cuh"

#define THREADS 512
#define SLOT_BITS 13
#define SLOTS (1 << SLOT_BITS)
// Voxels of a component with its neighbours; the table has room for more, added at once.
#define MAX_SMALL 6144
#define JOINED 0x80000000u
#define NOBODY 0xffffffffu  // has JOINED, so that it does not wait

// A component as far as it has grown, in a hash table of its voxels and of its neighbours, which wait. The
// numbers change between barriers only, where they are the same for all threads.
struct Component
{
    unsigned slots[SLOTS];  // voxels; JOINED is set where they belong to the component
    unsigned short joined[MAX_SMALL + THREADS];  // slots of the component's voxels
    int members, count, grown;  // `grown`: how many have had their neighbours visited
    int max_members;  // at most MAX_SMALL

    __device__ static int slot_of(int voxel)
    {
        return (unsigned)voxel * 2654435761u >> (32 - SLOT_BITS);
    }

    __device__ void begin(int voxel, int limit)
    {
        for (int n = threadIdx.x; n < SLOTS; n += THREADS) slots[n] = NOBODY;
        __syncthreads();
        if (threadIdx.x == 0) {
            slots[slot_of(voxel)] = voxel;
            members = 1;
            count = grown = 0;
            max_members = limit;
        }
        __syncthreads();
    }

    __device__ bool is_too_large() const { return members >= max_members; }

    // Adds a voxel unless it is there. What comes when the component is too large is left out.
    __device__ void add(int voxel, bool joins)
    {
        unsigned entry = joins ? voxel | JOINED : voxel;
        for (int slot = slot_of(voxel);; slot = (slot + 1) % SLOTS) {
            unsigned here = *(volatile unsigned*)(slots + slot);
            if (here == NOBODY) {
                if (*(volatile int*)&members >= max_members) return;
                here = atomicCAS(&slots[slot], NOBODY, entry);
            }
            if (here == NOBODY) {
                atomicAdd(&members, 1);
                if (joins) joined[atomicAdd(&count, 1)] = slot;
                return;
            }
            if ((here & ~JOINED) == (unsigned)voxel) return;
        }
    }

    // Calls `visit(slot)` for each voxel that waits.
    template <class Visit>
    __device__ void each_waiting(Visit visit)
    {
        for (int n = threadIdx.x; n < SLOTS; n += THREADS)
            if (!(slots[n] & JOINED)) visit(n);
        __syncthreads();
    }

    // Lets what waits join from a key on, and all that it leads to from that key on. `meet(voxel)` is
    // called with each voxel that joins; where it returns false the growth ends. It ends also where
    // the component is too large. Returns whether `meet` did not end it.
    template <class Meet>
    __device__ bool grow(const Volume& volume, u64 least, Meet meet)
    {
        __syncthreads();
        each_waiting([&](int slot) {
            if (volume.key(slots[slot]) < least) return;
            slots[slot] |= JOINED;
            joined[atomicAdd(&count, 1)] = slot;
        });
        while (grown < count && !is_too_large()) {
            int first = grown, last = count;
            bool goes_on = true;
            __syncthreads();
            for (int n = threadIdx.x; n < (last - first) * 9; n += THREADS) {
                int voxel = slots[joined[first + n / 9]] & ~JOINED, lines = n % 9;
                if (lines == 4) goes_on &= meet(voxel);
                for (int side = 3 * lines; side < 3 * lines + 3; side++) {
                    int other = volume.neighbour(voxel, side);
                    if (volume.distances[other] >= 0) add(other, volume.key(other) >= least);
                }
            }
            if (threadIdx.x == 0) grown = last;
            if (__syncthreads_or(!goes_on)) return false;
        }
        return true;
    }
};

#define NONE -1.0f
#define UNDECIDED -2.0f

// The width of the component of a maximum if it is an endpoint as far as other endpoints do not
// matter, else NONE; UNDECIDED where the component is too large. `others` is set where another maximum
// is in the component.
__device__ float protrusion_width(Component& component, const Volume& volume, const Limits& limits,
                                  int maximum, const unsigned char* marks, int max_members, int& width,
                                  int& others, u64& next)
{
    int height = volume.distances[maximum], joining = -1;
    auto meet = [&](int voxel) {
        if (voxel != joining) atomicMax(&width, __float_as_int(volume.depth[voxel]));
        if (voxel != maximum && marks[voxel]) atomicExch(&others, 1);
        return !volume.discards(voxel, maximum);
    };
    if (threadIdx.x == 0) width = others = 0;
    component.begin(maximum, max_members);
    while (true) {
        int level = limits.long_enough_level(height, __int_as_float(width));
        if (level < 0 || !component.grow(volume, first_key_at(level + 1), meet)) return NONE;
        if (component.is_too_large()) return UNDECIDED;
        if (limits.long_enough_level(height, __int_as_float(width)) != level) continue;
        if (component.count == component.members) return NONE;
        if (threadIdx.x == 0) next = 0;
        __syncthreads();
        component.each_waiting([&](int slot) { atomicMax(&next, volume.key(component.slots[slot])); });
        joining = (int)(unsigned)next;
        if (!component.grow(volume, next, meet)) return NONE;
        if (component.is_too_large()) return UNDECIDED;
        bool is_long = limits.is_long(height - volume.distances[joining], __int_as_float(width));
        __syncthreads();
        if (threadIdx.x == 0) width = max(width, __float_as_int(volume.depth[joining]));
        joining = -1;
        __syncthreads();
        if (is_long) return __int_as_float(width);
    }
}

// Marks the maxima for `measure_protrusions`.
extern "C" __global__ void mark_maxima(const int* maxima, int count, unsigned char* marks)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) marks[maxima[n]] = IS_MAXIMUM;
}

// The width of the protrusion of each maximum from number `first` on, one a block; NONE where it is no
// endpoint, and UNDECIDED where its component is too large, or it would be an endpoint and another
// maximum is in its component: that may be an endpoint itself.
extern "C" __global__ void __launch_bounds__(THREADS, 1) measure_protrusions(
    Volume volume, Limits limits, const int* maxima, int first, int max_members, unsigned char* marks,
    float* widths)
{
    __shared__ Component component;
    __shared__ int width, others;
    __shared__ u64 next;
    int n = first + blockIdx.x, maximum = maxima[n];
    float found = protrusion_width(component, volume, limits, maximum, marks, max_members, width, others,
                                   next);
    if (threadIdx.x > 0) return;
    widths[n] = found >= 0 && others ? UNDECIDED : found;
    if (found >= 0 && !others) marks[maximum] = IS_ENDPOINT;
}
