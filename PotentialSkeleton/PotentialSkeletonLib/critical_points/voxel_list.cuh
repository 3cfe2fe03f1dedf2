// Stream compaction: records of voxels appended to a list. Its first record holds the number of all
// records, also of those that exceed its capacity. A block takes whole rows along I.
#pragma once

// Calls `visit(first, k, j)` for the rows of planes and rows from `margin` on, but the last `behind`;
// `first` is the voxel with which the row begins.
template <class Visit>
__device__ inline void each_row(int depth, int rows, int width, int margin, int behind, Visit visit)
{
    int planes = depth - margin - behind, rows_per_plane = rows - margin - behind;
    for (int row = blockIdx.x; row < planes * rows_per_plane; row += gridDim.x) {
        int k = margin + row / rows_per_plane, j = margin + row % rows_per_plane;
        visit(((long long)k * rows + j) * width, k, j);
    }
}

// The next record of a list, or null if it is full.
__device__ inline long long* next_record(long long* list, long long capacity, int length)
{
    long long number = (long long)atomicAdd((unsigned long long*)list, 1ULL);
    return number < capacity ? list + (number + 1) * length : nullptr;
}
