// Sizes and bounding boxes of components, and one component cut out.

#include "packed_mask.cuh"

#define MEASURES 7

// Voxels; depth - k, rows - j and width - i of the lowest places; k + 1, j + 1 and i + 1 of the
// highest. All are 0 where there is no voxel, and all but the first are the highest of all voxels.
struct Measures {
    u32 of[MEASURES];

    __device__ void add(const Measures& other)
    {
        of[0] += other.of[0];
#pragma unroll
        for (int n = 1; n < MEASURES; n++)
            of[n] = max(of[n], other.of[n]);
    }

    // Atomic operations of all threads on one place would take their time: mostly there is none.
    __device__ void add_to(u32* sum) const
    {
        atomicAdd(sum, of[0]);
#pragma unroll
        for (int n = 1; n < MEASURES; n++)
            if (*(volatile u32*)(sum + n) < of[n])
                atomicMax(sum + n, of[n]);
    }
};

// Of some voxels of one row
__device__ inline Measures measures_of(u32 voxels, int row, int first_i, int last_i,
                                       const Shape& shape)
{
    int k = row / shape.rows, j = row % shape.rows;
    return {{voxels, (u32)(shape.depth - k), (u32)(shape.rows - j), (u32)(shape.width - first_i),
             (u32)k + 1, (u32)j + 1, (u32)last_i + 1}};
}

// Measures of a whole packed mask.
extern "C" __global__ void measure_mask(const u32* words, int depth, int rows, int width,
                                        u32* measures)
{
    __shared__ u32 sum[MEASURES];
    if (threadIdx.x < MEASURES)
        sum[threadIdx.x] = 0;
    __syncthreads();
    Shape shape = {depth, rows, width};
    u32 word = thread_number();
    Place place = place_of(word, shape);
    u32 bits = place.length ? words[word] : 0;
    Measures own = {};
    if (bits)
        own = measures_of(__popc(bits), place.row, place.i + __ffs(bits) - 1,
                          place.i + 31 - __clz(bits), shape);
    if (__any_sync(ALL_LANES, bits != 0)) {
        for (int d = 16; d > 0; d /= 2) {
            Measures other;
#pragma unroll
            for (int n = 0; n < MEASURES; n++)
                other.of[n] = __shfl_xor_sync(ALL_LANES, own.of[n], d);
            own.add(other);
        }
        if (threadIdx.x % 32 == 0)
            own.add_to(sum);
    }
    __syncthreads();
    if (threadIdx.x < MEASURES && sum[0]) {
        if (threadIdx.x == 0)
            atomicAdd(measures, sum[0]);
        else if (((volatile u32*)measures)[threadIdx.x] < sum[threadIdx.x])
            atomicMax(measures + threadIdx.x, sum[threadIdx.x]);
    }
}

// Measures of each label, MEASURES numbers each; nothing is written for label 0. Each warp goes
// through the voxels of 32 words and gathers what it sees of one label in a row.
extern "C" __global__ void measure_labels(const int* labels, int depth, int rows, int width,
                                          u32* measures)
{
    Shape shape = {depth, rows, width};
    int lane = threadIdx.x & 31, gathered_label = 0;
    Place own = place_of(thread_number(), shape);
    Measures gathered = {};
    auto write_gathered = [&] {
        if (gathered_label && lane == 0)
            gathered.add_to(measures + (long long)gathered_label * MEASURES);
    };
#pragma unroll 1
    for (int n = 0; n < 32; n += BATCH) {
        int label[BATCH];
#pragma unroll
        for (int m = 0; m < BATCH; m++) {
            int first = __shfl_sync(ALL_LANES, own.first, n + m);
            int length = __shfl_sync(ALL_LANES, own.length, n + m);
            label[m] = lane < length ? labels[first + lane] : 0;
        }
#pragma unroll
        for (int m = 0; m < BATCH; m++) {
            int row = __shfl_sync(ALL_LANES, own.row, n + m);
            int i = __shfl_sync(ALL_LANES, own.i, n + m);
            u32 present = __ballot_sync(ALL_LANES, label[m] != 0);
            if (!present)
                continue;
            int common = __shfl_sync(ALL_LANES, label[m], __ffs(present) - 1);
            int before = __shfl_up_sync(ALL_LANES, label[m], 1);
            u32 changes = __ballot_sync(ALL_LANES, lane == 0 || label[m] != before);
            if (__ballot_sync(ALL_LANES, label[m] == common) == present) {
                if (common != gathered_label) {
                    write_gathered();
                    gathered_label = common;
                    gathered = {};
                }
                gathered.add(measures_of(__popc(present), row, i + __ffs(present) - 1,
                                         i + 31 - __clz(present), shape));
            } else if (label[m] && changes >> lane & 1) {
                u32 behind = lane < 31 ? changes >> (lane + 1) : 0;
                int length = behind ? __ffs(behind) : 32 - lane;
                measures_of(length, row, i + lane, i + lane + length - 1, shape)
                    .add_to(measures + (long long)label[m] * MEASURES);
            }
        }
    }
    write_gathered();
}

// A box, which may begin before the volume and end behind it.
struct CropBox {
    int first_k, first_j, first_i, rows, width;
};

// 1 where labels (of one byte, or int) are `label`, in a box.
extern "C" __global__ void crop(const void* labels, int bytes, Shape shape, CropBox box, int label,
                                unsigned char* mask)
{
    int k = blockIdx.x / box.rows + box.first_k, j = blockIdx.x % box.rows + box.first_j;
    bool inside = k >= 0 && k < shape.depth && j >= 0 && j < shape.rows;
    long long row = ((long long)k * shape.rows + j) * shape.width;
    for (int n = threadIdx.x; n < box.width; n += blockDim.x) {
        int i = n + box.first_i, found = label - 1; // beyond the volume
        if (inside && i >= 0 && i < shape.width)
            found = bytes == 1 ? ((const unsigned char*)labels)[row + i]
                               : ((const int*)labels)[row + i];
        mask[(long long)blockIdx.x * box.width + n] = found == label;
    }
}
