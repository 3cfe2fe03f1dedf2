// defines: NODE=u16 | NODE=u16 WIDE=1
//
// From the nodes of the tiles to a maximum spanning forest between those of face voxels and the source; WIDE: from
// the vertices of a graph that joins blocks, to the same or to the levels of all.
//
// Node 0 is the source, nodes 1, 2, ... are the face voxels, in both stages. In the first one these are kept:
// they hook nowhere, and every other node hooks along its best edge until it is part of one of them. Then
// they hook, too, and each hook is an edge of the forest: between the nodes at which the two components
// began to grow, since a path as wide as the edge connects either of them with the edge's end.
//
// For levels none but the source is kept; see node_rounds.cu.

#include "../../solvers/cuda/contraction/node_edges.cuh"

// The face voxels' nodes among those of the second round.
extern "C" __global__ void number_faces(const long long* faces, u32 count, TileGrid grid, NodeMap map, u32* next)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 node = map.at(faces[n], grid);
    if (node != ALONE) next[node] = n + 1;
}

// Edges in the numbers of the next round (null: the same), as far as they still lead from one node to another.
extern "C" __global__ void keep_edges(const u64* edges, const u16* weights, u32 count, const u32* next, Edges list)
{
    u32 a[EDGES_PER_THREAD], b[EDGES_PER_THREAD], weight[EDGES_PER_THREAD];
#pragma unroll
    for (int n = 0; n < EDGES_PER_THREAD; n++) {
        u32 e = (blockIdx.x * EDGES_PER_THREAD + n) * blockDim.x + threadIdx.x;
        u64 edge = e < count ? edges[e] : 0;
        a[n] = edge_one(edge);
        b[n] = edge_other(edge);
        if (next) {
            a[n] = next[a[n]];
            b[n] = next[b[n]];
        }
        weight[n] = a[n] != b[n] ? edge_weight(edge, weights, e) : 0;
    }
    add_edges(list, a, b, weight);
}

// The same of edges as the host has them, by vertices whose numbers are the nodes.
extern "C" __global__ void number_edges(const u32* first, const u32* second, const u16* levels, u32 count,
                                        const u32* numbers, Edges list)
{
    u32 a[EDGES_PER_THREAD], b[EDGES_PER_THREAD], weight[EDGES_PER_THREAD];
#pragma unroll
    for (int n = 0; n < EDGES_PER_THREAD; n++) {
        u32 e = (blockIdx.x * EDGES_PER_THREAD + n) * blockDim.x + threadIdx.x;
        bool there = e < count;
        a[n] = there ? numbers[first[e]] : 0;
        b[n] = there ? numbers[second[e]] : 0;
        weight[n] = a[n] != b[n] ? levels[e] : 0;
    }
    add_edges(list, a, b, weight);
}

// kept: the last node that hooks nowhere.
extern "C" __global__ void hook_nodes(const u64* edges, const u64* best, u32 kept, u32 nodes, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    u64 key = n > kept ? best[n] : 0, edge = key ? edges[(u32)key] : 0;
    parent[n] = !key ? n : edge_one(edge) == n ? edge_other(edge) : edge_one(edge);
}

// The forest's edges, and the node at which each component began to grow.
struct Forest
{
    u32 *first, *second;
    u16* levels;
    u32* count;
    const u32* began;  // null: no edges are written
    u32* next_began;
};

// Number the nodes that survive: those that are kept, and of two that hook onto each other the first. The others
// that hook have their edge written down. All threads of a block.
extern "C" __global__ void number_nodes(u32* parent, const u64* best, u32 kept, u32 nodes, u32* next, u32* count,
                                        Forest forest)
{
    __shared__ u32 survivors, hooked, start, hooked_start;
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) survivors = hooked = 0;
    __syncthreads();
    u32 up = n < nodes ? parent[n] : n, rank = 0;
    bool survives = n < up && n > kept && parent[up] == n, hooks = up != n && !survives && forest.began;
    if (survives) rank = atomicAdd(&survivors, 1);
    if (hooks) rank = atomicAdd(&hooked, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        start = survivors ? atomicAdd(count, survivors) + kept + 1 : 0;
        hooked_start = hooked ? atomicAdd(forest.count, hooked) : 0;
    }
    __syncthreads();
    if (n < nodes && up == n) next[n] = n <= kept ? n : 0;
    if (n == 0 && forest.began) forest.next_began[0] = 0;
    if (survives) {
        parent[n] = n;
        next[n] = start + rank;
        if (forest.began) forest.next_began[start + rank] = forest.began[n];
    }
    if (hooks) {
        u32 at = hooked_start + rank;
        forest.first[at] = forest.began[n];
        forest.second[at] = forest.began[up];
        forest.levels[at] = best[n] >> 32;
    }
}

extern "C" __global__ void follow_hooks(const u32* parent, u32 nodes, u32* next)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nodes) follow_node(parent, next, n);
}

// For the way back: the weights of the edges along which nodes hook, of nodes that survive the highest, of those
// that hook nowhere none.
extern "C" __global__ void keep_weights(const u32* parent, const u64* best, u32 nodes, u16* weights)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    weights[n] = n == 0 || (best[n] && parent[n] == n) ? TOP : best[n] >> 32;
}

// Levels of a round's nodes, in the place of its weights, from those of the next round's nodes.
extern "C" __global__ void lower_nodes(const u32* next, const u16* later, u32 nodes, u16* weights)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nodes) weights[n] = min(weights[n], later[next[n]]);
}
