// Components of an object's superlevel sets that all blocks of a cooperative launch grow together, one
// after the other; see local_maxima.cu for small ones. A launch does rounds, with a grid sync after
// each, until all components are grown or it has done enough; the next launch goes on from there.
//
// What a round finds lies in global memory. What follows from it each block computes by itself, with
// the same result.

#pragma once

#include "grid_sync.cuh"
#include "volume.cuh"

#define THREADS 1024  // of a block, at most
constexpr unsigned WARP = 0xffffffff;
#define MAX_VOXELS_PER_ROUND (1 << 20)  // whose neighbours one round visits
#define ROUND_COST (1 << 12)  // in voxels, for the work that one launch may do

enum Step { BEGIN, SIFT, SPREAD, FIND_NEXT, END };

// What one round finds.
struct Found
{
    u64 highest;  // key that waits, or of the furthest voxel
    int joined, waiting;  // how many voxels
    int width;  // the bits of a float
    int discarded;
};

// Where the growth stands between two rounds.
struct Growth
{
    int step, round;
    int at, voxel, number;  // which component, the voxel it begins with, and its number in `visited`
    int count, first, last;  // voxels of the component; the neighbours of these are visited in this round
    int waiting, turn;  // how many neighbours wait; in which list they are
    int width, level, joining;
    u64 least, highest;
    long long work;
};

struct State
{
    int sizes[2];  // of a cap, and of its slab
    unsigned arrived[2];  // counters of the grid sync, for launches in turn
    Growth growth;
    Found found[3];  // for rounds in turn: this one's, the last one's, and one that is cleared
};

// One launch of a kernel; `words` hold the state.
struct Launch
{
    int* words;
    int number, max_work;  // number: from 0

    __device__ State* state() const { return (State*)words; }
};

struct Lists
{
    int number;  // of the first component that is grown
    int* visited;  // for each voxel the number of the last component that it was of or adjacent to
    int *workspace, size;  // three lists: the component's voxels, and two in turn of what waits

    __device__ int* voxels() const { return workspace; }
    __device__ int* waiting(int turn) const { return workspace + (1 + turn) * (long long)size; }
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

// The work of a round, by all threads of all blocks. `rule` says which voxels belong to a component.
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
                if (line == 4 && !rule.meet(volume, growth, found, voxel)) found->discarded = 1;
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

// Begins a component with a voxel. Each block does so, with the same numbers, before it goes on.
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

// Grows components up to the last one, or as long as the launch may.
// `rule.begin(growth)` begins the component `growth.at`, or ends. `rule.grown(growth, found)` is called
// where nothing joins any more, or the growth is given up, and says what follows.
template <class Rule>
__device__ void grow(Rule& rule, const Volume& volume, const Lists& lists, const Launch& launch)
{
    __shared__ Growth growth;
    State* state = launch.state();
    bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (threadIdx.x == 0) {
        growth = state->growth;
        growth.work = 0;
        if (growth.step == BEGIN) rule.begin(growth);
    }
    if (is_first) state->arrived[(launch.number + 1) % 2] = 0;
    __syncthreads();
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    while (growth.step != END && growth.work < launch.max_work) {
        Found* found = &state->found[growth.round % 3];
        if (is_first) state->found[(growth.round + 1) % 3] = Found();
        Worker<Rule> worker = {rule, volume, lists, growth, found, thread, threads};
        if (growth.step == SIFT) worker.sift();
        if (growth.step == SPREAD) worker.spread();
        if (growth.step == FIND_NEXT) worker.find_next();
        grid_sync(&state->arrived[launch.number % 2]);
        if (threadIdx.x == 0) {
            take_over(growth, *found);
            if (growth.last == growth.count || found->discarded)
                rule.grown(growth, *found);
            else {
                growth.step = SPREAD;
                growth.first = growth.last;
                growth.last = min(growth.count, growth.first + MAX_VOXELS_PER_ROUND);
            }
            growth.work += growth.last - growth.first + growth.waiting / 8 + ROUND_COST;
        }
        __syncthreads();
    }
    if (is_first) state->growth = growth;
}
