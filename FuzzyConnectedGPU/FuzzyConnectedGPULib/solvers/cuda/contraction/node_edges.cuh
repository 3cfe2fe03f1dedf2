// Nodes of a round of contraction: where they hook, their numbers in the next round, and the lists of
// edges between them.
#pragma once

#include "../tile_geometry.cuh"

// Parent of a node whose best edge leads to a tile that no seed reaches. It survives and need not
// hook: no seed reaches it either.
#define ALONE 0xffffffffu

__device__ __forceinline__ u32 node_at(u32 voxel, const NODE* node_of, const u32* first_nodes, int nj, int ni)
{
    int i = voxel % ni, j = voxel / ni % nj, k = voxel / ni / nj;
    int tiles_i = (ni + SIDE_I - 1) / SIDE_I, tiles_j = (nj + SIDE_J - 1) / SIDE_J;
    u32 first = first_nodes[(k / SIDE_K * tiles_j + j / SIDE_J) * tiles_i + i / SIDE_I];
    return first == NO_NODES ? ALONE : first + node_of[voxel];
}

// Number the surviving roots (stream compaction). Two nodes that hook onto each other along one edge
// become one: the first of them survives, and so do those that are alone. next: the next round's
// number of the survivors; 0 for the nodes that hook nowhere, which keep their weight. All threads of
// a block; a thread's node n may be beyond the last one.
__device__ void number_block(u32* parent, u16* weights, u32 nodes, u32* next, u32* count, u32 n)
{
    __shared__ u32 survivors, start;
    if (threadIdx.x == 0) survivors = 0;
    __syncthreads();
    u32 rank = 0;
    bool numbered = false;
    if (n < nodes) {
        u32 up = parent[n];
        numbered = up == ALONE || (n < up && parent[up] == n);
        if (up == n) next[n] = 0;
        if (numbered) {
            parent[n] = n;
            weights[n] = TOP;
            rank = atomicAdd(&survivors, 1);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) start = survivors ? atomicAdd(count, survivors) + 1 : 0;
    __syncthreads();
    if (numbered) next[n] = start + rank;
}

// The next round's number of a node that does not survive
__device__ __forceinline__ void follow_node(const u32* parent, u32* next, u32 n)
{
    u32 at = n, up = parent[n];
    if (up == n) return;
    while (up != at) {
        at = up;
        up = parent[at];
    }
    next[n] = next[at];
}

#define EDGES_PER_THREAD 4

// An edge: 24 bits for each node, 16 for the weight
__device__ __forceinline__ u32 edge_one(u64 edge) { return edge >> 40; }
__device__ __forceinline__ u32 edge_other(u64 edge) { return edge >> 16 & 0xffffff; }
__device__ __forceinline__ u32 edge_weight(u64 edge) { return edge & 0xffff; }

// A list of edges. The numbers of its edges begin at `first`; beyond `capacity` none is written, but
// all are counted. best: of each node, weight << 32 | number of its best edge, or 0.
struct Edges
{
    u64* edges;
    u32 first, capacity;
    u32* count;
    u64* best;
};

// Add each thread's edges, as far as they are wanted (weight > 0), to a list, and offer them to their
// nodes. Of a run of lanes with one pair of nodes only the best edge is kept. All threads of a block.
template <int N>
__device__ void add_edges(const Edges& list, const u32 (&one)[N], const u32 (&other)[N], const u32 (&weights)[N])
{
    __shared__ u32 block_count, block_start;
    if (threadIdx.x == 0) block_count = 0;
    __syncthreads();
    u32 lane = threadIdx.x & 31, below = (1u << lane) - 1, count = 0, weight[N], heads[N];
#pragma unroll
    for (int n = 0; n < N; n++) {
        weight[n] = weights[n];
        heads[n] = 0;
        if (!__any_sync(0xffffffffu, weight[n])) continue;
        u32 low = weight[n] ? min(one[n], other[n]) : 0, high = weight[n] ? max(one[n], other[n]) : 0;
        u32 low_before = __shfl_up_sync(0xffffffffu, low, 1), high_before = __shfl_up_sync(0xffffffffu, high, 1);
        bool head = lane == 0 || low != low_before || high != high_before;
        u32 all_heads = __ballot_sync(0xffffffffu, head), further_heads = lane < 31 ? all_heads >> (lane + 1) : 0;
        int length = further_heads ? __ffs(further_heads) : 32 - (int)lane;  // from here to the end of the run
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            u32 further = __shfl_down_sync(0xffffffffu, weight[n], d);
            if (d < length) weight[n] = max(weight[n], further);
        }
        heads[n] = __ballot_sync(0xffffffffu, head && weight[n]);
        count += __popc(heads[n]);
    }
    u32 start = lane == 0 && count ? atomicAdd(&block_count, count) : 0;
    start = __shfl_sync(0xffffffffu, start, 0);
    __syncthreads();
    if (threadIdx.x == 0) block_start = block_count ? atomicAdd(list.count, block_count) : 0;
    __syncthreads();
    start += block_start;
#pragma unroll
    for (int n = 0; n < N; n++) {
        u32 at = start + __popc(heads[n] & below);
        start += __popc(heads[n]);
        if (!(heads[n] >> lane & 1) || at >= list.capacity) continue;
        list.edges[at] = (u64)one[n] << 40 | (u64)other[n] << 16 | weight[n];
        u64 key = (u64)weight[n] << 32 | (list.first + at);
        volatile u64* best = list.best;
        if (one[n] && best[one[n]] < key) atomicMax(list.best + one[n], key);
        if (other[n] && best[other[n]] < key) atomicMax(list.best + other[n], key);
    }
}

// ---- rounds of one launch

#define ROUND_THREADS 512
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ >= 900
#define ROUND_BLOCKS 3  // at a time
#else
#define ROUND_BLOCKS 2  // three would spill a few registers
#endif
#define MAX_ROUNDS 32  // each round halves the nodes, of which there are at most 2 ** 24

// The two lists of edges; the numbers of the second one begin at more_first.
struct BothLists
{
    u64 *edges, *more;
    u32 more_first;

    __device__ u64 numbered(u32 n) const { return n < more_first ? edges[n] : more[n - more_first]; }
};

// A block's part of a list. The edges it keeps are compacted in place, at the part's beginning.
struct Part
{
    u64* edges;
    u32 first, count;  // number of its first edge

    // The block's part of the edges of a list; first: number of the list's first edge
    __device__ Part(u64* list, u32 length, u32 first)
    {
        u32 begin = (u64)length * blockIdx.x / gridDim.x;
        edges = list + begin;
        this->first = first + begin;
        count = (u64)length * (blockIdx.x + 1) / gridDim.x - begin;
    }

    // Keep the edges that still lead from one node to another, in the next round's numbers. All threads.
    __device__ void keep_edges(const u32* next, u64* best)
    {
        __shared__ u32 kept;
        if (threadIdx.x == 0) kept = 0;
        Edges list = {edges, first, count, &kept, best};
        for (u32 from = 0; from < count; from += EDGES_PER_THREAD * ROUND_THREADS) {
            u32 a[EDGES_PER_THREAD], b[EDGES_PER_THREAD], weight[EDGES_PER_THREAD];
#pragma unroll
            for (int n = 0; n < EDGES_PER_THREAD; n++) {
                u32 e = from + n * ROUND_THREADS + threadIdx.x;
                u64 edge = e < count ? edges[e] : 0;
                a[n] = edge ? next[edge_one(edge)] : 0;
                b[n] = edge ? next[edge_other(edge)] : 0;
                weight[n] = a[n] != b[n] ? edge_weight(edge) : 0;
            }
            add_edges(list, a, b, weight);  // in which a barrier lies before the first store
        }
        __syncthreads();
        count = kept;
        __syncthreads();
    }
};

// A grid-stride loop over the nodes of a round.
#define FOR_NODES(n, nodes) \
    for (u32 n = blockIdx.x * ROUND_THREADS + threadIdx.x; n < (nodes); n += gridDim.x * ROUND_THREADS)
