// Pieces of an object that are grown from one voxel, each by one block of threads: limbs, the caps
// of limbs, and what lies beyond an end of a skeleton. Voxels are flat indices; the object does not
// touch the volume's border. See limbs.py, caps.py and tips.py of the CPU, whose results these equal.

#define SLENDERNESS 2.0
#define THREADS 1024
#define AT_ONCE (1 << 24)  // voxels whose neighbours are counted by 32 bits

#include "volume.cuh"

// A piece as far as it has grown. `voxels` holds it, `waiting` (two lists in turn) its neighbours,
// `visited` has the piece's number at both. The members from `count` on are the same for all
// threads and change between barriers only.
struct Piece
{
    int *voxels, *waiting[2], *visited, number;
    int count, grown, waiting_count[2], turn;  // `grown`: how many have had their neighbours visited

    __device__ void begin(int voxel, int of)
    {
        if (threadIdx.x == 0) {
            number = of;
            count = grown = turn = 0;
            waiting_count[0] = 1;
            waiting_count[1] = 0;
            waiting[0][0] = voxel;
            visited[voxel] = of;
        }
        __syncthreads();
    }

    __device__ void join(int voxel) { voxels[atomicAdd(&count, 1)] = voxel; }

    __device__ void wait(int voxel) { waiting[turn][atomicAdd(&waiting_count[turn], 1)] = voxel; }

    __device__ bool is_new(int voxel)
    {
        if (*(volatile int*)(visited + voxel) == number) return false;
        return atomicExch(&visited[voxel], number) != number;
    }

    // Lets what waits join from a key on, and all that it leads to from that key on. `allows(voxel)`
    // tells whether a neighbour may belong to the piece at all, and `meet(voxel)` is called with each
    // voxel that joins; where it returns false the growth ends. It ends also with more voxels than
    // `most`; then `grown` is less than `count`. Returns whether `meet` did not end it.
    template <class Allows, class Meet>
    __device__ bool grow(const Volume& volume, u64 least, Allows allows, Meet meet, int most)
    {
        int before = waiting_count[turn];
        __syncthreads();
        if (threadIdx.x == 0) turn ^= 1;
        __syncthreads();
        for (int n = threadIdx.x; n < before; n += THREADS) {
            int voxel = waiting[turn ^ 1][n];
            if (volume.key(voxel) >= least)
                join(voxel);
            else
                wait(voxel);
        }
        __syncthreads();
        if (threadIdx.x == 0) waiting_count[turn ^ 1] = 0;
        while (grown < count && count <= most) {
            int first = grown, last = min(count, first + AT_ONCE);
            bool goes_on = true;
            __syncthreads();
            for (int n = threadIdx.x; n < (last - first) * 9; n += THREADS) {
                int voxel = voxels[first + n / 9], lines = n % 9;
                if (lines == 4) goes_on &= meet(voxel);
                for (int side = 3 * lines; side < 3 * lines + 3; side++) {
                    int other = volume.neighbour(voxel, side);
                    if (!allows(other) || !is_new(other)) continue;
                    if (volume.key(other) >= least)
                        join(other);
                    else
                        wait(other);
                }
            }
            if (threadIdx.x == 0) grown = last;
            if (__syncthreads_or(!goes_on)) return false;
        }
        return true;
    }
};

__device__ void set_up(Piece& piece, int* visited, int* room, int size)
{
    if (threadIdx.x == 0) {
        piece.visited = visited;
        piece.voxels = room;
        piece.waiting[0] = room + size;
        piece.waiting[1] = room + 2 * (long long)size;
    }
    __syncthreads();
}

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

#define NONE -1.0f
#define TOO_LARGE -2.0f
#define TOO_LARGE_PIECE -2

// The width of the piece of a top if the top is a tip, else NONE, or TOO_LARGE where a piece of more
// than `most` voxels would have to be grown; see `limbs.grow`.
__device__ float limb_width(Piece& piece, const Volume& volume, const Limits& limits, int top,
                            const unsigned char* is_tip, int most, int& width, u64& next)
{
    int height = volume.distances[top], joining = -1;
    auto inside = [&](int voxel) { return volume.distances[voxel] >= 0; };
    auto meet = [&](int voxel) {
        if (voxel != joining) atomicMax(&width, __float_as_int(volume.depth[voxel]));
        return !is_tip[voxel] && !volume.is_kept_before(voxel, top);
    };
    if (threadIdx.x == 0) width = 0;
    __syncthreads();
    while (true) {
        int level = limits.far_enough(height, __int_as_float(width));
        if (level < 0 || !piece.grow(volume, first_key_at(level + 1), inside, meet, most)) return NONE;
        if (piece.grown < piece.count) return TOO_LARGE;
        if (limits.far_enough(height, __int_as_float(width)) != level) continue;
        if (piece.waiting_count[piece.turn] == 0) return NONE;
        if (threadIdx.x == 0) next = 0;
        __syncthreads();
        for (int n = threadIdx.x; n < piece.waiting_count[piece.turn]; n += THREADS)
            atomicMax(&next, volume.key(piece.waiting[piece.turn][n]));
        __syncthreads();
        joining = (int)(unsigned)next;
        if (!piece.grow(volume, next, inside, meet, most)) return NONE;
        if (piece.grown < piece.count) return TOO_LARGE;
        bool is_long = limits.is_long(height - volume.distances[joining], __int_as_float(width));
        __syncthreads();
        if (threadIdx.x == 0) width = max(width, __float_as_int(volume.depth[joining]));
        joining = -1;
        __syncthreads();
        if (is_long) return __int_as_float(width);
    }
}

// What `limb_width` tells of the tops from number `first` to before `last`, up to the first that is
// too large. `is_tip` is set at those that are tips.
extern "C" __global__ void __launch_bounds__(THREADS, 1) grow_limbs(
    const int* distances, const float* depth, int row, int plane, double unit, double smallest,
    const int* tops, int first, int last, int most, int* visited, unsigned char* is_tip, int* room,
    int size, float* widths)
{
    __shared__ Piece piece;
    __shared__ int width;
    __shared__ u64 next;
    Volume volume = {distances, depth, row, plane};
    Limits limits = {unit, smallest};
    set_up(piece, visited, room, size);
    if (first > 0 && widths[first - 1] < NONE) return;  // an earlier one is still to be told
    for (int n = first; n < last; n++) {
        piece.begin(tops[n], n + 1);
        float found = limb_width(piece, volume, limits, tops[n], is_tip, most, width, next);
        __syncthreads();
        if (threadIdx.x == 0) {
            widths[n] = found;
            if (found >= 0) is_tip[tops[n]] = 1;
        }
        __syncthreads();
        if (found == TOO_LARGE) break;
    }
}

// The piece of voxels of a box, at least at a distance, that holds a place: those from the distance
// `nearest[0]` on, then those from `nearest[1]` on. `counts` are their numbers.
extern "C" __global__ void __launch_bounds__(THREADS, 1) grow_cap(
    const int* distances, int row, int plane, int place, int low_k, int low_j, int low_i, int high_k,
    int high_j, int high_i, int far, int near, int number, int* visited, int* room, int size,
    int* counts)
{
    __shared__ Piece piece;
    Volume volume = {distances, nullptr, row, plane};
    set_up(piece, visited, room, size);
    piece.begin(place, number);
    Box box = {low_k, low_j, low_i, high_k, high_j, high_i};
    auto inside = [&](int voxel) { return distances[voxel] >= near && box.holds(volume, voxel); };
    auto meet = [](int) { return true; };
    piece.grow(volume, first_key_at(far), inside, meet, size);
    if (threadIdx.x == 0) counts[0] = piece.count;
    __syncthreads();
    piece.grow(volume, first_key_at(near), inside, meet, size);
    if (threadIdx.x == 0) counts[1] = piece.count;
}

// For each end of a skeleton the furthest voxel (the first in memory) of those whose shortest way to
// the skeleton leads to it, of ends with equally short ways to the first. Up to the first end with
// more voxels than `most`, which gets TOO_LARGE_PIECE; `begun` then tells between which of `voxels`
// those lie whose neighbours are still to be visited, and the key of the furthest so far.
extern "C" __global__ void __launch_bounds__(THREADS, 1) furthest_beyond(
    const int* distances, int row, int plane, const int* steps, const int* ends, int first, int last,
    int most, int* seen, int* voxels, int* furthest, u64* begun)
{
    __shared__ int count;
    __shared__ u64 best;
    Volume volume = {distances, nullptr, row, plane};
    if (first > 0 && furthest[first - 1] < 0) return;  // an earlier one is still to be told
    for (int n = first; n < last; n++) {
        if (threadIdx.x == 0) {
            voxels[0] = ends[n];
            count = 1;
            best = 0;
        }
        __syncthreads();
        int grown = 0;
        while (grown < count && count <= most) {
            int end = count;
            __syncthreads();
            for (int m = threadIdx.x; m < (end - grown) * 9; m += THREADS) {
                int voxel = voxels[grown + m / 9], lines = m % 9;
                if (lines == 4) atomicMax(&best, volume.furthest_key(voxel));
                for (int side = 3 * lines; side < 3 * lines + 3; side++) {
                    int other = volume.neighbour(voxel, side);
                    if (!volume.leads_to(voxel, other, steps[side])) continue;
                    if (!atomicExch(&seen[other], 1)) voxels[atomicAdd(&count, 1)] = other;
                }
            }
            grown = end;
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            furthest[n] = grown < count ? TOO_LARGE_PIECE : (int)~(unsigned)best;
            begun[0] = grown;
            begun[1] = count;
            begun[2] = best;
        }
        if (grown < count) break;
        __syncthreads();
    }
}
