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

#include "../../solvers/cuda/contraction/rounds.cuh"

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
extern "C" __global__ void keep_points(const long long* points, u32 count, TileGrid grid, NodeMap map, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 node = map.at(points[n], grid);
    if (node != ALONE) parent[node] = ALONE;
}

// What the nodes of the second round hold, 0 so far.
extern "C" __global__ void begin_claims(const long long* points, const u8* groups, u32 count, TileGrid grid, NodeMap map,
                                        const u32* next, u64* claims)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 node = map.at(points[n], grid);
    if (node != ALONE) claims[next[node]] = both(claim(TOP, groups[n]), 0);
}

#if __CUDA_ARCH__ == 800
#define HOOK_BLOCKS 2  // three would spill a few registers
#else
#define HOOK_BLOCKS ROUND_BLOCKS
#endif

// Rounds until no edge is left, as in node_rounds.cu; the way back is claim_rounds.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, HOOK_BLOCKS) hook_rounds(BothLists lists, Rounds all)
{
    all.hook(lists);
}

// The nodes of the first round, and what reaches them: the best group, its level and that of the second best.
// best_levels: at first the weights of the edges by which the nodes hooked.
struct FirstNodes
{
    u32 count;
    const u32* next;  // their numbers in the second round
    u16 *best_levels, *other_levels;
    u8* owners;
};

// What reaches the nodes of all rounds, when all have hooked. `all` as hook_rounds got it.
//
// arrived: 0 so far, for the sync. claims: of all rounds' nodes, one round behind the other; 0 so far but of
// the second round.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, ROUND_BLOCKS)
    claim_rounds(Rounds all, u32* arrived, u64* claims, FirstNodes first)
{
    const u32 *next = all.next, *counts = all.counts;
    const u16* weights = all.weights;
    u32 rounds = counts[2 * MAX_ROUNDS] - 1, now = all.nodes, at = 0;  // at: the round's first node among all
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
        now = rounds ? counts[2 * rounds - 2] + 1 : all.nodes;
        at -= now;
        FOR_NODES(n, now)
            claims[at + n] = joined(claims[at + n], at_most((Claims)claims[later + next[at + n]], weights[at + n]));
        grid_sync(arrived);
    }
    FOR_NODES(n, first.count) {
        Claims it = at_most((Claims)claims[first.next[n]], first.best_levels[n]);
        first.best_levels[n] = level_of(best_of(it));
        first.other_levels[n] = level_of(other_of(it));
        first.owners[n] = group_of(best_of(it));
    }
}

// levels: in, the lowest weight on the way from a voxel to its node; out, the level of its best group. owners: 0 so far.
extern "C" __global__ void own_voxels(TileGrid grid, NodeMap map, u16* levels, u8* owners, FirstNodes nodes)
{
    int number = grid.tile();
    TileGeometry p = grid.geometry(number);
    u32 first = map.first_nodes[number];
    if (first == NO_NODES) return;
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        u32 node = p.inside(m) ? map.node_of[p.at(m)] : NONE;
        if (node == NONE) continue;
        node += first;
        u32 way = levels[p.at(m)];
        u32 best = min(way, (u32)nodes.best_levels[node]), other = min(way, (u32)nodes.other_levels[node]);
        levels[p.at(m)] = best;
        owners[p.at(m)] = best > other ? nodes.owners[node] : best ? DISPUTED : NOBODY;
    }
}
