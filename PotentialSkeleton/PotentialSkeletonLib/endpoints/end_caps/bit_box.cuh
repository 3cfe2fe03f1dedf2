// A box of an object's volume with a bit for each voxel; see cap_centre.cu.
#pragma once

#include "../volume.cuh"

// A bit for each voxel of a box, in words of 32 voxels of a row.
struct Bits
{
    int planes, rows, columns, words;  // `words`: of a row

    __device__ explicit Bits(const Box& box)
        : planes(box.high_k - box.low_k), rows(box.high_j - box.low_j), columns(box.high_i - box.low_i),
          words((columns + 31) / 32)
    {
    }
    __device__ int count() const { return planes * rows * words; }

    // The bits of a word, and their neighbours.
    __device__ unsigned spread(const unsigned* bits, int word) const
    {
        int k = word / words / rows, j = word / words % rows, at = word % words;
        unsigned found = 0;
        for (int side = 0; side < 9; side++) {
            int other_k = k + side / 3 - 1, other_j = j + side % 3 - 1;
            if (other_k < 0 || other_k >= planes || other_j < 0 || other_j >= rows) continue;
            int other = (other_k * rows + other_j) * words + at;
            unsigned here = bits[other];
            found |= here | here << 1 | here >> 1;
            if (at > 0) found |= bits[other - 1] >> 31;
            if (at + 1 < words) found |= bits[other + 1] << 31;
        }
        return found;
    }
    // The bits of a word that are at a distance at least.
    __device__ unsigned from(const Volume& volume, const Box& box, int least, int word) const
    {
        int k = word / words / rows, j = word / words % rows, i = word % words * 32;
        const int* line = volume.distances + (box.low_k + k) * volume.plane +
                          (box.low_j + j) * volume.row + box.low_i + i;
        unsigned found = 0;
        for (int bit = 0; bit < min(32, columns - i); bit++)
            if (line[bit] >= least) found |= 1u << bit;
        return found;
    }
    // Mean position along an axis in mm, taken up voxel by voxel. No `bits` are the whole box.
    __device__ double mean(const unsigned* bits, int axis, double step) const
    {
        double sum = 0;
        int voxels = 0;
        for (int word = 0; word < count(); word++) {
            int k = word / words / rows, j = word / words % rows, i = word % words * 32;
            unsigned left = bits ? bits[word] : 0xffffffffu >> max(0, 32 - (columns - i));
            for (; left; left &= left - 1, voxels++)
                sum += (axis == 0 ? k : axis == 1 ? j : i + __ffs(left) - 1) * step;
        }
        return sum / voxels;
    }
};
