// defines: NODE=u8 | NODE=u16
//
// Relative connectedness along the rounds of node_rounds.cu, in which points hook like all other nodes.
// Of each node the two best groups and their levels are known, however many groups there are:
//
//   up:   what a node of the next round holds is the best of what its nodes hold, each at most of the
//         weight of the edge by which that node hooked
//   down: what reaches a node is the best of what it holds, and of what reaches the node that it
//         became, at most of the weight of the edge by which it hooked
//
// No path leads into a node by a better edge than the one by which it hooked, and from hook to hook
// the weights never fall; so both hold for each group by itself.

#include "grid_sync.cuh"
#include "../../solvers/cuda/contraction/node_edges.cuh"
#include "../../solvers/cuda/tile_geometry.cuh"

#define NOBODY 0
#define DISPUTED 255

// A group and its level, 0: none; and those of the two best groups of a node, the better one first.
typedef u32 Claim;
typedef u64 Claims;
__device__ __forceinline__ Claim claim(u32 level, u32 group) { return level << 16 | group; }
__device__ __forceinline__ u32 level_of(Claim claim) { return claim >> 16; }
__device__ __forceinline__ u32 group_of(Claim claim) { return claim & 0xffff; }
__device__ __forceinline__ Claim best_of(Claims claims) { return claims >> 32; }
__device__ __forceinline__ Claim other_of(Claims claims) { return (u32)claims; }
__device__ __forceinline__ Claims both(Claim best, Claim other) { return (u64)best << 32 | other; }

__device__ __forceinline__ Claim at_most(Claim it, u32 level)
{
    return level ? claim(min(level_of(it), level), group_of(it)) : 0;
}
__device__ __forceinline__ Claims at_most(Claims it, u32 level)
{
    return both(at_most(best_of(it), level), at_most(other_of(it), level));
}

// The two best of different groups
__device__ __forceinline__ Claims joined(Claims one, Claims two)
{
    Claim best = max(best_of(one), best_of(two)), rest = min(best_of(one), best_of(two)), other = 0;
    if (group_of(rest) != group_of(best)) other = rest;
    if (group_of(other_of(one)) != group_of(best)) other = max(other, other_of(one));
    if (group_of(other_of(two)) != group_of(best)) other = max(other, other_of(two));
    return both(best, other);
}

__device__ __forceinline__ void join_atomically(u64* claims, Claims more)
{
    u64 seen = *(volatile u64*)claims, wanted = joined(seen, more);
    while (wanted != seen) {
        u64 before = atomicCAS(claims, seen, wanted);
        if (before == seen) return;
        seen = before;
        wanted = joined(seen, more);
    }
}

// Points survive the first round, each as a node of its own.
extern "C" __global__ void keep_points(const long long* points, u32 count, const NODE* node_of, const u32* first_nodes,
                                       int nj, int ni, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 node = node_at(points[n], node_of, first_nodes, nj, ni);
    if (node != ALONE) parent[node] = ALONE;
}

// What the nodes of the second round hold, 0 so far.
extern "C" __global__ void begin_claims(const long long* points, const u8* groups, u32 count, const NODE* node_of,
                                        const u32* first_nodes, int nj, int ni, const u32* next, u64* claims)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 node = node_at(points[n], node_of, first_nodes, nj, ni);
    if (node != ALONE) claims[next[node]] = both(claim(TOP, groups[n]), 0);
}

#if __CUDA_ARCH__ == 800
#define HOOK_BLOCKS 2  // three would spill a few registers
#else
#define HOOK_BLOCKS ROUND_BLOCKS
#endif

// Rounds until no edge is left, as in node_rounds.cu; the way back is claim_rounds.
//
// nodes: of the second round. best: their best edges; other_best: of the third one's, half as many.
// parent: of one round. next, weights: of all rounds' nodes, one round behind the other.
// counts: 0 so far: nodes (but node 0) and edges that each round leaves, for MAX_ROUNDS rounds; then how
// many rounds there were with the first, and what the barrier counts.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, HOOK_BLOCKS) hook_rounds(
    u64* edges, u32 edge_count, u64* more_edges, u32 more_first, u32 more_count, u32 nodes, u64* best,
    u64* other_best, u32* parent, u32* next, u16* weights, u32* counts)
{
    BothLists both_lists = {edges, more_edges, more_first};
    Part part(edges, edge_count, 0), more_part(more_edges, more_count, more_first);
    u32 *arrived = counts + 2 * MAX_ROUNDS + 1, rounds = 0, now = nodes, left = edge_count + more_count;
    for (; left; rounds++) {
        FOR_NODES(n, now) {
            u64 key = n ? best[n] : 0, edge = key ? both_lists.numbered((u32)key) : 0;
            parent[n] = !key ? n : edge_one(edge) == n ? edge_other(edge) : edge_one(edge);
            weights[n] = n ? key >> 32 : TOP;
        }
        FOR_NODES(n, now / 2 + 1) other_best[n] = 0;
        grid_sync(arrived);
        for (u32 start = blockIdx.x * ROUND_THREADS; start < now; start += gridDim.x * ROUND_THREADS)
            number_block(parent, weights, now, next, &counts[2 * rounds], start + threadIdx.x);
        grid_sync(arrived);
        FOR_NODES(n, now) follow_node(parent, next, n);
        grid_sync(arrived);
#pragma unroll 1
        for (int list = 0; list < 2; list++) {  // once in the code, which takes long to compile
            Part own = list ? more_part : part;
            own.keep_edges(next, other_best);
            (list ? more_part.count : part.count) = own.count;
        }
        if (threadIdx.x == 0 && part.count + more_part.count)
            atomicAdd(&counts[2 * rounds + 1], part.count + more_part.count);
        grid_sync(arrived);
        next += now;
        weights += now;
        now = counts[2 * rounds] + 1;
        left = counts[2 * rounds + 1];
        u64* kept = best;
        best = other_best;
        other_best = kept;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[2 * MAX_ROUNDS] = rounds + 1;
}

// What reaches the nodes of all rounds, when all have hooked.
//
// nodes, next, weights, counts: of hook_rounds. arrived: 0 so far, for the barrier.
// claims: of all rounds' nodes, one round behind the other; 0 so far but of the second round.
// best_levels, other_levels, owners: of the first round's nodes, where what reaches them is written; the first
// hold the weights of the edges by which they hooked.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, ROUND_BLOCKS) claim_rounds(
    u32 nodes, const u32* next, const u16* weights, const u32* counts, u32* arrived, u64* claims, u32 first_nodes,
    const u32* first_next, u16* best_levels, u16* other_levels, u8* owners)
{
    u32 rounds = counts[2 * MAX_ROUNDS] - 1, now = nodes, at = 0;  // at: the round's first node among all
    for (u32 round = 0; round < rounds; round++) {
        FOR_NODES(n, now) {
            Claims held = claims[at + n];
            if (held) join_atomically(claims + at + now + next[at + n], at_most(held, weights[at + n]));
        }
        grid_sync(arrived);
        at += now;
        now = counts[2 * round] + 1;
    }
    while (rounds--) {
        u32 later = at;
        now = rounds ? counts[2 * rounds - 2] + 1 : nodes;
        at -= now;
        FOR_NODES(n, now)
            claims[at + n] = joined(claims[at + n], at_most((Claims)claims[later + next[at + n]], weights[at + n]));
        grid_sync(arrived);
    }
    FOR_NODES(n, first_nodes) {
        Claims it = at_most((Claims)claims[first_next[n]], best_levels[n]);
        best_levels[n] = level_of(best_of(it));
        other_levels[n] = level_of(other_of(it));
        owners[n] = group_of(best_of(it));
    }
}

// levels: in, the lowest weight on the way from a voxel to its node; out, the level of its best group. owners: 0 so far.
extern "C" __global__ void own_voxels(u16* levels, u8* owners, const NODE* node_of, const u32* first_nodes,
                                      const u16* best_levels, const u16* other_levels, const u8* node_owners, int nk,
                                      int nj, int ni, const u32* reached, int first_tile)
{
    int number = tile_of(reached, first_tile);
    TileGeometry p = tile_geometry(number, nk, nj, ni);
    u32 first = first_nodes[number];
    if (first == NO_NODES) return;
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        u32 node = p.inside(m) ? node_of[p.at(m)] : NONE;
        if (node == NONE) continue;
        node += first;
        u32 way = levels[p.at(m)], best = min(way, (u32)best_levels[node]), other = min(way, (u32)other_levels[node]);
        levels[p.at(m)] = best;
        owners[p.at(m)] = best > other ? node_owners[node] : best ? DISPUTED : NOBODY;
    }
}
