// Nodes of a round of contraction: where they hook, their numbers in the next round, and the lists of
// edges between them.
#pragma once

#include "node_map.cuh"

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

#ifdef WIDE
// An edge: 32 bits for each node; the weights have an array of their own.
__device__ __forceinline__ u32 edge_one(u64 edge) { return edge >> 32; }
__device__ __forceinline__ u32 edge_other(u64 edge) { return (u32)edge; }
__device__ __forceinline__ u32 edge_weight(u64, const u16* weights, u32 n) { return weights[n]; }
__device__ __forceinline__ void put_edge(u64* edges, u16* weights, u32 n, u32 one, u32 other, u32 weight)
{
    edges[n] = (u64)one << 32 | other;
    weights[n] = weight;
}
#else
// An edge: 24 bits for each node, 16 for the weight
__device__ __forceinline__ u32 edge_one(u64 edge) { return edge >> 40; }
__device__ __forceinline__ u32 edge_other(u64 edge) { return edge >> 16 & 0xffffff; }
__device__ __forceinline__ u32 edge_weight(u64 edge, const u16* = 0, u32 = 0) { return edge & 0xffff; }
__device__ __forceinline__ void put_edge(u64* edges, u16*, u32 n, u32 one, u32 other, u32 weight)
{
    edges[n] = (u64)one << 40 | (u64)other << 16 | weight;
}
#endif

// A list of edges. The numbers of its edges begin at `first`; beyond `capacity` none is written, but
// all are counted. best: of each node, weight << 32 | number of its best edge, or 0. weights: of WIDE edges.
struct Edges
{
    u64* edges;
    u32 first, capacity;
    u32* count;
    u64* best;
    u16* weights;
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
        put_edge(list.edges, list.weights, at, one[n], other[n], weight[n]);
        u64 key = (u64)weight[n] << 32 | (list.first + at);
        volatile u64* best = list.best;
        if (one[n] && best[one[n]] < key) atomicMax(list.best + one[n], key);
        if (other[n] && best[other[n]] < key) atomicMax(list.best + other[n], key);
    }
}
