// Divergence of the unit force, and its local minima.

#include "voxel_list.cuh"

// A number's bits as an integer of the same order; and back.
__device__ inline int ordered(float value)
{
    int bits = __float_as_int(value);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}

// The share of one neighbour in the divergence of the unit force, `sign` voxels away along an axis;
// false where it has no force.
__device__ inline bool add_share(const float* force, int axis, double sign, double& total)
{
    double k = force[0], j = force[1], i = force[2];
    double squared = k * k + j * j + i * i;
    if (!(squared > 0.0))
        return false;
    total += 0.5 * sign * (axis == 0 ? k : axis == 1 ? j : i) / sqrt(squared);
    return true;
}

// Divergence of the unit force, infinite where a neighbour has no force and at the border; and the
// lowest and the highest finite one, `ordered`.
extern "C" __global__ void unit_divergence(const float* __restrict__ vectors, int depth, int rows,
                                           int width, float* __restrict__ divergence,
                                           int* __restrict__ range)
{
    __shared__ int low, high;
    int own_low = 0x7fffffff, own_high = -0x7fffffff - 1;
    if (threadIdx.x == 0)
        low = own_low, high = own_high;
    __syncthreads();
    const float infinity = __int_as_float(0x7f800000);
    long long step_j = 3LL * width, step_k = step_j * rows;
    each_row(depth, rows, width, 0, 0, [&](long long first, int k, int j) {
        bool within = k > 0 && k < depth - 1 && j > 0 && j < rows - 1;
        for (int i = threadIdx.x; i < width; i += blockDim.x) {
            const float* force = vectors + 3 * (first + i);
            double total = 0.0;
            bool known = within && i > 0 && i < width - 1 &&
                         add_share(force - step_k, 0, -1.0, total) &&
                         add_share(force + step_k, 0, 1.0, total) &&
                         add_share(force - step_j, 1, -1.0, total) &&
                         add_share(force + step_j, 1, 1.0, total) &&
                         add_share(force - 3, 2, -1.0, total) &&
                         add_share(force + 3, 2, 1.0, total);
            float value = known ? (float)total : infinity;
            divergence[first + i] = value;
            if (known) {
                own_low = min(own_low, ordered(value));
                own_high = max(own_high, ordered(value));
            }
        }
    });
    if (own_low <= own_high) {
        atomicMin(&low, own_low);
        atomicMax(&high, own_high);
    }
    __syncthreads();
    if (threadIdx.x == 0 && low <= high) {
        atomicMin(&range[0], low);
        atomicMax(&range[1], high);
    }
}

// Whether none of the 26 neighbours is lower, or equal within a tie and earlier.
__device__ inline bool is_lowest(const float* value, int rows, int width, double tie)
{
    double here = *value;
    for (int n = 0; n < 27; n++) {
        double other = value[((long long)(n / 9 - 1) * rows + n / 3 % 3 - 1) * width + n % 3 - 1];
        if (other < here - tie || (n < 13 && other <= here + tie))
            return false;
    }
    return true;
}

const int MINIMUM_RECORD = 2;  // the voxel, and its value's bits

// Local minima that are not above `highest`.
extern "C" __global__ void find_minima(const float* __restrict__ values, int depth, int rows,
                                       int width, double highest, double tie, long long capacity,
                                       long long* __restrict__ list)
{
    each_row(depth, rows, width, 1, 1, [&](long long first, int, int) {
        for (int i = threadIdx.x + 1; i < width - 1; i += blockDim.x) {
            const float* value = values + first + i;
            if (!((double)*value <= highest) || !is_lowest(value, rows, width, tie))
                continue;
            long long* record = next_record(list, capacity, MINIMUM_RECORD);
            if (!record)
                continue;
            record[0] = first + i;
            record[1] = __float_as_int(*value);
        }
    });
}
