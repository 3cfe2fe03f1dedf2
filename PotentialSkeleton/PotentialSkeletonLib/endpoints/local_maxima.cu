// Limbs that are small enough for the shared memory of one block of threads each. Voxels are flat
// indices; the object does not touch the volume's border. See limbs.py of the CPU, whose results
// these equal.

#include "volume.cuh"

#define THREADS 512
#define SLOT_BITS 13
#define SLOTS (1 << SLOT_BITS)
#define LARGE 6144  // voxels of a piece with those beside it; the table has room for more, added at once
#define JOINED 0x80000000u
#define NOBODY 0xffffffffu  // has JOINED, so that it does not wait

// A piece as far as it has grown, in a table of its voxels and of those beside it, which wait. The
// numbers change between barriers only, where they are the same for all threads.
struct Piece
{
    unsigned slots[SLOTS];  // voxels; JOINED is set where they belong to the piece
    unsigned short joined[LARGE + THREADS];  // slots of the piece's voxels
    int members, count, grown;  // `grown`: how many have had their neighbours visited
    int most;  // members, at most LARGE

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
            most = limit;
        }
        __syncthreads();
    }

    __device__ bool is_too_large() const { return members >= most; }

    // Adds a voxel unless it is there. What comes when the piece is too large is left out.
    __device__ void add(int voxel, bool joins)
    {
        unsigned entry = joins ? voxel | JOINED : voxel;
        for (int slot = slot_of(voxel);; slot = (slot + 1) % SLOTS) {
            unsigned here = *(volatile unsigned*)(slots + slot);
            if (here == NOBODY) {
                if (*(volatile int*)&members >= most) return;
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
    // the piece is too large. Returns whether `meet` did not end it.
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
#define DOUBTFUL -2.0f

// The width of the piece of a top if the top is a tip as far as other tips do not matter, else NONE;
// DOUBTFUL where the piece is too large. `others` tells whether another top is in the piece.
__device__ float limb_width(Piece& piece, const Volume& volume, const Limits& limits, int top,
                            const unsigned char* is_top, int most, int& width, int& others, u64& next)
{
    int height = volume.distances[top], joining = -1;
    auto meet = [&](int voxel) {
        if (voxel != joining) atomicMax(&width, __float_as_int(volume.depth[voxel]));
        if (voxel != top && is_top[voxel]) atomicExch(&others, 1);
        return !volume.is_kept_before(voxel, top);
    };
    if (threadIdx.x == 0) width = others = 0;
    piece.begin(top, most);
    while (true) {
        int level = limits.far_enough(height, __int_as_float(width));
        if (level < 0 || !piece.grow(volume, first_key_at(level + 1), meet)) return NONE;
        if (piece.is_too_large()) return DOUBTFUL;
        if (limits.far_enough(height, __int_as_float(width)) != level) continue;
        if (piece.count == piece.members) return NONE;
        if (threadIdx.x == 0) next = 0;
        __syncthreads();
        piece.each_waiting([&](int slot) { atomicMax(&next, volume.key(piece.slots[slot])); });
        joining = (int)(unsigned)next;
        if (!piece.grow(volume, next, meet)) return NONE;
        if (piece.is_too_large()) return DOUBTFUL;
        bool is_long = limits.is_long(height - volume.distances[joining], __int_as_float(width));
        __syncthreads();
        if (threadIdx.x == 0) width = max(width, __float_as_int(volume.depth[joining]));
        joining = -1;
        __syncthreads();
        if (is_long) return __int_as_float(width);
    }
}

// Marks the tops for `small_limbs`.
extern "C" __global__ void mark_tops(const int* tops, int count, unsigned char* marks)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) marks[tops[n]] = IS_TOP;
}

// The width of the limb of each top from number `first` on, one a block; NONE where it is no tip, and
// DOUBTFUL where its piece is too large, or it would be a tip and another top is in its piece: that
// may be a tip itself.
extern "C" __global__ void __launch_bounds__(THREADS, 1) small_limbs(
    const int* distances, const float* depth, int row, int plane, double unit, double smallest,
    const int* tops, int first, int most, unsigned char* marks, float* widths)
{
    __shared__ Piece piece;
    __shared__ int width, others;
    __shared__ u64 next;
    Volume volume = {distances, depth, row, plane};
    Limits limits = {unit, smallest};
    int n = first + blockIdx.x, top = tops[n];
    float found = limb_width(piece, volume, limits, top, marks, most, width, others, next);
    if (threadIdx.x > 0) return;
    widths[n] = found >= 0 && others ? DOUBTFUL : found;
    if (found >= 0 && !others) marks[top] = IS_TIP;
}
