// End caps of protrusions: which voxels they are, their middle, and the voxel furthest along the
// protrusion's axis. Voxels are flat indices; the object does not touch the volume's border. Equals
// cap_centre.py, of the CPU: sums are taken up in the same order, or are exact.

#include "bit_box.cuh"
#include "../volume.cuh"

#define THREADS 256
#define MAX_BOX 2048  // words of 32 voxels of a row that lie in the shared memory of a block

struct Steps
{
    double k, j, i;  // mm
};

// A cap to be found: in a box, the connected component of a voxel at distances from `far` up. The slab,
// the cap with what is behind it, is from `near` up, or the whole box.
struct EndCap
{
    int voxel;
    Box box;
    int far, near, ends_in_box;
    int first;  // of its words in the result
};

// Finds caps in small boxes, one a block. `found` gets the bits of each cap, and `means` (of 6 numbers
// each) where in mm from the box's first voxel its middle is, and that of its slab.
extern "C" __global__ void __launch_bounds__(THREADS, 1) find_end_caps(
    Volume volume, Steps steps, const int* caps, unsigned* found, double* means)
{
    __shared__ unsigned marks[2][MAX_BOX], allowed[MAX_BOX];
    EndCap cap = ((const EndCap*)caps)[blockIdx.x];
    Bits bits(cap.box);
    int count = bits.count(), turn = 0, axis = threadIdx.x;
    Offset at = cap.box.offset_of(volume, cap.voxel);
    int i = at.i, start = (at.k * bits.rows + at.j) * bits.words + i / 32;
    for (int n = threadIdx.x; n < count; n += THREADS)
        marks[0][n] = n == start ? 1u << i % 32 : 0;
    for (int part = 0; part < 2; part++) {
        bool is_box = part == 1 && !cap.ends_in_box;
        if (!is_box) {
            for (int n = threadIdx.x; n < count; n += THREADS)
                allowed[n] = bits.from(volume, cap.box, part ? cap.near : cap.far, n);
            __syncthreads();
            bool changed;
            do {
                changed = false;
                for (int n = threadIdx.x; n < count; n += THREADS) {
                    unsigned before = marks[turn][n];
                    unsigned now = before | (bits.spread(marks[turn], n) & allowed[n]);
                    marks[turn ^ 1][n] = now;
                    changed |= now != before;
                }
                turn ^= 1;
            } while (__syncthreads_or(changed));
        }
        if (axis < 3) {
            double step = axis == 0 ? steps.k : axis == 1 ? steps.j : steps.i;
            means[6 * blockIdx.x + 3 * part + axis] = bits.mean(is_box ? nullptr : marks[turn], axis, step);
        }
        for (int n = threadIdx.x; n < count && part == 0; n += THREADS)
            found[cap.first + n] = marks[turn][n];
    }
}

// A protrusion's axis through the middle of its cap.
struct Axis
{
    double middle_k, middle_j, middle_i, k, j, i;

    // How far a voxel of the box is along the axis and not far from it: the higher the further.
    __device__ u64 score(int at_k, int at_j, int at_i, const Steps& steps) const
    {
        double away_k = at_k * steps.k - middle_k, away_j = at_j * steps.j - middle_j;
        double away_i = at_i * steps.i - middle_i;
        double along = away_k * k + away_j * j + away_i * i;
        double side_k = away_k - along * k, side_j = away_j - along * j, side_i = away_i - along * i;
        double across = side_k * side_k + side_j * side_j + side_i * side_i;
        double score = rint((along - 2 * sqrt(across)) * 1e6) + 0.0;  // no -0
        long long bits = __double_as_longlong(score);
        return bits < 0 ? ~(u64)bits : (u64)bits | 1ull << 63;
    }
};

// Finds for each cap of `find_end_caps` the voxel furthest along its axis, of equally far ones the first.
extern "C" __global__ void __launch_bounds__(THREADS, 1) furthest_in_end_caps(
    Volume volume, Steps steps, const int* caps, const unsigned* found, const double* axes, int* furthest)
{
    __shared__ u64 highest;
    __shared__ int first;
    EndCap cap = ((const EndCap*)caps)[blockIdx.x];
    Axis axis = ((const Axis*)axes)[blockIdx.x];
    Bits bits(cap.box);
    if (threadIdx.x == 0) {
        highest = 0;
        first = 0x7fffffff;
    }
    __syncthreads();
    u64 best = 0;
    int at = 0;
    for (int n = threadIdx.x; n < bits.count(); n += THREADS) {
        int k = n / bits.words / bits.rows, j = n / bits.words % bits.rows;
        for (unsigned left = found[cap.first + n]; left; left &= left - 1) {
            int i = n % bits.words * 32 + __ffs(left) - 1;
            u64 score = axis.score(k, j, i, steps);
            if (score <= best) continue;
            best = score;
            at = (cap.box.low_k + k) * volume.plane + (cap.box.low_j + j) * volume.row + cap.box.low_i + i;
        }
    }
    if (best) atomicMax(&highest, best);
    __syncthreads();
    if (best == highest) atomicMin(&first, at);
    __syncthreads();
    if (threadIdx.x == 0) furthest[blockIdx.x] = first;
}

// Sums of the positions from a box's first voxel along K, J and I: of the first voxels of a list, and of
// more of them; `sizes` are their numbers.
extern "C" __global__ void sum_positions(Volume volume, Box box, const int* voxels, const int* sizes, u64* sums)
{
    __shared__ u64 all[6];
    if (threadIdx.x < 6) all[threadIdx.x] = 0;
    __syncthreads();
    u64 own[6] = {};
    int less = sizes[0], more = sizes[1], step = gridDim.x * blockDim.x;
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < more; n += step) {
        Offset at = box.offset_of(volume, voxels[n]);
        own[3] += at.k;
        own[4] += at.j;
        own[5] += at.i;
        if (n >= less) continue;
        own[0] += at.k;
        own[1] += at.j;
        own[2] += at.i;
    }
#pragma unroll
    for (int n = 0; n < 6; n++)
        if (own[n]) atomicAdd(&all[n], own[n]);
    __syncthreads();
    if (threadIdx.x < 6) atomicAdd(&sums[threadIdx.x], all[threadIdx.x]);
}

// Of voxels of a box finds the score of those furthest along an axis, and in a second launch (`part` 1)
// the first of them in memory.
extern "C" __global__ void furthest_of(Volume volume, Box box, Steps steps, const int* voxels, int count,
                                       const double* axes, int part, u64* highest, int* first)
{
    Axis axis = *(const Axis*)axes;
    u64 known = *highest;
    int step = gridDim.x * blockDim.x;
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {
        int voxel = voxels[n];
        Offset at = box.offset_of(volume, voxel);
        u64 score = axis.score(at.k, at.j, at.i, steps);
        if (part == 0 && score > known && score > *(volatile u64*)highest) atomicMax(highest, score);
        if (part == 1 && score == known) atomicMin(first, voxel);
    }
}
