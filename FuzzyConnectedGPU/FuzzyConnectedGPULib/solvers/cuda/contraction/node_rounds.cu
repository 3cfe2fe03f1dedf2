// defines: VOXEL=unsigned char NODE=u8 | VOXEL=short NODE=u16 | VOXEL=unsigned short NODE=u8 | VOXEL=float NODE=u8
//
// Contraction of the graph of nodes that contract_tiles.cu leaves, round by round: each node hooks
// along its best edge, and what hangs together is one node of the next round. The node that holds
// the seeds, or hangs together with one that does, is node 0 from the second round on. When no edge
// is left, each node's connectedness follows from that of the node it became. All rounds from the
// second on are one launch, whose blocks wait for one another.

#include "../affinity.cuh"
#include "grid_sync.cuh"
#include "../tile_place.cuh"

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

// Number what the nodes become. Two nodes that hook onto each other, by one edge, become one: the
// first of them stays, and so do those that are alone. next: the next round's number, of the nodes
// that stay; 0 for the nodes that hook nowhere, whose weight says the rest. All threads of a block; a
// thread's node n may be beyond the last one.
__device__ void number_block(u32* parent, u16* weights, u32 nodes, u32* next, u32* count, u32 n)
{
    __shared__ u32 stay, start;
    if (threadIdx.x == 0) stay = 0;
    __syncthreads();
    u32 place = 0;
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

extern "C" __global__ void number_nodes(u32* parent, u16* weights, u32 nodes, u32* next, u32* count)
{
    number_block(parent, weights, nodes, next, count, blockIdx.x * blockDim.x + threadIdx.x);
}

// The next round's number, of a node that does not stay
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

extern "C" __global__ void follow_hooks(const u32* parent, u32 nodes, u32* next)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < nodes) follow_node(parent, next, n);
}

#define EDGES_A_THREAD 4

// An edge: 24 bits for each node, 16 for the weight
__device__ __forceinline__ u32 edge_one(u64 edge) { return edge >> 40; }
__device__ __forceinline__ u32 edge_other(u64 edge) { return edge >> 16 & 0xffffff; }
__device__ __forceinline__ u32 edge_weight(u64 edge) { return edge & 0xffff; }

// A list of edges. The numbers of its edges begin at `first`; beyond `most` of them none is written,
// but all are counted. best: of each node, weight << 32 | number of its best edge, or 0.
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

// The edges across the tiles' upper borders, in the second round's numbers: 128 + 128 + 64 threads
// a tile. None where the list of the steps had no room for all of them.
extern "C" __global__ void cross_edges(const VOXEL* voxels, const NODE* node_of, const u32* first_nodes, int nk, int nj,
                                       int ni, const float* coefficients, int cut_level, const u32* reached,
                                       int first_tile, const u32* next, const u32* steps, u32 most_steps, u64* kept,
                                       u32 first, u32 most, u32* count, u64* best)
{
    if (*steps > most_steps) return;
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

#define ROUND_THREADS 512
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ >= 900
#define ROUND_BLOCKS 3  // at a time
#else
#define ROUND_BLOCKS 2  // three would spill a few registers
#endif
#define MOST_ROUNDS 32  // each round halves the nodes, of which there are at most 2 ** 24

// The two lists of edges; the numbers of the second one begin at more_first.
struct BothLists
{
    u64 *edges, *more;
    u32 more_first;

    __device__ u64 numbered(u32 n) const { return n < more_first ? edges[n] : more[n - more_first]; }
};

// A block's part of a list. What it keeps stays at the part's beginning, so no other room is needed.
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
        for (u32 from = 0; from < count; from += EDGES_A_THREAD * ROUND_THREADS) {
            u32 a[EDGES_A_THREAD], b[EDGES_A_THREAD], weight[EDGES_A_THREAD];
#pragma unroll
            for (int n = 0; n < EDGES_A_THREAD; n++) {
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

// The nodes of the round that are whose: all blocks together take each once.
#define FOR_NODES(n, nodes) \
    for (u32 n = blockIdx.x * ROUND_THREADS + threadIdx.x; n < (nodes); n += gridDim.x * ROUND_THREADS)

// Rounds until no edge is left, and the way back to the nodes of the first round.
//
// nodes: of the second round. best: their best edges; other_best: of the third one's, half as many.
// parent: of one round. next, weights: of all rounds' nodes, one round behind the other.
// first_nodes, first_next, first_weights: of the first round; there the connectedness is written.
// counts: 0 so far: nodes (but node 0) and edges that each round leaves, for MOST_ROUNDS rounds; then how
// many rounds there were with the first, and what the barrier counts.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, ROUND_BLOCKS) further_rounds(
    u64* edges, u32 edge_count, u64* more_edges, u32 more_first, u32 more_count, u32 nodes, u64* best, u64* other_best,
    u32* parent, u32* next, u16* weights, u32 first_nodes, const u32* first_next, u16* first_weights, u32* counts)
{
    BothLists both = {edges, more_edges, more_first};
    Part part(edges, edge_count, 0), more_part(more_edges, more_count, more_first);
    u32 *arrived = counts + 2 * MOST_ROUNDS + 1, rounds = 0, now = nodes, left = edge_count + more_count;
    for (; left; rounds++) {
        FOR_NODES(n, now) {
            u64 key = n ? best[n] : 0, edge = key ? both.numbered((u32)key) : 0;
            parent[n] = !key ? n : edge_one(edge) == n ? edge_other(edge) : edge_one(edge);
            weights[n] = n ? key >> 32 : TOP;  // of nodes that hook nowhere: what they will have
        }
        FOR_NODES(n, now / 2 + 1) other_best[n] = 0;
        wait_for_all_blocks(arrived);
        for (u32 start = blockIdx.x * ROUND_THREADS; start < now; start += gridDim.x * ROUND_THREADS)
            number_block(parent, weights, now, next, &counts[2 * rounds], start + threadIdx.x);
        wait_for_all_blocks(arrived);
        FOR_NODES(n, now) follow_node(parent, next, n);
        wait_for_all_blocks(arrived);
#pragma unroll 1
        for (int list = 0; list < 2; list++) {  // once in the code, which takes long to compile
            Part own = list ? more_part : part;
            own.keep_edges(next, other_best);
            (list ? more_part.count : part.count) = own.count;
        }
        if (threadIdx.x == 0 && part.count + more_part.count)
            atomicAdd(&counts[2 * rounds + 1], part.count + more_part.count);
        wait_for_all_blocks(arrived);
        next += now;
        weights += now;
        now = counts[2 * rounds] + 1;
        left = counts[2 * rounds + 1];
        u64* kept = best;
        best = other_best;
        other_best = kept;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[2 * MOST_ROUNDS] = rounds + 1;
    FOR_NODES(n, now) weights[n] = n ? 0 : TOP;  // no way leads to the others
    while (rounds--) {
        wait_for_all_blocks(arrived);
        u16* later = weights;
        now = rounds ? counts[2 * rounds - 2] + 1 : nodes;
        next -= now;
        weights -= now;
        FOR_NODES(n, now) weights[n] = min(weights[n], later[next[n]]);
    }
    wait_for_all_blocks(arrived);
    FOR_NODES(n, first_nodes) first_weights[n] = min(first_weights[n], weights[first_next[n]]);
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
