// Pieces of an object that many blocks grow, a round of neighbours a launch; see limbs.cu.

#include "volume.cuh"

// What the host looks at between launches.
struct State
{
    int listed[3];  // voxels of the rounds, in turn: this one's, the next one's, and 0
    int count;  // voxels of the piece
    int waiting[2];
    int width;  // the bits of a float
    int given_up;
    u64 next;  // the highest key that waits
};

struct Lists
{
    State* state;
    int *visited, number, *room;
    int size;  // of each list
    int round, turn;

    // Lists in `room`: the piece's voxels, two that wait, two of rounds
    __device__ int* list(int n) const { return room + (long long)n * size; }

    __device__ void join(int voxel, int at_round) const
    {
        list(0)[atomicAdd(&state->count, 1)] = voxel;
        list(3 + (at_round & 1))[atomicAdd(&state->listed[at_round % 3], 1)] = voxel;
    }
    __device__ void wait(int voxel) const
    {
        list(1 + turn)[atomicAdd(&state->waiting[turn], 1)] = voxel;
    }
    __device__ bool is_new(int voxel) const
    {
        if (*(volatile int*)(visited + voxel) == number) return false;
        return atomicExch(&visited[voxel], number) != number;
    }

    // Lets the neighbours of the voxels of a round join or wait, as `Piece::grow` does.
    template <class Allows, class Meet>
    __device__ void spread(const Volume& volume, u64 least, Allows allows, Meet meet) const
    {
        if (state->given_up) return;
        int listed = state->listed[round % 3];
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            state->listed[(round + 2) % 3] = 0;
            state->waiting[turn ^ 1] = 0;
        }
        long long step = (long long)gridDim.x * blockDim.x;
        for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < listed * 9LL; n += step) {
            int voxel = list(3 + (round & 1))[n / 9], lines = n % 9;
            if (lines == 4 && !meet(voxel)) state->given_up = 1;
            for (int side = 3 * lines; side < 3 * lines + 3; side++) {
                int other = volume.neighbour(voxel, side);
                if (!allows(other) || !is_new(other)) continue;
                if (volume.key(other) >= least)
                    join(other, round + 1);
                else
                    wait(other);
            }
        }
    }
};

// Begins a piece with a voxel that waits.
extern "C" __global__ void begin(int* state, int* visited, int number, int* room, int size, int voxel)
{
    if (threadIdx.x) return;
    Lists lists = {(State*)state, visited, number, room, size, 0, 0};
    *lists.state = State();
    lists.state->waiting[0] = 1;
    visited[voxel] = number;
    lists.list(1)[0] = voxel;
}

// What waits in the other list joins in this round, from a key on, or waits further on.
extern "C" __global__ void sift(const int* distances, int row, int plane, int* state, int* visited,
                                int number, int* room, int size, int round, int turn, u64 least)
{
    Volume volume = {distances, nullptr, row, plane};
    Lists lists = {(State*)state, visited, number, room, size, round, turn};
    if (blockIdx.x == 0 && threadIdx.x == 0) lists.state->next = 0;
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < lists.state->waiting[turn ^ 1];
         n += gridDim.x * blockDim.x) {
        int voxel = lists.list(1 + (turn ^ 1))[n];
        if (volume.key(voxel) >= least)
            lists.join(voxel, round);
        else
            lists.wait(voxel);
    }
}

// Finds the highest key that waits.
extern "C" __global__ void find_next(const int* distances, int row, int plane, int* state,
                                     int* visited, int number, int* room, int size, int round, int turn)
{
    Volume volume = {distances, nullptr, row, plane};
    Lists lists = {(State*)state, visited, number, room, size, round, turn};
    u64 next = 0;
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < lists.state->waiting[turn];
         n += gridDim.x * blockDim.x)
        next = max(next, volume.key(lists.list(1 + turn)[n]));
    if (next) atomicMax(&lists.state->next, next);
}

// A round of the piece of a top.
extern "C" __global__ void spread_limb(const int* distances, int row, int plane, int* state,
                                       int* visited, int number, int* room, int size, int round, int turn,
                                       u64 least, const float* depth, int top, int joining,
                                       const unsigned char* is_tip)
{
    Volume volume = {distances, depth, row, plane};
    Lists lists = {(State*)state, visited, number, room, size, round, turn};
    int* largest = &lists.state->width;
    auto inside = [&](int voxel) { return distances[voxel] >= 0; };
    auto meet = [&](int voxel) {
        int width = __float_as_int(depth[voxel]);
        if (voxel != joining && *(volatile int*)largest < width) atomicMax(largest, width);
        return !is_tip[voxel] && !volume.is_kept_before(voxel, top);
    };
    lists.spread(volume, least, inside, meet);
}

// A round of the piece of voxels of a box, at least at a distance.
extern "C" __global__ void spread_cap(const int* distances, int row, int plane, int* state,
                                      int* visited, int number, int* room, int size, int round, int turn,
                                      u64 least, int near, int low_k, int low_j, int low_i, int high_k,
                                      int high_j, int high_i)
{
    Volume volume = {distances, nullptr, row, plane};
    Lists lists = {(State*)state, visited, number, room, size, round, turn};
    Box box = {low_k, low_j, low_i, high_k, high_j, high_i};
    auto inside = [&](int voxel) { return distances[voxel] >= near && box.holds(volume, voxel); };
    lists.spread(volume, least, inside, [](int) { return true; });
}

// A round of what lies beyond an end of a skeleton; see `furthest_beyond`.
extern "C" __global__ void spread_beyond(const int* distances, int row, int plane, int* state,
                                         int* visited, int number, int* room, int size, int round,
                                         const int* steps)
{
    Volume volume = {distances, nullptr, row, plane};
    Lists lists = {(State*)state, visited, number, room, size, round, 0};
    int listed = lists.state->listed[round % 3];
    if (blockIdx.x == 0 && threadIdx.x == 0) lists.state->listed[(round + 2) % 3] = 0;
    long long step = (long long)gridDim.x * blockDim.x;
    u64* best = &lists.state->next;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < listed * 9LL; n += step) {
        int voxel = lists.list(3 + (round & 1))[n / 9], lines = n % 9;
        u64 key = volume.furthest_key(voxel);
        if (lines == 4 && *(volatile u64*)best < key) atomicMax(best, key);
        for (int side = 3 * lines; side < 3 * lines + 3; side++) {
            int other = volume.neighbour(voxel, side);
            if (volume.leads_to(voxel, other, steps[side]) && lists.is_new(other))
                lists.join(other, round + 1);
        }
    }
}
