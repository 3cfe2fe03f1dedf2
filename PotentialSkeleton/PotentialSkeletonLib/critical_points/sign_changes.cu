// Cells of eight voxels in which all components of the force change sign.

#include "voxel_list.cuh"

struct Cell {
    long long steps[8];  // from the first corner to each of the eight

    __device__ Cell(int rows, int width)
    {
#pragma unroll
        for (int n = 0; n < 8; n++)
            steps[n] = ((long long)(n >> 2) * rows + (n >> 1 & 1)) * width + (n & 1);
    }

    __device__ bool holds(const unsigned char* classes, int lowest_class) const
    {
#pragma unroll
        for (int n = 0; n < 8; n++)
            if (classes[steps[n]] < lowest_class)
                return false;
        return true;
    }

    __device__ bool changes_sign(const float* component) const
    {
        float low = component[0], high = low;
#pragma unroll
        for (int n = 1; n < 8; n++) {
            float force = component[3 * steps[n]];
            low = force < low ? force : low;
            high = force > high ? force : high;
        }
        return !(low > 0.0f || high < 0.0f || low == high);
    }
};

const int CELL_RECORD = 13;  // the first corner's voxel, and the forces at the corners: 24 floats

// Cells whose corners have at least the class `lowest_class` and whose forces change sign in all
// components.
extern "C" __global__ void find_cells(const float* __restrict__ vectors,
                                      const unsigned char* __restrict__ classes, int depth,
                                      int rows, int width, int lowest_class, long long capacity,
                                      long long* __restrict__ list)
{
    Cell cell(rows, width);
    each_row(depth, rows, width, 0, 1, [&](long long first, int, int) {
        for (int i = threadIdx.x; i < width - 1; i += blockDim.x) {
            long long voxel = first + i;
            const float* force = vectors + 3 * voxel;
            if (!cell.holds(classes + voxel, lowest_class) || !cell.changes_sign(force) ||
                !cell.changes_sign(force + 1) || !cell.changes_sign(force + 2))
                continue;
            long long* record = next_record(list, capacity, CELL_RECORD);
            if (!record)
                continue;
            record[0] = voxel;
            float* corners = (float*)(record + 1);
#pragma unroll
            for (int n = 0; n < 8; n++)
                for (int axis = 0; axis < 3; axis++)
                    corners[3 * n + axis] = force[3 * cell.steps[n] + axis];
        }
    });
}
