// defines: VOXEL=unsigned char NODE=u8 | VOXEL=short NODE=u16 | VOXEL=unsigned short NODE=u8 | VOXEL=float NODE=u8
//
// From voxels to nodes: contraction within tiles. Each component of the volume, at first a voxel, hooks
// onto the component at the other end of its best edge, and connected components are contracted to one
// (Boruvka 1926). From hook to hook the weights never fall; so a path through a component, between two
// edges out of it, is at least as good as the weaker of these edges, and a component can be replaced by
// one vertex, whose connectedness is
//
//   min(the weight of the edge by which it hooked, the connectedness of what it became part of)
//
// A seed has an edge to the source, one vertex more, of the seed's level; a component whose best edge that is
// hooks nowhere, and its connectedness is that level. In each round the edges are totally
// ordered, so that cycles of hooks have length two at most, and of such two the first does not hook. A
// component whose best edge is a cross-tile edge waits; when all do, they are the nodes of the graph that
// graph_rounds.cu contracts.

#include "affinity.cuh"
#include "tiles.cuh"

#define STEP(axis) ((axis) == 0 ? 128 : (axis) == 1 ? 16 : 1)  // between neighbours' numbers in the tile
#define NOTHING 0xffffu    // no component, no node; its low bits are NONE
#define MAX_COMPONENTS 1024  // where every voxel is a seed
#define WARPS (THREADS / 32)
#if __CUDA_ARCH__ >= 800
#define RESIDENT_BLOCKS 5
#else
#define RESIDENT_BLOCKS 4
#endif
#define EDGES_PER_WARP (32 * OWN * 3)  // that lead up from its voxels

// ---- the order of edges
//
// Weight first; then edges within tiles; then the place of the edge's lower voxel in the volume, and
// the axis. An edge across a tile's border is known by a key with the place as it is seen from the
// tile, the halo's coordinates being 0; in two tiles the keys stand in the same order. An edge
// within is known by its number in the tile's list, and one to the source, which comes before all of its
// weight, by SOURCE.
#define WITHIN (1u << 15)
#define SOURCE 0xffffu
__device__ __forceinline__ u32 key_weight(u32 key) { return key >> 16; }
__device__ __forceinline__ bool leads_to_source(u32 key) { return (key & 0xffff) == SOURCE; }
__device__ __forceinline__ u32 leaving_key(u32 weight, int k, int j, int i, int axis)
{
    return weight << 16 | k << 11 | j << 7 | i << 2 | axis;
}

struct Tile
{
    union
    {
        struct
        {
            float voxel[SIDE_K + 2][SIDE_J + 2][SIDE_I + 2];
            u16 weight[3][SIDE_K + 1][SIDE_J + 1][SIDE_I + 1];  // by axis and lower voxel
        };
        struct  // edges between components, a list for each warp
        {
            u32 weight_and_one[WARPS][EDGES_PER_WARP];  // weight << 16 | component at one end
            u16 other[WARPS][EDGES_PER_WARP];           // component at the other end
            union
            {
                u32 way[MAX_COMPONENTS];  // lowest weight on the way to the node << 16 | node
                u16 up[MAX_COMPONENTS];   // where it hooks now, or is part of
            };
        };
    };
    u16 parent[VOXELS];        // where a voxel hooked; then its component; then the node of a root
    u32 best[MAX_COMPONENTS];     // of a voxel: its best edge across the border; then of a root: its best edge
    u32 leaving[MAX_COMPONENTS];  // best edge of a root across the border
    u16 root[MAX_COMPONENTS];     // the component that this one is now part of
    u16 hooked[MAX_COMPONENTS];   // where it, then where a node hooked itself
    u16 lowest[MAX_COMPONENTS];   // weight of the edge by which it, a node or before them a voxel hooked
    int components, nodes;
    u32 first_node;
};

struct Image
{
    const VOXEL* voxels;
    const unsigned char* mask;  // or null
    const u8* seeded;  // whether a tile has a seed
    u16* levels;  // in, those of the seeds and 0 elsewhere; out, the lowest weight on the path to the node

    // INNER: neither the tile nor its neighbours reach out of the volume, and there is no mask. A NaN stands for
    // a voxel outside of the volume or the mask, which has no edge.
    template <bool INNER>
    __device__ __forceinline__ float cell(const TileGeometry& p, int k, int j, int i) const
    {
        u32 at = p.number(k, j, i);
        if (INNER) return voxels[at];
        bool inside = k >= 0 && j >= 0 && i >= 0 && k < p.nk && j < p.nj && i < p.ni;
        return !inside || (mask && !mask[at]) ? __int_as_float(0x7fffffff) : (float)voxels[at];
    }
};

// All rows of the tile and its faces. Each thread asks for all its voxels before it stores the first.
template <bool INNER>
__device__ __forceinline__ void load_rows(Tile& tile, const Image& image, const TileGeometry& p)
{
    int row = threadIdx.x >> 4, lane = threadIdx.x & 15, high = row >> 3, low = row & 7;
    float own[4], face_k, face_j, face_i = 0;
#pragma unroll
    for (int n = 0; n < 4; n++)
        own[n] = image.cell<INNER>(p, p.k0 + 2 * n + high, p.j0 + low, p.i0 + lane);
    face_k = image.cell<INNER>(p, high ? p.k0 + SIDE_K : p.k0 - 1, p.j0 + low, p.i0 + lane);
    face_j = image.cell<INNER>(p, p.k0 + low, high ? p.j0 + SIDE_J : p.j0 - 1, p.i0 + lane);
    int k = threadIdx.x >> 4 & 7, j = threadIdx.x >> 1 & 7, i = threadIdx.x & 1 ? SIDE_I : -1;
    if (threadIdx.x < 128) face_i = image.cell<INNER>(p, p.k0 + k, p.j0 + j, p.i0 + i);
#pragma unroll
    for (int n = 0; n < 4; n++) tile.voxel[2 * n + high + 1][low + 1][lane + 1] = own[n];
    tile.voxel[high ? SIDE_K + 1 : 0][low + 1][lane + 1] = face_k;
    tile.voxel[low + 1][high ? SIDE_J + 1 : 0][lane + 1] = face_j;
    if (threadIdx.x < 128) tile.voxel[k + 1][j + 1][i + 1] = face_i;
}

__device__ __forceinline__ void load_voxels(Tile& tile, const Image& image, const TileGeometry& p)
{
    bool inner = !image.mask && p.k0 > 0 && p.j0 > 0 && p.i0 > 0 && p.k0 + SIDE_K < p.nk &&
                 p.j0 + SIDE_J < p.nj && p.i0 + SIDE_I < p.ni;
    if (inner)
        load_rows<true>(tile, image, p);
    else
        load_rows<false>(tile, image, p);
    __syncthreads();
}

// Whether any edge is there
__device__ __forceinline__ bool weigh_edges(Tile& tile, const Affinity& a, const TileGeometry& p)
{
    const int row = SIDE_I + 2, slice = row * (SIDE_J + 2);
    u32 any = 0;
    const float* c = &tile.voxel[p.k() + 1][p.j() + 1][p.i() + 1];
    float own = *c;
#pragma unroll 1  // it compiles sooner
    for (int m = 0; m < OWN; m++, c += slice) {
        int k = p.k() + m + 1, j = p.j() + 1, i = p.i() + 1;
        float above = c[slice];
        u32 up_k = affinity_level(own, above, a), up_j = affinity_level(own, c[row], a);
        u32 up_i = affinity_level(own, c[1], a);
        tile.weight[0][k][j][i] = up_k;
        tile.weight[1][k][j][i] = up_j;
        tile.weight[2][k][j][i] = up_i;
        any |= up_k | up_j | up_i;
        own = above;
    }
#pragma unroll 1
    for (int n = threadIdx.x; n < PAIRS; n += THREADS) {
        BorderPair low(n, false);
        const float* c = &tile.voxel[low.k + 1][low.j + 1][low.i + 1];
        u32 up = affinity_level(c[0], c[low.axis == 0 ? slice : low.axis == 1 ? row : 1], a);
        tile.weight[low.axis][low.k + 1][low.j + 1][low.i + 1] = up;
        any |= up;
    }
    return __syncthreads_or(any);
}

// The weights of the edges across the tile's upper borders, for cross_tile_edges
__device__ void keep_upper_weights(const Tile& tile, u16* weights)
{
#pragma unroll 1
    for (int n = threadIdx.x; n < PAIRS; n += THREADS) {
        BorderPair up(n, true);
        weights[n] = tile.weight[up.axis][up.k + 1][up.j + 1][up.i + 1];
    }
}

__device__ __forceinline__ int find_root(const u16* parent, int at)
{
    int up = parent[at];
    while (up != at) {
        at = up;
        up = parent[at];
    }
    return at;
}

// The thread's voxels: the weight of the edge by which each hooked (TOP: it did not, 0: it has no
// edges), and its component
struct Own
{
    u32 weight_and_component[OWN];

    __device__ u32 weight(int m) const { return weight_and_component[m] >> 16; }
    __device__ u32 component(int m) const { return weight_and_component[m] & 0xffff; }
};

// Hook each voxel along its best edge. At one voxel the order of equal weights is: the edge to the source
// first, then edges within the tile, then I, J, K upwards, then I, J, K downwards. levels: null in a tile
// without seeds.
__device__ void hook_voxels(Tile& tile, Own& own, const u16* levels, const TileGeometry& p)
{
    u32 within_i_down = p.i() > 0 ? 8 : 0, within_i_up = p.i() < SIDE_I - 1 ? 8 : 0;
    u32 within_j_down = p.j() > 0 ? 8 : 0, within_j_up = p.j() < SIDE_J - 1 ? 8 : 0;
#pragma unroll 1  // together they would need too many registers
    for (int m = 0; m < OWN; m++) {
        int v = p.voxel(m), k = p.k() + m + 1, j = p.j() + 1, i = p.i() + 1;
        u32 ranks[6] = {
            tile.weight[0][k - 1][j][i] << 4 | (k > 1 ? 8u : 0u) | 0, tile.weight[1][k][j - 1][i] << 4 | within_j_down | 1,
            tile.weight[2][k][j][i - 1] << 4 | within_i_down | 2, tile.weight[0][k][j][i] << 4 | (k < SIDE_K ? 8u : 0u) | 3,
            tile.weight[1][k][j][i] << 4 | within_j_up | 4, tile.weight[2][k][j][i] << 4 | within_i_up | 5};
        u32 best = 0;
#pragma unroll
        for (int n = 0; n < 6; n++) best = max(best, ranks[n]);
        u32 level = levels && p.inside(m) ? levels[p.at(m)] : 0;
        bool seed = level && level >= best >> 4;  // no other edge is better
        bool hooks = best >= 16 && best & 8 && !seed, alone = best < 16 && !seed;
        int side = best & 7, step = side % 3 == 0 ? STEP(0) : side % 3 == 1 ? STEP(1) : STEP(2);
        tile.parent[v] = hooks ? side < 3 ? v - step : v + step : v;
        tile.lowest[v] = hooks ? best >> 4 : alone ? 0 : TOP;
        tile.best[v] = level ? level << 16 | SOURCE : 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int n = threadIdx.x; n < 2 * PAIRS; n += THREADS) {
        bool upper = n >= PAIRS;
        BorderPair pair(upper ? n - PAIRS : n, upper);
        u32 weight = tile.weight[pair.axis][pair.k + 1][pair.j + 1][pair.i + 1];
        if (!weight) continue;
        int k = max(pair.k, 0), j = max(pair.j, 0), i = max(pair.i, 0);  // of the voxel in the tile
        atomicMax(&tile.best[k << 7 | j << 4 | i], leaving_key(weight, pair.k + 1, pair.j + 1, pair.i + 1, pair.axis));
    }
    bool first[OWN];  // of two that hook onto each other
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        int v = p.voxel(m), up = tile.parent[v];
        first[m] = v < up && tile.parent[up] == v;
        own.weight_and_component[m] = (first[m] ? TOP : tile.lowest[v]) << 16;
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        int v = p.voxel(m);
        if (first[m]) tile.parent[v] = v;
    }
    __syncthreads();
}

// Offer the edge of a warp's list to the components at both ends. weight: << 16
__device__ __forceinline__ void offer_edge(Tile& tile, u32 weight, int warp, int at, u32 one, u32 other)
{
    volatile u32* best = tile.best;
    u32 key = weight | WITHIN | warp << 9 | at;
    if (best[one] < key) atomicMax(&tile.best[one], key);
    if (best[other] < key) atomicMax(&tile.best[other], key);
}

// The component, one of a warp's list, at the other end of an edge within the tile.
__device__ __forceinline__ int other_end(const Tile& tile, u32 key, int component)
{
    int one = tile.weight_and_one[key >> 9 & 7][key & 511] & 0xffff, other = tile.other[key >> 9 & 7][key & 511];
    return one == component ? other : one;
}

// Number the components, and list the edges between them and offer them to both; how many are in the warp's list.
__device__ int list_components(Tile& tile, Own& own, const TileGeometry& p)
{
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    u32 below = (1u << lane) - 1;
    int root[OWN];
    const u16* parent = tile.parent;
#pragma unroll
    for (int m = 0; m < OWN; m++) root[m] = parent[p.voxel(m)];
    bool moved;
    do {  // all four at a time
        moved = false;
#pragma unroll
        for (int m = 0; m < OWN; m++) {
            int up = parent[root[m]];
            moved |= up != root[m];
            root[m] = up;
        }
    } while (moved);
    __syncthreads();
    u32 heads[OWN];
    int count = 0;
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        heads[m] = __ballot_sync(0xffffffffu, root[m] == p.voxel(m) && own.weight(m));
        count += __popc(heads[m]);
    }
    int component = lane == 0 ? atomicAdd(&tile.components, count) : 0;
    component = __shfl_sync(0xffffffffu, component, 0);
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        int v = p.voxel(m), number = component + __popc(heads[m] & below);
        component += __popc(heads[m]);
        if (root[m] != v) continue;
        tile.parent[v] = own.weight(m) ? number : NOTHING;
        if (!own.weight(m)) continue;
        tile.root[number] = tile.hooked[number] = number;
        tile.leaving[number] = tile.best[v];
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < OWN; m++) own.weight_and_component[m] |= tile.parent[root[m]];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        int v = p.voxel(m);
        tile.parent[v] = own.component(m);
        if (root[m] != v && tile.best[v]) atomicMax(&tile.leaving[own.component(m)], tile.best[v]);
    }
    __syncthreads();
    for (int n = threadIdx.x; n < tile.components; n += THREADS) tile.best[n] = tile.leaving[n];
    u32 edge[3 * OWN];  // weight << 16 | the other component
#pragma unroll
    for (int n = 0; n < 3 * OWN; n++) {
        int m = n / 3, axis = n % 3, k = p.k() + m;
        bool last = axis == 0 ? k == SIDE_K - 1 : axis == 1 ? p.j() == SIDE_J - 1 : p.i() == SIDE_I - 1;
        u32 other = last ? own.component(m) : tile.parent[p.voxel(m) + STEP(axis)];
        u32 weight = tile.weight[axis][k + 1][p.j() + 1][p.i() + 1];
        edge[n] = weight && other != own.component(m) ? weight << 16 | other : 0;
    }
    __syncthreads();  // from here on the lists lie where the weights were
    count = 0;
#pragma unroll
    for (int n = 0; n < 3 * OWN; n++) {
        u32 lanes = __ballot_sync(0xffffffffu, edge[n]);
        int at = count + __popc(lanes & below);
        count += __popc(lanes);
        if (!edge[n]) continue;
        tile.weight_and_one[warp][at] = (edge[n] & 0xffff0000u) | own.component(n / 3);
        tile.other[warp][at] = edge[n];
    }
    __syncwarp();
#pragma unroll 1
    for (int e = lane; e < count; e += 32) {
        u32 listed = tile.weight_and_one[warp][e];
        offer_edge(tile, listed & 0xffff0000u, warp, e, listed & 0xffff, tile.other[warp][e]);
    }
    __syncthreads();
    return count;
}

// Shorten the warp's list to the edges between roots, and offer these to both ends.
__device__ void offer_edges(Tile& tile, int& edges)
{
    int components = tile.components, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    for (int n = threadIdx.x; n < components; n += THREADS) tile.best[n] = 0;
    __syncthreads();
    int kept = 0;
#pragma unroll 1
    for (int first = 0; first < edges; first += 32) {
        int e = first + lane;
        u32 weight = 0, one = 0, other = 0;
        if (e < edges) {
            weight = tile.weight_and_one[warp][e] & 0xffff0000u;
            one = tile.root[tile.weight_and_one[warp][e] & 0xffff];
            other = tile.root[tile.other[warp][e]];
        }
        u32 lanes = __ballot_sync(0xffffffffu, one != other);
        __syncwarp();  // all have read before the first writes
        if (one != other) {
            int at = kept + __popc(lanes & ((1u << lane) - 1));
            tile.weight_and_one[warp][at] = weight | one;
            tile.other[warp][at] = other;
            offer_edge(tile, weight, warp, at, one, other);
        }
        kept += __popc(lanes);
        __syncwarp();
    }
    edges = kept;
    __syncthreads();
}

// Of two roots that would hook onto each other along an edge, whether this one stays: if both have found the
// same edge as their best within the tile, the one whose best edge leaves it, else the first.
__device__ __forceinline__ bool stays(const Tile& tile, u32 key, int root, int to)
{
    if (tile.best[to] != key) return false;
    bool leaves = tile.leaving[root] > key, other_leaves = tile.leaving[to] > key;
    return leaves == other_leaves ? root < to : leaves;
}

// Hook each root along its best edge, as far as that lies within the tile. NODES: the roots are nodes, and
// the edges by which they hook are written down. Whether any hooked.
template <bool NODES>
__device__ bool hook_roots(Tile& tile)
{
    int components = tile.components;
    bool any = false;
#pragma unroll 1
    for (int n = threadIdx.x; n < components; n += THREADS) {
        int up = tile.root[n];
        u32 key = up == n ? tile.best[n] : 0;
        if (key & WITHIN && !leads_to_source(key)) {
            int to = other_end(tile, key, n);
            if (!stays(tile, key, n, to)) {
                up = to;
                any = true;
                int hooked = NODES ? tile.parent[n] : n;
                tile.hooked[hooked] = NODES ? tile.parent[to] : to;
                tile.lowest[hooked] = key_weight(key);
            }
        }
        tile.up[n] = up;
    }
    if (!__syncthreads_or(any)) return false;
#pragma unroll 1
    for (int n = threadIdx.x; n < components; n += THREADS) {
        int root = n, up = tile.up[n];
        while (up != root) {
            root = up;
            up = tile.up[root];
        }
        tile.root[n] = root;
        if (!NODES && root != n && tile.leaving[n]) atomicMax(&tile.leaving[root], tile.leaving[n]);
    }
    __syncthreads();
    return true;
}

// Edges of the nodes. Beyond max_nodes nothing is written, but all is counted. The edges within tiles hold the
// nodes of a tile together as well as all its edges.
struct NodeEdges
{
    u32* outgoing;  // the voxel to which a node's best edge leads; or SEED, INSIDE, STAYS
    u16* outgoing_weights;
    short* within;  // how far off, in the count of nodes, the node is onto which it hooks within the tile
    u16* weights_within;  // 0: none
    u16* weights_across;  // of the edges across upper borders, PAIRS for each tile that is contracted
    u32 max_nodes;
    u32* counts;  // nodes so far, and the most in one tile
};

// The components that are left are the nodes: number them and write down where their best edges lead.
__device__ void settle_nodes(Tile& tile, const TileGeometry& p, const NodeEdges& edges, u32* first_node)
{
    int components = tile.components;
    for (int n = threadIdx.x; n < components; n += THREADS)
        if (tile.root[n] == n) tile.parent[n] = tile.leaving[n] | tile.best[n] ? atomicAdd(&tile.nodes, 1) : NOTHING;
    __syncthreads();
    if (threadIdx.x == 0) {
        *first_node = tile.first_node = atomicAdd(&edges.counts[0], tile.nodes);
        atomicMax(&edges.counts[1], tile.nodes);
    }
    __syncthreads();
    for (int n = threadIdx.x; n < components; n += THREADS) {
        u32 lowest = TOP, at = n;
        for (; tile.hooked[at] != at; at = tile.hooked[at]) lowest = min(lowest, (u32)tile.lowest[at]);
        u32 node = tile.parent[at], number = tile.first_node + node;
        tile.way[n] = (node == NOTHING ? 0 : lowest) << 16 | node;
        if (at != n || node == NOTHING || number >= edges.max_nodes) continue;
        u32 key = tile.leaving[n], within = tile.best[n];
        u32 k = key >> 11 & 15, j = key >> 7 & 15, i = key >> 2 & 31, axis = key & 3;
        bool down = (axis == 0 ? k : axis == 1 ? j : i) == 0;
        u32 lower = p.number(p.k0 + k - 1, p.j0 + j - 1, p.i0 + i - 1);
        u32 step = down ? 0 : axis == 0 ? p.nj * p.ni : axis == 1 ? p.ni : 1;
        u32 to = leads_to_source(key) ? SEED : lower + step;
        if (within > key) to = stays(tile, within, n, other_end(tile, within, n)) ? STAYS : INSIDE;
        edges.outgoing[number] = to;
        edges.outgoing_weights[number] = key_weight(max(within, key));
    }
    __syncthreads();
}

// One block per tile. Of a tile without nodes (NO_NODES) nothing else is written.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT_BLOCKS)
    contract_tiles(TileGrid grid, int first_tile, Image image, Affinity a, NodeMap nodes, NodeEdges found)
{
    __shared__ Tile tile;
    int number = first_tile + blockIdx.x;
    TileGeometry p = grid.geometry(number);
    if (threadIdx.x == 0) tile.components = tile.nodes = 0;
    load_voxels(tile, image, p);
    if (!weigh_edges(tile, a, p)) {
        if (threadIdx.x == 0) nodes.first_nodes[number] = NO_NODES;
        return;
    }
    keep_upper_weights(tile, found.weights_across + (size_t)number * PAIRS);
    Own own;
    hook_voxels(tile, own, image.seeded[number] ? image.levels : nullptr, p);
    int edges = list_components(tile, own, p);
    hook_roots<false>(tile);
    offer_edges(tile, edges);
    settle_nodes(tile, p, found, &nodes.first_nodes[number]);
#pragma unroll
    for (int m = 0; m < OWN; m++) {
        if (!p.inside(m)) continue;
        u32 way = own.component(m) == NOTHING ? NOTHING : tile.way[own.component(m)];
        image.levels[p.at(m)] = min(own.weight(m), way >> 16);
        nodes.node_of[p.at(m)] = way;
    }
    int count = tile.nodes;
    for (int n = threadIdx.x; n < count; n += THREADS) {
        tile.hooked[n] = n;
        tile.lowest[n] = 0;
    }
    __syncthreads();
    while (hook_roots<true>(tile)) offer_edges(tile, edges);
    for (int n = threadIdx.x; n < count; n += THREADS) {
        u32 number = tile.first_node + n;
        if (number >= found.max_nodes) break;
        found.within[number] = (int)tile.hooked[n] - n;
        found.weights_within[number] = tile.lowest[n];
    }
}
