// All rounds of contraction from the second on, in one cooperative launch.
#pragma once

#include "grid_sync.cuh"
#include "node_edges.cuh"

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
    u64* edges;
    u32 edge_count;
    u64* more;
    u32 more_first, more_count;

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

// The nodes of the second round and the edges between them, and memory for all rounds. The hooks of a round's
// nodes, `next` and `weights`, lie behind those of the round before.
struct Rounds
{
    u32 nodes;  // of the second round
    u64* best;  // their best edges
    u64* other_best;  // those of the third round, half as many
    u32* parent;  // of one round
    u32* next;
    u16* weights;
    u32* counts;  // 0: nodes (but node 0) and edges that each round leaves; the number of rounds; for the sync
    u32 now;  // nodes of the round that is next, at first those of the second

    __device__ u32* arrived() const { return counts + 2 * MAX_ROUNDS + 1; }

    // Rounds until no edge is left; returns their number. Then `now`, `next` and `weights` are those of the
    // nodes that are left. All threads of all blocks.
    __device__ __forceinline__ u32 hook(const BothLists& lists)
    {
        Part part(lists.edges, lists.edge_count, 0), more_part(lists.more, lists.more_count, lists.more_first);
        u32 rounds = 0, left = lists.edge_count + lists.more_count;
        for (; left; rounds++) {
            FOR_NODES(n, now) {
                u64 key = n ? best[n] : 0, edge = key ? lists.numbered((u32)key) : 0;
                parent[n] = !key ? n : edge_one(edge) == n ? edge_other(edge) : edge_one(edge);
                weights[n] = n ? key >> 32 : TOP;  // of nodes that hook nowhere: what they will have
            }
            FOR_NODES(n, now / 2 + 1) other_best[n] = 0;
            grid_sync(arrived());
            for (u32 start = blockIdx.x * ROUND_THREADS; start < now; start += gridDim.x * ROUND_THREADS)
                number_block(parent, weights, now, next, &counts[2 * rounds], start + threadIdx.x);
            grid_sync(arrived());
            FOR_NODES(n, now) follow_node(parent, next, n);
            grid_sync(arrived());
#pragma unroll 1
            for (int list = 0; list < 2; list++) {  // once in the code, which takes long to compile
                Part own = list ? more_part : part;
                own.keep_edges(next, other_best);
                (list ? more_part.count : part.count) = own.count;
            }
            if (threadIdx.x == 0 && part.count + more_part.count)
                atomicAdd(&counts[2 * rounds + 1], part.count + more_part.count);
            grid_sync(arrived());
            next += now;
            weights += now;
            now = counts[2 * rounds] + 1;
            left = counts[2 * rounds + 1];
            u64* done = best;
            best = other_best;
            other_best = done;
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) counts[2 * MAX_ROUNDS] = rounds + 1;
        return rounds;
    }
};
