// Caps of limbs whose boxes are small enough for the shared memory of one block of threads each. Voxels
// are flat indices; the object does not touch the volume's border. See caps.py of the CPU, whose
// results these equal.

#include "volume.cuh"

#define THREADS 256
#define LARGEST_BOX 2048  // words of 32 voxels of a row

// A cap to be found: in a box, what hangs together with a place by voxels from the distance `far` on,
// and then from `near` on.
struct Cap
{
    int place;
    Box box;
    int far, near;
    int first;  // word of its bits in the result
};

// A bit for each voxel of a box, in words of 32 voxels of a row.
struct Bits
{
    int rows, columns, words;  // rows of a plane, voxels and words of a row

    // The bits of a word and of its neighbours' sides, from the rows around too.
    __device__ unsigned spread(const unsigned* bits, int count, int word) const
    {
        int k = word / words / rows, j = word / words % rows, at = word % words;
        unsigned found = 0;
        for (int side = 0; side < 9; side++) {
            int other_k = k + side / 3 - 1, other_j = j + side % 3 - 1;
            if (other_k < 0 || other_j < 0 || other_j >= rows) continue;
            int other = (other_k * rows + other_j) * words + at;
            if (other >= count) continue;
            unsigned here = bits[other];
            found |= here | here << 1 | here >> 1;
            if (at > 0) found |= bits[other - 1] >> 31;
            if (at + 1 < words) found |= bits[other + 1] << 31;
        }
        return found;
    }
};

// Finds caps, one a block. `found` gets for each the bits of the voxels from `far` on, and then those
// from `near` on.
extern "C" __global__ void __launch_bounds__(THREADS, 1) find_caps(
    const int* distances, int row, int plane, const int* caps, unsigned* found)
{
    __shared__ unsigned marks[2][LARGEST_BOX], allowed[LARGEST_BOX];
    Cap cap = ((const Cap*)caps)[blockIdx.x];
    const Box& box = cap.box;
    Bits bits = {box.high_j - box.low_j, box.high_i - box.low_i, (box.high_i - box.low_i + 31) / 32};
    int count = (box.high_k - box.low_k) * bits.rows * bits.words, turn = 0;
    int k = cap.place / plane - box.low_k, j = cap.place % plane / row - box.low_j;
    int i = cap.place % row - box.low_i, place = (k * bits.rows + j) * bits.words + i / 32;
    for (int n = threadIdx.x; n < count; n += THREADS)
        marks[0][n] = n == place ? 1u << i % 32 : 0;
    for (int part = 0; part < 2; part++) {
        int least = part ? cap.near : cap.far;
        __syncthreads();
        for (int n = threadIdx.x; n < count; n += THREADS) {
            int at_k = box.low_k + n / bits.words / bits.rows, at_j = box.low_j + n / bits.words % bits.rows;
            int at_i = n % bits.words * 32;
            const int* line = distances + at_k * plane + at_j * row + box.low_i + at_i;
            unsigned enough = 0;
            for (int bit = 0; bit < min(32, bits.columns - at_i); bit++)
                if (line[bit] >= least) enough |= 1u << bit;
            allowed[n] = enough;
        }
        __syncthreads();
        bool changed;
        do {
            changed = false;
            for (int n = threadIdx.x; n < count; n += THREADS) {
                unsigned before = marks[turn][n];
                unsigned now = before | (bits.spread(marks[turn], count, n) & allowed[n]);
                marks[turn ^ 1][n] = now;
                changed |= now != before;
            }
            turn ^= 1;
        } while (__syncthreads_or(changed));
        for (int n = threadIdx.x; n < count; n += THREADS)
            found[cap.first + part * count + n] = marks[turn][n];
    }
}
