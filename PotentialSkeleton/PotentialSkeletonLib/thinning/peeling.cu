// Homotopic peeling: see peeling.py. Voxels of a subfield are not adjacent: all that are simple go at once.
#include "grid_sync.cuh"
#include "simple_points.cuh"

const int SUBFIELDS = 8, NEVER = 0x7fffffff;

// An object in a box that it does not touch.
struct Object
{
    const long long* voxels;  // flat indices
    const float* order;       // of each
    int count, row, plane;
    unsigned char* states;  // of the box: 0 outside and of what went, 1 of what may go, else 2
    __device__ int subfield_of(int voxel) const
    {
        int k = voxel / plane, j = voxel % plane / row, i = voxel % row;
        return (k & 1) << 2 | (j & 1) << 1 | (i & 1);
    }
};

// The object's voxels sorted by subfield, below the round from which each may go: both in one number, so
// that one read gets them.
struct Peeling
{
    long long* entries;
    int* words;  // of State
};

struct State
{
    int counts[SUBFIELDS], listed[SUBFIELDS];  // voxels of each subfield
    int last;                                  // round from which on all may go
    int removed[3];                            // whether voxels went, in turn of three rounds
    unsigned int arrived[2];                   // see grid_sync, in turn of two launches
    int round, is_done;
};

// How many voxels each subfield has. One voxel a thread.
extern "C" __global__ void count_subfields(Object object, Peeling peeling)
{
    __shared__ int counts[SUBFIELDS];
    State* state = (State*)peeling.words;
    if (threadIdx.x < SUBFIELDS) counts[threadIdx.x] = 0;
    __syncthreads();
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < object.count) atomicAdd(&counts[object.subfield_of(object.voxels[n])], 1);
    __syncthreads();
    if (threadIdx.x < SUBFIELDS) atomicAdd(&state->counts[threadIdx.x], counts[threadIdx.x]);
}

// Lists the voxels by subfield, in any order within it. One voxel a thread.
extern "C" __global__ void list_subfields(Object object, Peeling peeling, float step)
{
    __shared__ int counts[SUBFIELDS], first[SUBFIELDS], last;
    State* state = (State*)peeling.words;
    if (threadIdx.x < SUBFIELDS) counts[threadIdx.x] = 0;
    if (threadIdx.x == 0) last = 0;
    __syncthreads();
    int n = blockIdx.x * blockDim.x + threadIdx.x, voxel = 0, subfield = 0, place = 0, round = 0;
    if (n < object.count) {
        voxel = object.voxels[n];
        subfield = object.subfield_of(voxel);
        place = atomicAdd(&counts[subfield], 1);
        round = (int)(object.order[n] / step);
        atomicMax(&last, round);
    }
    __syncthreads();
    if (threadIdx.x < SUBFIELDS) {
        int before = 0;
        for (int other = 0; other < threadIdx.x; other++) before += state->counts[other];
        first[threadIdx.x] = before + atomicAdd(&state->listed[threadIdx.x], counts[threadIdx.x]);
    }
    if (threadIdx.x == 0) atomicMax(&state->last, last);
    __syncthreads();
    if (n < object.count) {
        long long from = object.states[voxel] == 1 ? round : NEVER;
        peeling.entries[first[subfield] + place] = from << 32 | voxel;
    }
}

// Up to `rounds` rounds, each through all subfields; a cooperative launch. `launch` counts the launches.
extern "C" __global__ void peel_rounds(Object object, Peeling peeling, int rounds, int launch)
{
    State* state = (State*)peeling.words;
    unsigned int* arrived = &state->arrived[launch & 1];
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    int first = state->round, last = state->last, round = first;
    bool is_first = thread == 0, is_done = false;
    if (is_first) state->arrived[~launch & 1] = 0;
    for (; round < first + rounds && !is_done; round++) {
        if (is_first) state->removed[(round + 1) % 3] = 0;
        bool removed = false;
        for (int subfield = 0, begin = 0, end = 0; subfield < SUBFIELDS; subfield++, begin = end) {
            end = begin + state->counts[subfield];
            for (int n = begin + thread; n < end; n += threads) {
                long long entry = peeling.entries[n];
                if (entry >> 32 > round) continue;
                int voxel = (int)entry;
                if (!is_simple(neighbour_bits(object.states, voxel, object.row, object.plane))) continue;
                object.states[voxel] = 0;
                peeling.entries[n] = (long long)NEVER << 32;
                removed = true;
            }
            if (removed) state->removed[round % 3] = 1;
            grid_sync(arrived);
        }
        is_done = round >= last && state->removed[round % 3] == 0;
    }
    grid_sync(arrived);  // all blocks have read the round that this launch began with
    if (is_first) {
        state->round = round;
        state->is_done = is_done;
    }
}
