// defines: NODE=u8 | NODE=u16
//
// Contraction of the graph of nodes that contract_tiles.cu leaves, round by round: each node hooks
// along its best edge, and connected nodes are contracted to one node of the next round. The node of
// the seeds' component is node 0 from the second round on. When no edge is left, each node's
// connectedness follows from that of the node it became.

#include "tiles.cuh"

#define EDGES_PER_THREAD 4

// A list of edges. Beyond `capacity` none is written, but all are counted. best: of each node, weight << 32 |
// number of its best edge, or 0.
struct Edges
{
    u32 *one, *other;
    u16* weight;
    u32 capacity;
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
        list.one[at] = one[n];
        list.other[at] = other[n];
        list.weight[at] = weight[n];
        u64 key = (u64)weight[n] << 32 | at;
        volatile u64* best = list.best;
        if (one[n] && best[one[n]] < key) atomicMax(list.best + one[n], key);
        if (other[n] && best[other[n]] < key) atomicMax(list.best + other[n], key);
    }
}

// Levels, 0 so far, of the seeds (null: TOP), and marks, 0 so far, for their tiles.
extern "C" __global__ void begin_seeds(const long long* seeds, const u16* seed_levels, u32 count, TileGrid grid,
                                       u16* levels, u8* seeded)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    levels[seeds[n]] = seed_levels ? seed_levels[n] : TOP;
    seeded[grid.tile_of(seeds[n])] = 1;
}

// The first round's hooks, along the best edges that the tiles found. outgoing and parent may be one.
extern "C" __global__ void hook_outgoing(const u32* outgoing, const short* within, TileGrid grid, NodeMap map,
                                         u32 nodes, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    u32 to = outgoing[n];
    parent[n] = to == SEED ? n : to == STAYS ? ALONE : to == INSIDE ? n + within[n] : map.at(to, grid);
}

// A further round's hooks, and their weights: of nodes that hook nowhere what they will have.
extern "C" __global__ void hook_nodes(const u32* one, const u32* other, const u64* best, u32 nodes, u32* parent,
                                      u16* weights)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    u64 key = n ? best[n] : 0;
    u32 edge = (u32)key;
    parent[n] = !key ? n : one[edge] == n ? other[edge] : one[edge];
    weights[n] = n ? key >> 32 : TOP;
}

// Number the surviving roots (stream compaction). Two nodes that hook onto each other along one edge
// become one: the first of them survives, and so do those that are alone. next: the next round's
// number of the survivors; 0 for the nodes that hook nowhere, which keep their weight.
extern "C" __global__ void number_nodes(u32* parent, u16* weights, u32 nodes, u32* next, u32* count)
{
    __shared__ u32 survivors, start;
    u32 n = blockIdx.x * blockDim.x + threadIdx.x, rank = 0;
    if (threadIdx.x == 0) survivors = 0;
    __syncthreads();
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

// The next round's numbers of the nodes that do not survive.
extern "C" __global__ void follow_hooks(const u32* parent, u32 nodes, u32* next)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    u32 at = n, up = parent[n];
    if (up == n) return;
    while (up != at) {
        at = up;
        up = parent[at];
    }
    next[n] = next[at];
}

// Edges in the numbers of the next round, as far as they still lead from one node to another. other: null where
// the other end of edge n is node n + within[n].
extern "C" __global__ void keep_edges(const u32* one, const u32* other, const short* within, const u16* weights,
                                      u32 count, const u32* next, Edges list)
{
    u32 a[EDGES_PER_THREAD], b[EDGES_PER_THREAD], weight[EDGES_PER_THREAD];
#pragma unroll
    for (int n = 0; n < EDGES_PER_THREAD; n++) {
        u32 e = (blockIdx.x * EDGES_PER_THREAD + n) * blockDim.x + threadIdx.x;
        bool there = e < count;
        a[n] = there ? next[other ? one[e] : e] : 0;
        b[n] = there ? next[other ? other[e] : e + within[e]] : 0;
        weight[n] = a[n] != b[n] ? weights[e] : 0;
    }
    add_edges(list, a, b, weight);
}

// The edges across the tiles' upper borders, in the second round's numbers: PAIRS threads per tile.
extern "C" __global__ void cross_tile_edges(TileGrid grid, int first_tile, const u16* weights, NodeMap map,
                                            const u32* next, Edges list)
{
    int tiles_i = grid.tiles_i(), tiles_j = grid.tiles_j(), number = first_tile + blockIdx.x;
    BorderPair pair(threadIdx.x, true);
    u32 first = map.first_nodes[number], a[1] = {0}, b[1] = {0}, weight[1] = {0};
    // Of pairs that reach out of the volume the weight is 0; with an edge the other tile has nodes, too.
    u32 across = first == NO_NODES ? 0 : weights[(size_t)number * PAIRS + threadIdx.x];
    if (across) {
        int step = pair.axis == 0 ? tiles_i * tiles_j : pair.axis == 1 ? tiles_i : 1;
        TileGeometry p = grid.geometry(number);
        u32 first_to = map.first_nodes[number + step], at = p.number(p.k0 + pair.k, p.j0 + pair.j, p.i0 + pair.i);
        u32 to = at + (pair.axis == 0 ? (u32)p.nj * p.ni : pair.axis == 1 ? p.ni : 1);
        u32 node = map.node_of[at], node_to = map.node_of[to];
        if (node != NONE && node_to != NONE) {
            a[0] = next[first + node];
            b[0] = next[first_to + node_to];
        }
        weight[0] = a[0] != b[0] ? across : 0;
    }
    add_edges(list, a, b, weight);
}

// The seeds' edges to the source, node 0, in the second round's numbers, as far as their nodes did not hook
// along them.
extern "C" __global__ void source_edges(const long long* seeds, const u16* seed_levels, u32 count, TileGrid grid,
                                        NodeMap map, const u32* next, Edges list)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    u32 node = n < count ? map.at(seeds[n], grid) : ALONE;
    u32 a[1] = {node == ALONE ? 0u : next[node]}, b[1] = {0}, weight[1] = {a[0] ? (u32)seed_levels[n] : 0u};
    add_edges(list, a, b, weight);
}

// Connectedness of a round's nodes, in the place of their weights, from that of the next round's.
extern "C" __global__ void lower_nodes(const u32* next, const u16* later, u32 nodes, u16* weights)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nodes) weights[n] = min(weights[n], later[next[n]]);
}

// From nodes to voxels.
extern "C" __global__ void lower_voxels(TileGrid grid, int first_tile, NodeMap map, u16* levels, const u16* connected)
{
    int number = first_tile + blockIdx.x;
    TileGeometry p = grid.geometry(number);
    u32 first = map.first_nodes[number];
    if (first == NO_NODES) return;
    for (int m = 0; m < OWN; m++) {
        if (!p.inside(m)) continue;
        NODE node = map.node_of[p.at(m)];
        if (node != NONE) levels[p.at(m)] = min((u32)levels[p.at(m)], (u32)connected[first + node]);
    }
}
