// Masks of (K, J, I) voxels, packed: 32 voxels of a row along I are the bits of one word, each row
// begins with a new word, and the bits behind a row's end are 0. Voxels are numbered by 31 bits.

typedef unsigned int u32;

#define ALL_LANES 0xffffffffu
#define BATCH 4 // words whose voxels a warp reads at a time, before it uses them

struct Shape {
    int depth, rows, width;

    __device__ int words_per_row() const { return (width + 31) / 32; }
    __device__ u32 word_count() const { return (u32)(depth * rows) * words_per_row(); }
};

// Where the voxels of a word are; none (length 0) behind the last word.
struct Place {
    int row, i, first, length;
};

__device__ inline Place place_of(u32 word, const Shape& shape)
{
    if (word >= shape.word_count())
        return {0, 0, 0, 0};
    int words = shape.words_per_row(), row = word / words, i = word % words * 32;
    return {row, i, row * shape.width + i, min(32, shape.width - i)};
}

__device__ inline u32 thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Calls `visit(bit)` for all bits that are set, from the lowest on.
template <class Visit>
__device__ inline void each_bit(u32 bits, Visit visit)
{
    for (; bits; bits &= bits - 1)
        visit(__ffs(bits) - 1);
}

// A word, and those before and after it in its row; 0 where the row has none.
struct Neighbours {
    u32 before, here, after;
    int first; // the word's first voxel

    // Of each voxel its neighbour with a lower I, or with a higher one.
    __device__ u32 lower() const { return here << 1 | before >> 31; }
    __device__ u32 higher() const { return here >> 1 | after << 31; }
};

__device__ inline Neighbours neighbours(const u32* words, u32 word, const Place& place,
                                        const Shape& shape)
{
    return {place.i > 0 ? words[word - 1] : 0, words[word],
            place.i + 32 < shape.width ? words[word + 1] : 0, place.first};
}

// One lane for each of 32 words holds its bits; all lanes together go through the words' voxels.
extern "C" __global__ void pack(const unsigned char* mask, int depth, int rows, int width,
                                int inverted, u32* words)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number(), bits = 0;
    int lane = threadIdx.x & 31;
    Place own = place_of(word, shape);
#pragma unroll 1
    for (int n = 0; n < 32; n += 2 * BATCH) {
        bool is_set[2 * BATCH];
#pragma unroll
        for (int m = 0; m < 2 * BATCH; m++) {
            int first = __shfl_sync(ALL_LANES, own.first, n + m);
            int length = __shfl_sync(ALL_LANES, own.length, n + m);
            is_set[m] = lane < length && (mask[first + lane] != 0) != (inverted != 0);
        }
#pragma unroll
        for (int m = 0; m < 2 * BATCH; m++) {
            u32 found = __ballot_sync(ALL_LANES, is_set[m]);
            if (lane == n + m)
                bits = found;
        }
    }
    if (own.length)
        words[word] = bits;
}

// 0 where a bit is set, else 1.
extern "C" __global__ void unpack_inverted(const u32* words, int depth, int rows, int width,
                                           unsigned char* mask)
{
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    int lane = threadIdx.x & 31;
    Place own = place_of(word, shape);
    u32 bits = own.length ? words[word] : 0;
#pragma unroll 4
    for (int n = 0; n < 32; n++) {
        int first = __shfl_sync(ALL_LANES, own.first, n);
        int length = __shfl_sync(ALL_LANES, own.length, n);
        u32 found = __shfl_sync(ALL_LANES, bits, n);
        if (lane < length)
            mask[first + lane] = !(found >> lane & 1);
    }
}
