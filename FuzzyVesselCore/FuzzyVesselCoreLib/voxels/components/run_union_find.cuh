// Union-find over the runs of a packed mask (Komura 2015; Playne and Hawick 2018; path halving as in
// Jaiganesh and Burtscher 2018).
//
// A run is a set of consecutive voxels within one word; its node is its first voxel. parent[node] is
// a node of the same component that is not after it, and a root is its own parent. Voxel 0 is always
// a root.

#include "packed_mask.cuh"

__device__ inline u32 run_starts(u32 bits) { return bits & ~(bits << 1); }

// Where the run with a certain bit begins.
__device__ inline int run_start(u32 bits, int bit)
{
    u32 gaps = ~bits & ((1u << bit) - 1);
    return gaps ? 32 - __clz(gaps) : 0;
}

// The bits of the run that begins with a certain bit.
__device__ inline u32 run_bits(u32 bits, int begin)
{
    u32 behind = ~(bits >> begin);
    u32 ones = behind ? (behind & -behind) - 1 : ALL_LANES;
    return ones << begin;
}

// The node of a voxel by its place in a word; also in the last place before or the first behind.
__device__ inline int node_of(const Neighbours& n, int bit)
{
    if (bit < 0)
        return n.first - 32 + run_start(n.before, 31);
    return n.first + (bit < 32 ? run_start(n.here, bit) : 32);
}

// Each node on the path gets a parent nearer to the root. Only roots are joined to others, and a
// parent only becomes lower: a node whose parent is its final root keeps it.
__device__ inline int find_root(int node, int* parent)
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

__device__ inline void unite(int one, int other, int* parent)
{
    one = find_root(one, parent);
    other = find_root(other, parent);
    while (one != other) {
        int high = max(one, other), low = min(one, other);
        int up = atomicCAS(parent + high, high, low);
        if (up == high)
            return;
        one = find_root(up, parent); // another thread has joined it meanwhile
        other = low;
    }
}

// The word in the same place of a row before.
__device__ inline Neighbours rows_back(int count, const u32* words, u32 word, Place place,
                                       const Shape& shape)
{
    place.first -= count * shape.width;
    return neighbours(words, word - count * shape.words_per_row(), place, shape);
}

// Join the runs of a row with those of another row, each pair where they first meet, if that voxel
// of the row is among its `own`. Over corners a run also meets one that begins right behind it.
__device__ inline void join_rows(const Neighbours& row, u32 own, const Neighbours& other,
                                 bool corners, int* parent)
{
    u32 both = row.here & other.here, both_before = row.before & other.before;
    each_bit(own & both & ~(both << 1 | both_before >> 31),
             [&](int bit) { unite(node_of(row, bit), node_of(other, bit), parent); });
    if (!corners)
        return;
    u32 apart = own & ~other.here;
    each_bit(apart & ~row.lower() & other.lower(),
             [&](int bit) { unite(node_of(row, bit), node_of(other, bit - 1), parent); });
    each_bit(apart & ~row.higher() & other.higher(),
             [&](int bit) { unite(node_of(row, bit), node_of(other, bit + 1), parent); });
}

// Background at the border of the volume is connected outside of it: joined to voxel 0.
__device__ inline void join_outside(const Neighbours& row, const Place& place, const Shape& shape,
                                    int* parent)
{
    int k = place.row / shape.rows, j = place.row % shape.rows;
    u32 touching = run_starts(row.here);
    if (k > 0 && k < shape.depth - 1 && j > 0 && j < shape.rows - 1) {
        u32 start = place.i == 0, end = place.i + place.length == shape.width;
        touching = row.here & (start | end << (place.length - 1));
    }
    each_bit(touching, [&](int bit) { unite(node_of(row, bit), 0, parent); });
}
