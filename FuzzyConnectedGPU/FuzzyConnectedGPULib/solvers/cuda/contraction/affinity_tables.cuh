// Tables of the affinity's two terms.
#pragma once

#include "../affinity.cuh"

// The affinity's terms of integer voxels, where the tables are short: both bells end in level ground, so
// that beyond a table its last entry holds. The product's is 0 for differences, as it is when rounded.
struct Tables
{
    float* entries;  // of the differences, then of the sums
    int lowest_sum, sums, differences;

    __device__ __forceinline__ int size() const { return sums + differences; }
};
