// The components numbered in the order of their roots.

#include "run_union_find.cuh"

#define NUMBERING_THREADS 1024 // as in cuda_labels.py

// Make each node's root its parent, and count the roots of each block of words.
extern "C" __global__ void __launch_bounds__(NUMBERING_THREADS)
    flatten_trees(const u32* words, int depth, int rows, int width, int* parent, u32* counts)
{
    __shared__ u32 count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    u32 word = thread_number(), roots = 0;
    Place place = place_of(word, {depth, rows, width});
    each_bit(place.length ? run_starts(words[word]) : 0, [&](int bit) {
        int node = place.first + bit, root = find_root(node, parent);
        parent[node] = root;
        roots += root == node;
    });
    if (roots)
        atomicAdd(&count, roots);
    __syncthreads();
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

// Exclusive prefix sum over the threads of the block.
__device__ inline u32 prefix_sum(u32 number)
{
    __shared__ u32 sums[32];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, sum = number;
    for (int d = 1; d < 32; d *= 2) {
        u32 before = __shfl_up_sync(ALL_LANES, sum, d);
        sum += lane >= d ? before : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    for (u32 n = 0; n < warp; n++)
        sum += sums[n];
    return sum - number;
}

// Write the negative number of its component to each root, in the order of the roots.
extern "C" __global__ void __launch_bounds__(NUMBERING_THREADS)
    number_roots(const u32* words, int depth, int rows, int width, int* parent, const u32* counts)
{
    if (!counts[blockIdx.x])
        return;
    __shared__ u32 earlier;
    if (threadIdx.x == 0)
        earlier = 0;
    __syncthreads();
    u32 sum = 0;
    for (u32 n = threadIdx.x; n < blockIdx.x; n += blockDim.x)
        sum += counts[n];
    if (sum)
        atomicAdd(&earlier, sum);
    u32 word = thread_number(), roots = 0;
    Place place = place_of(word, {depth, rows, width});
    each_bit(place.length ? run_starts(words[word]) : 0, [&](int bit) {
        if (parent[place.first + bit] == place.first + bit)
            roots |= 1u << bit;
    });
    int number = prefix_sum(__popc(roots)); // with a barrier, after which `earlier` is known
    number += earlier;
    each_bit(roots, [&](int bit) { parent[place.first + bit] = -++number; });
}

// Each voxel's label, in place of the parents. A root's may be read with either sign.
extern "C" __global__ void write_labels(const u32* words, int depth, int rows, int width,
                                          int* labels)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    int lane = threadIdx.x & 31;
    Place own = place_of(word, shape);
    u32 own_bits = own.length ? words[word] : 0;
#pragma unroll 1
    for (int n = 0; n < 32; n += BATCH) {
        int first[BATCH], length[BATCH], label[BATCH];
        bool is_set[BATCH];
#pragma unroll
        for (int m = 0; m < BATCH; m++) {
            u32 bits = __shfl_sync(ALL_LANES, own_bits, n + m);
            first[m] = __shfl_sync(ALL_LANES, own.first, n + m);
            length[m] = __shfl_sync(ALL_LANES, own.length, n + m);
            is_set[m] = bits >> lane & 1;
            label[m] = is_set[m] ? labels[first[m] + run_start(bits, lane)] : 0;
        }
#pragma unroll
        for (int m = 0; m < BATCH; m++)
            if (is_set[m])
                label[m] = abs(label[m] < 0 ? label[m] : labels[label[m]]);
        __syncwarp();
#pragma unroll
        for (int m = 0; m < BATCH; m++)
            if (lane < length[m])
                labels[first[m] + lane] = label[m];
    }
}
