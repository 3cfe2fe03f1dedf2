// defines: VOXEL=unsigned char NODE=u8 | VOXEL=short NODE=u16 | VOXEL=unsigned short NODE=u8 | VOXEL=float NODE=u8
//
// Contraction of the graph of nodes that contract_tiles.cu leaves, round by round: each node hooks
// along its best edge, and connected nodes are contracted to one node of the next round. The node of
// the seeds' component is node 0 from the second round on. When no edge is left, each node's
// connectedness follows from that of the node it became. All rounds from the second on are one
// cooperative launch with grid sync.

#include "../affinity.cuh"
#include "grid_sync.cuh"
#include "node_edges.cuh"
#include "../tile_geometry.cuh"

// The first round's hooks, along the edges across the tiles' borders. outgoing and parent may be one.
extern "C" __global__ void hook_outgoing(const u32* outgoing, const NODE* node_of, const u32* first_nodes, int nj, int ni,
                                      u32 nodes, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    parent[n] = outgoing[n] == SEED ? n : node_at(outgoing[n], node_of, first_nodes, nj, ni);
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
extern "C" __global__ void keep_tile_edges(const short* tile_edges, const u16* tile_edge_weights, u32 nodes, const u32* next,
                                      u64* kept, u32 first, u32 most, u32* count, u64* best)
{
    Edges list = {kept, first, most, count, best};
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

// The edges across the tiles' upper borders, in the second round's numbers: 128 + 128 + 64 threads
// per tile. None where the list of intra-tile edges was too short for all of them.
extern "C" __global__ void cross_tile_edges(const VOXEL* voxels, const NODE* node_of, const u32* first_nodes, int nk, int nj,
                                       int ni, const float* coefficients, int cut_level, const u32* reached,
                                       int first_tile, const u32* next, const u32* tile_edge_count, u32 max_tile_edges, u64* kept,
                                       u32 first, u32 most, u32* count, u64* best)
{
    if (*tile_edge_count > max_tile_edges) return;
    Edges list = {kept, first, most, count, best};
    int tiles_i = (ni + SIDE_I - 1) / SIDE_I, tiles_j = (nj + SIDE_J - 1) / SIDE_J;
    int number = tile_of(reached, first_tile), t = threadIdx.x, axis = t >> 7;
    int k = number / (tiles_i * tiles_j) * SIDE_K + (axis == 0 ? SIDE_K - 1 : axis == 1 ? t >> 4 & 7 : t >> 3 & 7);
    int j = number / tiles_i % tiles_j * SIDE_J + (axis == 0 ? t >> 4 & 7 : axis == 1 ? SIDE_J - 1 : t & 7);
    int i = number % tiles_i * SIDE_I + (axis == 2 ? SIDE_I - 1 : t & 15);
    int tile_step = axis == 0 ? tiles_i * tiles_j : axis == 1 ? tiles_i : 1;
    bool wanted = k + (axis == 0) < nk && j + (axis == 1) < nj && i + (axis == 2) < ni;
    u32 node_first = first_nodes[number], first_to = wanted ? first_nodes[number + tile_step] : NO_NODES;
    wanted = node_first != NO_NODES && first_to != NO_NODES;
    u32 a[1] = {0}, b[1] = {0}, weight[1] = {0};
    if (wanted) {
        long long at = ((long long)k * nj + j) * ni + i;
        long long to = at + (axis == 0 ? (long long)nj * ni : axis == 1 ? ni : 1);
        u32 node = node_of[at], node_to = node_of[to];
        VOXEL voxel = voxels[at], voxel_to = voxels[to];
        if (node != NONE && node_to != NONE) {
            a[0] = next[node_first + node];
            b[0] = next[first_to + node_to];
        }
        if (a[0] != b[0])
            weight[0] = affinity_level((float)voxel, (float)voxel_to, read_affinity(coefficients, cut_level));
    }
    add_edges(list, a, b, weight);
}

// ---- all further rounds

// Rounds until no edge is left, then back to the nodes of the first round.
//
// nodes: of the second round. best: their best edges; other_best: of the third one's, half as many.
// parent: of one round. next, weights: of all rounds' nodes, one round behind the other.
// first_nodes, first_next, first_weights: of the first round; there the connectedness is written.
// counts: 0 so far: nodes (but node 0) and edges that each round leaves, for MAX_ROUNDS rounds; then how
// many rounds there were with the first, and the counter of the grid sync.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, ROUND_BLOCKS) further_rounds(
    u64* edges, u32 edge_count, u64* more_edges, u32 more_first, u32 more_count, u32 nodes, u64* best, u64* other_best,
    u32* parent, u32* next, u16* weights, u32 first_nodes, const u32* first_next, u16* first_weights, u32* counts)
{
    BothLists both = {edges, more_edges, more_first};
    Part part(edges, edge_count, 0), more_part(more_edges, more_count, more_first);
    u32 *arrived = counts + 2 * MAX_ROUNDS + 1, rounds = 0, now = nodes, left = edge_count + more_count;
    for (; left; rounds++) {
        FOR_NODES(n, now) {
            u64 key = n ? best[n] : 0, edge = key ? both.numbered((u32)key) : 0;
            parent[n] = !key ? n : edge_one(edge) == n ? edge_other(edge) : edge_one(edge);
            weights[n] = n ? key >> 32 : TOP;  // of nodes that hook nowhere: what they will have
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
    FOR_NODES(n, now) weights[n] = n ? 0 : TOP;  // no path leads to the others
    while (rounds--) {
        grid_sync(arrived);
        u16* later = weights;
        now = rounds ? counts[2 * rounds - 2] + 1 : nodes;
        next -= now;
        weights -= now;
        FOR_NODES(n, now) weights[n] = min(weights[n], later[next[n]]);
    }
    grid_sync(arrived);
    FOR_NODES(n, first_nodes) first_weights[n] = min(first_weights[n], weights[first_next[n]]);
}

extern "C" __global__ void lower_voxels(u16* levels, const NODE* node_of, const u32* first_nodes, const u16* connected,
                                        int nk, int nj, int ni, const u32* reached, int first_tile)
{
    int number = tile_of(reached, first_tile);
    TileGeometry p = tile_geometry(number, nk, nj, ni);
    u32 first = first_nodes[number];
    if (first == NO_NODES) return;
    u32 node[OWN], level[OWN];
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        node[m] = p.inside(m) ? node_of[p.at(m)] : NONE;
        level[m] = p.inside(m) ? levels[p.at(m)] : 0;
    }
#pragma unroll
    for (int m = 0; m < OWN; m++)
        if (node[m] != NONE) level[m] = min(level[m], (u32)connected[first + node[m]]);
#pragma unroll
    for (int m = 0; m < OWN; m++)
        if (node[m] != NONE) levels[p.at(m)] = level[m];
}
