// Pieces of an object that all blocks of a launch grow together, one piece after the other; see
// limbs.cu for small ones. A launch does rounds, with a barrier after each, until all pieces are told
// or it has done enough; the next launch goes on from there.
//
// What a round finds lies in memory for all blocks. What follows from it each block finds by itself:
// all know the same and come to the same.

#include "grid_sync.cuh"
#include "volume.cuh"

#define THREADS 1024  // of a block, at most
constexpr unsigned WARP = 0xffffffff;
#define MOST_VOXELS (1 << 20)  // whose neighbours one round visits
#define ROUND_COST (1 << 12)  // in voxels, for the work that one launch may do

enum Step { BEGIN, SIFT, SPREAD, FIND_NEXT, END };

// What one round finds.
struct Found
{
    u64 highest;  // key that waits, or of the furthest voxel
    int joined, waiting;  // how many voxels
    int width;  // the bits of a float
    int given_up;
};

// Where the growth stands between two rounds.
struct Growth
{
    int step, round;
    int at, voxel, number;  // which piece, the voxel it begins with, and its number in `visited`
    int count, first, last;  // voxels of the piece; the neighbours of these are visited in this round
    int waiting, turn;  // how many voxels beside it; in which list they are
    int width, level, joining;
    u64 least, highest;
    long long work;
};

struct State
{
    int sizes[2];  // of a cap, and of it with what is behind it
    unsigned arrived[2];  // at barriers, for launches in turn
    Growth growth;
    Found found[3];  // for rounds in turn: this one's, the last one's, and one that is cleared
};

struct Lists
{
    int* visited;  // for each voxel the number of the last piece that it was of or beside
    int *room, size;  // for three lists: the piece's voxels, and two in turn of what waits

    __device__ int* voxels() const { return room; }
    __device__ int* waiting(int turn) const { return room + (1 + turn) * (long long)size; }
};

// Appends to a list, after the first `count`, those of three voxels in a row from `voxel` on whose
// bits are set; for all lanes of a warp. `more` counts what is appended in this round.
__device__ void append(int* list, int count, int* more, int voxel, unsigned bits)
{
    if (!__any_sync(WARP, bits)) return;
    int lane = threadIdx.x % 32, own = 0, all = 0;
    for (int n = 0; n < 3; n++) {
        unsigned with_bit = __ballot_sync(WARP, bits >> n & 1);
        own += __popc(with_bit & ((1u << lane) - 1));
        all += __popc(with_bit);
    }
    int at = lane == 0 ? count + atomicAdd(more, all) : 0;
    at = __shfl_sync(WARP, at, 0) + own;
    for (int n = 0; n < 3; n++)
        if (bits >> n & 1) list[at++] = voxel + n;
}

// The work of a round, by all threads of all blocks. `rule` says which voxels belong to a piece.
template <class Rule>
struct Worker
{
    const Rule& rule;
    const Volume& volume;
    const Lists& lists;
    const Growth& growth;
    Found* found;
    int thread, threads;

    // What waits joins from a key on, or waits further on in the other list.
    __device__ void sift() const
    {
        const int* waiting = lists.waiting(growth.turn ^ 1);
        for (int first = thread & ~31; first < growth.waiting; first += threads) {
            int n = first + thread % 32, voxel = n < growth.waiting ? waiting[n] : 0;
            bool joins = n < growth.waiting && volume.key(voxel) >= growth.least;
            append(lists.voxels(), growth.count, &found->joined, voxel, joins);
            append(lists.waiting(growth.turn), 0, &found->waiting, voxel, n < growth.waiting && !joins);
        }
    }

    __device__ void find_next() const
    {
        const int* waiting = lists.waiting(growth.turn);
        u64 highest = 0;
        for (int n = thread; n < growth.waiting; n += threads)
            highest = max(highest, volume.key(waiting[n]));
        if (highest) atomicMax(&found->highest, highest);
    }

    // Neighbours join or wait. A thread takes three in a row.
    __device__ void spread() const
    {
        int lines = 9 * (growth.last - growth.first), number = growth.number;
        for (int start = thread & ~31; start < lines; start += threads) {
            int n = start + thread % 32, first = 0;
            unsigned joins = 0, waits = 0;
            if (n < lines) {
                int voxel = lists.voxels()[growth.first + n / 9], line = n % 9;
                if (line == 4 && !rule.meet(volume, growth, found, voxel)) found->given_up = 1;
                first = volume.neighbour(voxel, 3 * line);
                int distance[3], mark[3];
                for (int m = 0; m < 3; m++) {
                    distance[m] = volume.distances[first + m];
                    mark[m] = lists.visited[first + m];
                }
                for (int m = 0; m < 3; m++) {
                    int other = first + m;
                    if (mark[m] == number || !rule.allows(volume, voxel, other, 3 * line + m)) continue;
                    if (atomicExch(&lists.visited[other], number) == number) continue;
                    bool is_in = Volume::key_of(distance[m], other) >= growth.least;
                    (is_in ? joins : waits) |= 1u << m;
                }
            }
            append(lists.voxels(), growth.count, &found->joined, first, joins);
            append(lists.waiting(growth.turn), growth.waiting, &found->waiting, first, waits);
        }
    }
};

// Takes over what a round found.
__device__ void take_over(Growth& growth, const Found& found)
{
    growth.count += found.joined;
    growth.waiting = found.waiting + (growth.step == SIFT ? 0 : growth.waiting);
    growth.width = max(growth.width, found.width);
    growth.highest = max(growth.highest, found.highest);
    growth.round++;
}

// Lets what waits join from a key on, in the next round.
__device__ void go_on_from(Growth& growth, u64 least)
{
    growth.step = SIFT;
    growth.turn ^= 1;
    growth.least = least;
}

// Begins a piece with a voxel. Each block does so, with the same numbers, before it goes on.
__device__ void begin_with(Growth& growth, const Lists& lists, int voxel, int number)
{
    growth.step = SPREAD;
    growth.voxel = lists.voxels()[0] = voxel;
    growth.number = lists.visited[voxel] = number;
    growth.first = growth.waiting = growth.width = 0;
    growth.count = growth.last = 1;
    growth.joining = -1;
    growth.least = growth.highest = 0;
}

// Grows pieces up to the last one, or as long as the launch may; `launch` counts launches from 0.
// `rule.begin(growth)` begins the piece `growth.at`, or ends. `rule.grown(growth, found)` is called
// where nothing joins any more, or the growth is given up, and says what follows.
template <class Rule>
__device__ void grow(Rule& rule, const Volume& volume, const Lists& lists, State* state, int launch,
                     int most_work)
{
    __shared__ Growth growth;
    bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (threadIdx.x == 0) {
        growth = state->growth;
        growth.work = 0;
        if (growth.step == BEGIN) rule.begin(growth);
    }
    if (is_first) state->arrived[(launch + 1) % 2] = 0;
    __syncthreads();
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    while (growth.step != END && growth.work < most_work) {
        Found* found = &state->found[growth.round % 3];
        if (is_first) state->found[(growth.round + 1) % 3] = Found();
        Worker<Rule> worker = {rule, volume, lists, growth, found, thread, threads};
        if (growth.step == SIFT) worker.sift();
        if (growth.step == SPREAD) worker.spread();
        if (growth.step == FIND_NEXT) worker.find_next();
        grid_sync(&state->arrived[launch % 2]);
        if (threadIdx.x == 0) {
            take_over(growth, *found);
            if (growth.last == growth.count || found->given_up)
                rule.grown(growth, *found);
            else {
                growth.step = SPREAD;
                growth.first = growth.last;
                growth.last = min(growth.count, growth.first + MOST_VOXELS);
            }
            growth.work += growth.last - growth.first + growth.waiting / 8 + ROUND_COST;
        }
        __syncthreads();
    }
    if (is_first) state->growth = growth;
}

#define NONE -1.0f

// The limbs of tops. Thread 0 of each block follows what becomes of a top; the first block tells it.
struct LimbRule
{
    const Volume& volume;
    const Lists& lists;
    Limits limits;
    const int *tops, *which;  // `which`: numbers of the tops whose pieces are grown
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
        return marks[voxel] != IS_TIP && !volume.is_kept_before(voxel, growth.voxel);
    }
    __device__ void begin(Growth& growth)
    {
        growth.step = END;
        if (growth.at == count) return;
        begin_with(growth, lists, tops[which[growth.at]], number + growth.at);
        growth.level = limits.far_enough(volume.distances[growth.voxel], 0);
        growth.least = first_key_at(growth.level + 1);
    }
    __device__ void grown(Growth& growth, const Found& found)
    {
        int height = volume.distances[growth.voxel];
        if (found.given_up) return tell(growth, NONE);
        if (growth.joining >= 0) {
            float width = __int_as_float(growth.width);
            bool is_long = limits.is_long(height - volume.distances[growth.joining], width);
            growth.width = max(growth.width, __float_as_int(volume.depth[growth.joining]));
            growth.joining = -1;
            if (is_long) return tell(growth, __int_as_float(growth.width));
            growth.level = -1;
        }
        int level = limits.far_enough(height, __int_as_float(growth.width));
        if (level < 0) return tell(growth, NONE);
        if (level != growth.level) {
            growth.level = level;
            return go_on_from(growth, first_key_at(level + 1));
        }
        if (growth.waiting == 0) return tell(growth, NONE);
        if (growth.step != FIND_NEXT) {
            growth.step = FIND_NEXT;
            growth.highest = 0;
            return;
        }
        growth.joining = (int)(unsigned)growth.highest;
        go_on_from(growth, growth.highest);
    }
    __device__ void tell(Growth& growth, float width)
    {
        int n = which[growth.at];
        if (blockIdx.x == 0) {
            widths[n] = width;
            if (width >= 0) marks[tops[n]] = IS_TIP;
        }
        growth.at++;
        begin(growth);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) grow_limbs(
    const int* distances, int row, int plane, int* visited, int number, int* room, int size, int* state,
    int launch, int most_work, const float* depth, double unit, double smallest, const int* tops,
    const int* which, int count, unsigned char* marks, float* widths)
{
    Volume volume = {distances, depth, row, plane};
    Lists lists = {visited, room, size};
    LimbRule rule = {volume, lists, {unit, smallest}, tops, which, count, number, marks, widths};
    grow(rule, volume, lists, (State*)state, launch, most_work);
}

// A cap, in a box: what hangs together with a place by voxels from the distance `far` on, then from
// `near` on.
struct CapRule
{
    const Lists& lists;
    Box box;
    int place, far, near, number;
    int* sizes;

    __device__ bool allows(const Volume& volume, int, int other, int) const
    {
        return volume.distances[other] >= near && box.holds(volume, other);
    }
    __device__ bool meet(const Volume&, const Growth&, Found*, int) const { return true; }
    __device__ void begin(Growth& growth)
    {
        begin_with(growth, lists, place, number);
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
    const int* distances, int row, int plane, int* visited, int number, int* room, int size, int* state,
    int launch, int most_work, int low_k, int low_j, int low_i, int high_k, int high_j, int high_i,
    int place, int far, int near)
{
    Volume volume = {distances, nullptr, row, plane};
    Box box = {low_k, low_j, low_i, high_k, high_j, high_i};
    Lists lists = {visited, room, size};
    CapRule rule = {lists, box, place, far, near, number, ((State*)state)->sizes};
    grow(rule, volume, lists, (State*)state, launch, most_work);
}

// What lies beyond ends of a skeleton: voxels whose shortest way to it leads to an end, of ends with
// equally short ways to the first. The furthest is found, of equally far ones the first in memory.
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
    const int* distances, int row, int plane, int* visited, int number, int* room, int size, int* state,
    int launch, int most_work, const int* steps, const int* ends, int count, u64* furthest)
{
    Volume volume = {distances, nullptr, row, plane};
    Lists lists = {visited, room, size};
    BeyondRule rule = {lists, steps, ends, count, number, furthest};
    grow(rule, volume, lists, (State*)state, launch, most_work);
}
