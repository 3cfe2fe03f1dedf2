// Connected pieces of a packed mask by union-find (Komura 2015; Playne and Hawick 2018; shorter
// ways to the root as in Jaiganesh and Burtscher 2018).
//
// A run is a row of voxels within one word; its node is its first voxel. parent[node] is a node of
// the same piece that is not behind it, and a root is its own parent. Voxel 0 is always a root.

#include "packed_rows.cuh"
#include "measures.cuh"

#define LOOK_BACK 64 // words in which a run's begin is looked for at first
#define NUMBERED 1024 // words of a block that numbers pieces; as in pieces.py

__device__ inline u32 begins_of(u32 bits) { return bits & ~(bits << 1); }

// Where the run with a certain bit begins.
__device__ inline int begin_of(u32 bits, int bit)
{
    u32 gaps = ~bits & ((1u << bit) - 1);
    return gaps ? 32 - __clz(gaps) : 0;
}

// The bits of the run that begins with a certain bit.
__device__ inline u32 run_at(u32 bits, int begin)
{
    u32 behind = ~(bits >> begin);
    u32 ones = behind ? (behind & -behind) - 1 : ALL_LANES;
    return ones << begin;
}

// The node of a voxel by its place in a word; also in the last place before or the first behind.
__device__ inline int node_of(const Neighbours& n, int bit)
{
    if (bit < 0)
        return n.first - 32 + begin_of(n.before, 31);
    return n.first + (bit < 32 ? begin_of(n.here, bit) : 32);
}

// Each node on the way gets a parent nearer to the root. Only roots are hooked, and a parent only
// becomes lower: a node whose parent is its final root keeps it.
__device__ inline int root_of(int node, int* parent)
{
    volatile int* read = parent;
    int up = node ? read[node] : 0;
    while (up != node && up != 0) {
        int further = read[up];
        if (further != up)
            atomicMin(parent + node, further);
        node = up;
        up = further;
    }
    return up;
}

__device__ inline void join(int one, int other, int* parent)
{
    one = root_of(one, parent);
    other = root_of(other, parent);
    while (one != other) {
        int high = max(one, other), low = min(one, other);
        int up = atomicCAS(parent + high, high, low);
        if (up == high)
            return;
        one = root_of(up, parent); // somebody else has hooked it meanwhile
        other = low;
    }
}

// Every run is a node, and hangs on the run that it continues from the word before.
extern "C" __global__ void start_runs(const u32* words, int depth, int rows, int width, int* parent)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    Place place = place_of(word, shape);
    if (!place.length)
        return;
    u32 bits = words[word];
    each_bit(begins_of(bits), [&](int bit) { parent[place.first + bit] = place.first + bit; });
    if (!(bits & 1) || place.i == 0 || !(words[word - 1] >> 31))
        return;
    int back = 1, most = min(place.i / 32, LOOK_BACK);
    while (back < most && words[word - back] == ALL_LANES && words[word - back - 1] >> 31)
        back++;
    parent[place.first] = place.first - 32 * back + begin_of(words[word - back], 31);
}

// The word in the same place of a row before.
__device__ inline Neighbours rows_back(int count, const u32* words, u32 word, Place place,
                                       const Shape& shape)
{
    place.first -= count * shape.width;
    return neighbours(words, word - count * shape.words_a_row(), place, shape);
}

// Join the runs of a row with those of another row, each pair where they first meet, if that voxel
// of the row is among its `own`. Over corners a run also meets one that begins right behind it.
__device__ inline void join_rows(const Neighbours& row, u32 own, const Neighbours& other,
                                 bool corners, int* parent)
{
    u32 both = row.here & other.here, both_before = row.before & other.before;
    each_bit(own & both & ~(both << 1 | both_before >> 31),
             [&](int bit) { join(node_of(row, bit), node_of(other, bit), parent); });
    if (!corners)
        return;
    u32 apart = own & ~other.here;
    each_bit(apart & ~row.lower() & other.lower(),
             [&](int bit) { join(node_of(row, bit), node_of(other, bit - 1), parent); });
    each_bit(apart & ~row.higher() & other.higher(),
             [&](int bit) { join(node_of(row, bit), node_of(other, bit + 1), parent); });
}

// What of the background lies at the volume's border hangs together outside of it: on voxel 0.
__device__ inline void join_outside(const Neighbours& row, const Place& place, const Shape& shape,
                                    int* parent)
{
    int k = place.row / shape.rows, j = place.row % shape.rows;
    u32 touching = begins_of(row.here);
    if (k > 0 && k < shape.depth - 1 && j > 0 && j < shape.rows - 1) {
        u32 start = place.i == 0, end = place.i + place.length == shape.width;
        touching = row.here & (start | end << (place.length - 1));
    }
    each_bit(touching, [&](int bit) { join(node_of(row, bit), 0, parent); });
}

// Join runs that meet over faces; if `outside`, also over the volume's border.
extern "C" __global__ void join_faces(const u32* words, int depth, int rows, int width, int outside,
                                      int* parent)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    Place place = place_of(word, shape);
    if (!place.length || !words[word])
        return;
    Neighbours row = neighbours(words, word, place, shape);
    if (outside)
        join_outside(row, place, shape, parent);
    auto join_with = [&](int count) {
        join_rows(row, row.here, rows_back(count, words, word, place, shape), false, parent);
    };
    if (place.row >= shape.rows)
        join_with(shape.rows);
    if (place.row % shape.rows > 0)
        join_with(1);
}

// Join runs that meet over faces, edges or corners. Where the voxel right above one (at K - 1) is
// set, the others that could be joined are that one's neighbours, too.
extern "C" __global__ void join_corners(const u32* words, int depth, int rows, int width,
                                        int* parent)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    Place place = place_of(word, shape);
    if (!place.length || !words[word])
        return;
    Neighbours row = neighbours(words, word, place, shape);
    u32 own = row.here;
    auto join_with = [&](const Neighbours& other) {
        join_rows(row, own, other, true, parent);
    };
    int k = place.row / shape.rows, j = place.row % shape.rows;
    if (k > 0) {
        Neighbours above = rows_back(shape.rows, words, word, place, shape);
        join_with(above);
        own &= ~above.here;
    }
    if (own && j > 0)
        join_with(rows_back(1, words, word, place, shape));
    if (own && k > 0 && j > 0)
        join_with(rows_back(shape.rows + 1, words, word, place, shape));
    if (own && k > 0 && j < shape.rows - 1)
        join_with(rows_back(shape.rows - 1, words, word, place, shape));
}

// Give each node its root for parent, and count the roots of each block of words.
extern "C" __global__ void __launch_bounds__(NUMBERED)
    settle(const u32* words, int depth, int rows, int width, int* parent, u32* counts)
{
    __shared__ u32 count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    u32 word = thread_number(), roots = 0;
    Place place = place_of(word, {depth, rows, width});
    each_bit(place.length ? begins_of(words[word]) : 0, [&](int bit) {
        int node = place.first + bit, root = root_of(node, parent);
        parent[node] = root;
        roots += root == node;
    });
    if (roots)
        atomicAdd(&count, roots);
    __syncthreads();
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

// The sum of a number over the threads of the block before this one.
__device__ inline u32 sum_before(u32 number)
{
    __shared__ u32 sums[32];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, sum = number;
    for (int d = 1; d < 32; d *= 2) {
        u32 before = __shfl_up_sync(ALL_LANES, sum, d);
        sum += lane >= d ? before : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    for (u32 n = 0; n < warp; n++)
        sum += sums[n];
    return sum - number;
}

// Put the negative number of its piece at each root, in the order of the roots.
extern "C" __global__ void __launch_bounds__(NUMBERED)
    number_roots(const u32* words, int depth, int rows, int width, int* parent, const u32* counts)
{
    if (!counts[blockIdx.x])
        return;
    __shared__ u32 earlier;
    if (threadIdx.x == 0)
        earlier = 0;
    __syncthreads();
    u32 sum = 0;
    for (u32 n = threadIdx.x; n < blockIdx.x; n += blockDim.x)
        sum += counts[n];
    if (sum)
        atomicAdd(&earlier, sum);
    u32 word = thread_number(), roots = 0;
    Place place = place_of(word, {depth, rows, width});
    each_bit(place.length ? begins_of(words[word]) : 0, [&](int bit) {
        if (parent[place.first + bit] == place.first + bit)
            roots |= 1u << bit;
    });
    int number = sum_before(__popc(roots)); // with a barrier, behind which `earlier` is known
    number += earlier;
    each_bit(roots, [&](int bit) { parent[place.first + bit] = -++number; });
}

// Each voxel's number, in place of the parents. A root's may be read with either sign.
extern "C" __global__ void spread_numbers(const u32* words, int depth, int rows, int width,
                                          int* labels)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    int lane = threadIdx.x & 31;
    Place own = place_of(word, shape);
    u32 own_bits = own.length ? words[word] : 0;
#pragma unroll 1
    for (int n = 0; n < 32; n += BATCH) {
        int first[BATCH], length[BATCH], label[BATCH];
        bool is_set[BATCH];
#pragma unroll
        for (int m = 0; m < BATCH; m++) {
            u32 bits = __shfl_sync(ALL_LANES, own_bits, n + m);
            first[m] = __shfl_sync(ALL_LANES, own.first, n + m);
            length[m] = __shfl_sync(ALL_LANES, own.length, n + m);
            is_set[m] = bits >> lane & 1;
            label[m] = is_set[m] ? labels[first[m] + begin_of(bits, lane)] : 0;
        }
#pragma unroll
        for (int m = 0; m < BATCH; m++)
            if (is_set[m])
                label[m] = abs(label[m] < 0 ? label[m] : labels[label[m]]);
        __syncwarp();
#pragma unroll
        for (int m = 0; m < BATCH; m++)
            if (lane < length[m])
                labels[first[m] + lane] = label[m];
    }
}

// Of the background keep in `words` what hangs together with the outside; found: the other pieces
// and their voxels.
extern "C" __global__ void settle_cavities(u32* words, int depth, int rows, int width, int* parent,
                                           u32* found)
{
    __shared__ u32 pieces, voxels;
    if (threadIdx.x == 0)
        pieces = voxels = 0;
    __syncthreads();
    u32 word = thread_number(), enclosed = 0, roots = 0;
    Place place = place_of(word, {depth, rows, width});
    u32 bits = place.length ? words[word] : 0;
    each_bit(begins_of(bits), [&](int bit) {
        int node = place.first + bit, root = root_of(node, parent);
        if (root == 0)
            return;
        enclosed |= run_at(bits, bit);
        roots += root == node;
    });
    if (enclosed) {
        words[word] = bits & ~enclosed;
        atomicAdd(&pieces, roots);
        atomicAdd(&voxels, __popc(enclosed));
    }
    __syncthreads();
    if (threadIdx.x == 0 && voxels) {
        atomicAdd(found, pieces);
        atomicAdd(found + 1, voxels);
    }
}
