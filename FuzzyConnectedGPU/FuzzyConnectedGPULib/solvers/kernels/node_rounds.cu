// defines: VOXEL=unsigned char NODE=u8 | VOXEL=short NODE=u16 | VOXEL=unsigned short NODE=u8 | VOXEL=float NODE=u8
//
// Contraction of the graph of nodes that contract_tiles.cu leaves, round by round: each node hooks
// along its best edge, and what hangs together is one node of the next round. The node that holds
// the seeds, or hangs together with one that does, is node 0 from the second round on. The last few
// nodes are raised along their edges until nothing changes. At the end each node's connectedness
// follows from that of the node it became.

#include "affinity.cuh"
#include "tile_place.cuh"

// Parent of a node whose best edge leads to a tile that no seed reaches. It stays, and need not hook:
// no seed reaches it either.
#define ALONE 0xffffffffu

__device__ __forceinline__ u32 node_at(u32 voxel, const NODE* node_of, const u32* first_nodes, int nj, int ni)
{
    int i = voxel % ni, j = voxel / ni % nj, k = voxel / ni / nj;
    int tiles_i = (ni + SIDE_I - 1) / SIDE_I, tiles_j = (nj + SIDE_J - 1) / SIDE_J;
    u32 first = first_nodes[(k / SIDE_K * tiles_j + j / SIDE_J) * tiles_i + i / SIDE_I];
    return first == NO_NODES ? ALONE : first + node_of[voxel];
}

// The first round's hooks, along the edges across the tiles' borders. exits and parent may be one.
extern "C" __global__ void hook_exits(const u32* exits, const NODE* node_of, const u32* first_nodes, int nj, int ni,
                                      u32 nodes, u32* parent)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    parent[n] = exits[n] == SEED ? n : node_at(exits[n], node_of, first_nodes, nj, ni);
}

// An edge of the later rounds: 24 bits for each node, 16 for the weight
__device__ __forceinline__ u32 edge_one(u64 edge) { return edge >> 40; }
__device__ __forceinline__ u32 edge_other(u64 edge) { return edge >> 16 & 0xffffff; }
__device__ __forceinline__ u32 edge_weight(u64 edge) { return edge & 0xffff; }

// A later round's hooks. best: weight << 32 | number of the edge, 0 for none. weights: out; of nodes
// that hook nowhere TOP for the seeds' node and 0 for those that no edge leaves.
extern "C" __global__ void hook_nodes(const u64* best, const u64* edges, u32 edge_count, const u64* more_edges,
                                      u32 nodes, u32* parent, u16* weights)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes) return;
    u64 key = n ? best[n] : 0;
    parent[n] = n;
    if (key) {
        u32 number = (u32)key;
        u64 edge = number < edge_count ? edges[number] : more_edges[number - edge_count];
        parent[n] = edge_one(edge) == n ? edge_other(edge) : edge_one(edge);
    }
    weights[n] = n ? key >> 32 : TOP;
}

// Number what the nodes become. Two nodes that hook onto each other, by one edge, become one: the
// first of them stays, and so do those that are alone. next: the next round's number, of the nodes
// that stay; 0 for the nodes that hook nowhere, whose weight says the rest.
extern "C" __global__ void number_nodes(u32* parent, u16* weights, u32 nodes, u32* next, u32* count)
{
    __shared__ u32 stay, start;
    if (threadIdx.x == 0) stay = 0;
    __syncthreads();
    u32 n = blockIdx.x * blockDim.x + threadIdx.x, place = 0;
    bool numbered = false;
    if (n < nodes) {
        u32 up = parent[n];
        numbered = up == ALONE || (n < up && parent[up] == n);
        if (up == n) next[n] = 0;
        if (numbered) {
            parent[n] = n;
            weights[n] = TOP;
            place = atomicAdd(&stay, 1);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) start = stay ? atomicAdd(count, stay) + 1 : 0;
    __syncthreads();
    if (numbered) next[n] = start + place;
}

// The next round's number, of the nodes that do not stay
extern "C" __global__ void follow_hooks(const u32* parent, u32 nodes, u32* next)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= nodes || parent[n] == n) return;
    u32 at = n, up = parent[n];
    while (up != at) {
        at = up;
        up = parent[at];
    }
    next[n] = next[at];
}

#define EDGES_A_THREAD 4

// A list of edges. The numbers of its edges begin at `first`; beyond `most` of them none is written,
// but all are counted.
struct Edges
{
    u64* edges;
    u32 first, most;
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
        if (!(heads[n] >> lane & 1) || at >= list.most) continue;
        list.edges[at] = (u64)one[n] << 40 | (u64)other[n] << 16 | weight[n];
        u64 key = (u64)weight[n] << 32 | (list.first + at);
        volatile u64* best = list.best;
        if (one[n] && best[one[n]] < key) atomicMax(list.best + one[n], key);
        if (other[n] && best[other[n]] < key) atomicMax(list.best + other[n], key);
    }
}

// The edges within tiles, in the second round's numbers
extern "C" __global__ void keep_steps(const short* steps, const u16* step_weights, u32 nodes, const u32* next,
                                      u64* kept, u32 first, u32 most, u32* count, u64* best)
{
    Edges list = {kept, first, most, count, best};
    u32 a[EDGES_A_THREAD], b[EDGES_A_THREAD], weight[EDGES_A_THREAD];
#pragma unroll
    for (int n = 0; n < EDGES_A_THREAD; n++) {
        u32 e = (blockIdx.x * EDGES_A_THREAD + n) * blockDim.x + threadIdx.x;
        bool there = e < nodes;
        a[n] = there ? next[e] : 0;
        b[n] = there ? next[e + steps[e]] : 0;
        weight[n] = there && a[n] != b[n] ? step_weights[e] : 0;
    }
    add_edges(list, a, b, weight);
}

// The edges that still lead from one node to another, in the next round's numbers
extern "C" __global__ void keep_edges(const u64* edges, u32 edge_count, const u32* next, u64* kept, u32 first, u32 most, u32* count, u64* best)
{
    Edges list = {kept, first, most, count, best};
    u32 a[EDGES_A_THREAD], b[EDGES_A_THREAD], weight[EDGES_A_THREAD];
#pragma unroll
    for (int n = 0; n < EDGES_A_THREAD; n++) {
        u32 e = (blockIdx.x * EDGES_A_THREAD + n) * blockDim.x + threadIdx.x;
        u64 edge = e < edge_count ? edges[e] : 0;
        a[n] = edge ? next[edge_one(edge)] : 0;
        b[n] = edge ? next[edge_other(edge)] : 0;
        weight[n] = a[n] != b[n] ? edge_weight(edge) : 0;
    }
    add_edges(list, a, b, weight);
}

// The edges across the tiles' upper borders, in the second round's numbers: 128 + 128 + 64 threads
// a tile
extern "C" __global__ void cross_edges(const VOXEL* voxels, const NODE* node_of, const u32* first_nodes, int nk, int nj,
                                       int ni, const float* coefficients, int cut_level, const u32* reached,
                                       int first_tile, const u32* next, u64* kept, u32 first, u32 most, u32* count, u64* best)
{
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

// ---- the last nodes

#define FEW_NODES 1024
#define WIDE_BLOCK 1024

// The connectedness of few nodes, by raising until nothing rises any more: it takes as many turns as
// the longest way has edges. One block. The first count edges of a list, and those of another one.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK) raise_nodes(const u64* edges, u32 count, const u64* more_edges,
                                                                     u32 more, u32 nodes, u16* connected)
{
    __shared__ u32 levels[FEW_NODES];
    for (u32 n = threadIdx.x; n < nodes; n += WIDE_BLOCK) levels[n] = n ? 0 : TOP;
    __syncthreads();
    volatile u32* now = levels;
    bool raised;
    do {
        raised = false;
        for (u32 e = threadIdx.x; e < count + more; e += WIDE_BLOCK) {
            u64 edge = e < count ? edges[e] : more_edges[e - count];
            u32 one = now[edge_one(edge)], other = now[edge_other(edge)];
            u32 level = min(max(one, other), edge_weight(edge));
            if (level <= min(one, other)) continue;
            atomicMax(&levels[one < other ? edge_one(edge) : edge_other(edge)], level);
            raised = true;
        }
    } while (__syncthreads_or(raised));
    for (u32 n = threadIdx.x; n < nodes; n += WIDE_BLOCK) connected[n] = levels[n];
}

// ---- back from the last round to the voxels

// A node's connectedness, from what it became. later: of the next round's nodes.
extern "C" __global__ void lower_nodes(u16* weights, const u32* next, const u16* later, u32 nodes)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nodes) weights[n] = min(weights[n], later[next[n]]);
}

extern "C" __global__ void lower_voxels(u16* levels, const NODE* node_of, const u32* first_nodes, const u16* connected,
                                        int nk, int nj, int ni, const u32* reached, int first_tile)
{
    int number = tile_of(reached, first_tile);
    Place p = place_of(number, nk, nj, ni);
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
