// defines: NODE=u8 | NODE=u16
//
// Contraction of the graph of nodes that contract_tiles.cu leaves, round by round: each node hooks
// along its best edge, and connected nodes are contracted to one node of the next round. The node of
// the seeds' component is node 0 from the second round on. When no edge is left, each node's
// connectedness follows from that of the node it became. All rounds from the second on are one
// cooperative launch with grid sync: further_rounds.cu.

#include "node_edges.cuh"

// The first round's hooks. outgoing and parent may be one.
extern "C" __global__ void hook_outgoing(const u32* outgoing, const short* tile_edges, TileGrid grid, NodeMap map,
                                         u32 nodes, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    u32 to = outgoing[n];
    parent[n] = to == SEED ? n : to == STAYS ? ALONE : to == INSIDE ? n + tile_edges[n] : map.at(to, grid);
}

extern "C" __global__ void number_nodes(u32* parent, u16* weights, u32 nodes, u32* next, u32* count)
{
    number_block(parent, weights, nodes, next, count, blockIdx.x * blockDim.x + threadIdx.x);
}

extern "C" __global__ void follow_hooks(const u32* parent, u32 nodes, u32* next)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nodes) follow_node(parent, next, n);
}

// The edges within tiles, in the second round's numbers
extern "C" __global__ void keep_tile_edges(const short* tile_edges, const u16* tile_edge_weights, u32 nodes,
                                           const u32* next, Edges list)
{
    u32 a[EDGES_PER_THREAD], b[EDGES_PER_THREAD], weight[EDGES_PER_THREAD];
#pragma unroll
    for (int n = 0; n < EDGES_PER_THREAD; n++) {
        u32 e = (blockIdx.x * EDGES_PER_THREAD + n) * blockDim.x + threadIdx.x;
        bool there = e < nodes;
        a[n] = there ? next[e] : 0;
        b[n] = there ? next[e + tile_edges[e]] : 0;
        weight[n] = there && a[n] != b[n] ? tile_edge_weights[e] : 0;
    }
    add_edges(list, a, b, weight);
}

// The edges across the tiles' upper borders, in the second round's numbers: PAIRS threads per tile. None where the list of intra-tile edges was too short for all of them.
extern "C" __global__ void cross_tile_edges(TileGrid grid, const u16* weights, NodeMap map, const u32* next,
                                            Edges within, Edges list)
{
    if (*within.count > within.capacity) return;
    int tiles_i = grid.tiles_i(), tiles_j = grid.tiles_j(), number = grid.tile();
    BorderPair pair(threadIdx.x, true);
    u32 first = map.first_nodes[number], a[1] = {0}, b[1] = {0}, weight[1] = {0};
    // Of pairs that reach out of the volume the weight is 0.
    u32 across = first == NO_NODES ? 0 : weights[(size_t)grid.place() * PAIRS + threadIdx.x];
    if (across) {
        int step = pair.axis == 0 ? tiles_i * tiles_j : pair.axis == 1 ? tiles_i : 1;
        TileGeometry p = grid.geometry(number);
        u32 first_to = map.first_nodes[number + step], at = p.number(p.k0 + pair.k, p.j0 + pair.j, p.i0 + pair.i);
        u32 to = at + (pair.axis == 0 ? (u32)p.nj * p.ni : pair.axis == 1 ? p.ni : 1);
        if (first_to != NO_NODES) {
            u32 node = map.node_of[at], node_to = map.node_of[to];
            if (node != NONE && node_to != NONE) {
                a[0] = next[first + node];
                b[0] = next[first_to + node_to];
            }
        }
        weight[0] = a[0] != b[0] ? across : 0;
    }
    add_edges(list, a, b, weight);
}

// The seeds' edges to the source, node 0, in the second round's numbers, as far as their nodes did not hook
// along them. None where the list of intra-tile edges was too short, as above.
extern "C" __global__ void source_edges(const long long* seeds, const u16* seed_levels, u32 count, TileGrid grid,
                                        NodeMap map, const u32* next, Edges within, Edges list)
{
    if (*within.count > within.capacity) return;
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    u32 node = n < count ? map.at(seeds[n], grid) : ALONE;
    u32 a[1] = {node == ALONE ? 0u : next[node]}, b[1] = {0}, weight[1] = {a[0] ? (u32)seed_levels[n] : 0u};
    add_edges(list, a, b, weight);
}

// Of four voxels of a row, where a row is whole fours: read and written at once.
template <class T>
struct alignas(4 * sizeof(T)) Four
{
    T of[4];
};

// From nodes to voxels: a thread takes four of a row.
extern "C" __global__ void lower_voxels(TileGrid grid, NodeMap map, u16* levels, const u16* connected)
{
    int number = grid.tile();
    TileGeometry p = grid.geometry(number);
    u32 first = map.first_nodes[number];
    int k = p.k0 + (threadIdx.x >> 5), j = p.j0 + (threadIdx.x >> 2 & 7), i = p.i0 + (threadIdx.x & 3) * 4;
    if (first == NO_NODES || k >= p.nk || j >= p.nj || i >= p.ni) return;
    u32 at = p.number(k, j, i);
    if (p.ni % 4) {
        for (int n = 0; n < min(4, p.ni - i); n++) {
            NODE node = map.node_of[at + n];
            if (node != NONE) levels[at + n] = min((u32)levels[at + n], (u32)connected[first + node]);
        }
        return;
    }
    Four<NODE> node = *(const Four<NODE>*)(map.node_of + at);
    Four<u16> level = *(const Four<u16>*)(levels + at);
#pragma unroll
    for (int n = 0; n < 4; n++)
        if (node.of[n] != NONE) level.of[n] = min((u32)level.of[n], (u32)connected[first + node.of[n]]);
    *(Four<u16>*)(levels + at) = level;
}
