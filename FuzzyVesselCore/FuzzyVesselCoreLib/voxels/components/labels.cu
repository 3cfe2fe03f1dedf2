// Connected components of a packed mask, their measures, and its cavities.

#include "run_union_find.cuh"
#include "numbering.cuh"
#include "measures.cuh"
#include "euler.cuh"

#define MAX_LOOKBACK 64 // words that are searched for the start of a run

// Every run is a node, whose parent is the run that it continues from the word before.
extern "C" __global__ void init_runs(const u32* words, int depth, int rows, int width, int* parent)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    Place place = place_of(word, shape);
    if (!place.length)
        return;
    u32 bits = words[word];
    each_bit(run_starts(bits), [&](int bit) { parent[place.first + bit] = place.first + bit; });
    if (!(bits & 1) || place.i == 0 || !(words[word - 1] >> 31))
        return;
    int back = 1, most = min(place.i / 32, MAX_LOOKBACK);
    while (back < most && words[word - back] == ALL_LANES && words[word - back - 1] >> 31)
        back++;
    parent[place.first] = place.first - 32 * back + run_start(words[word - back], 31);
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

// Keep in `words` the background that is connected with the outside; found: the number of the other
// components, which are cavities, and of their voxels.
extern "C" __global__ void clear_cavities(u32* words, int depth, int rows, int width, int* parent,
                                           u32* found)
{
    __shared__ u32 cavities, voxels;
    if (threadIdx.x == 0)
        cavities = voxels = 0;
    __syncthreads();
    u32 word = thread_number(), enclosed = 0, roots = 0;
    Place place = place_of(word, {depth, rows, width});
    u32 bits = place.length ? words[word] : 0;
    each_bit(run_starts(bits), [&](int bit) {
        int node = place.first + bit, root = find_root(node, parent);
        if (root == 0)
            return;
        enclosed |= run_bits(bits, bit);
        roots += root == node;
    });
    if (enclosed) {
        words[word] = bits & ~enclosed;
        atomicAdd(&cavities, roots);
        atomicAdd(&voxels, __popc(enclosed));
    }
    __syncthreads();
    if (threadIdx.x == 0 && voxels) {
        atomicAdd(found, cavities);
        atomicAdd(found + 1, voxels);
    }
}
