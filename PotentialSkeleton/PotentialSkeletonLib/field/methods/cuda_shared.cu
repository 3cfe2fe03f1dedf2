// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// A thread for each point; a block stages as many charges as it has threads in shared memory.
#include "force.cuh"

extern "C" __global__ void sum_forces(const int* __restrict__ points, int point_count,
                                      const double* __restrict__ charges, int charge_count,
                                      double* __restrict__ forces)
{
    extern __shared__ double staged[];
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    double point[3];
    load_point(points, min(p, point_count - 1), point);
    Force force = {0.0, 0.0, 0.0};
    for (int first = 0; first < charge_count; first += blockDim.x) {
        int count = min((int)blockDim.x, charge_count - first);
        for (int n = threadIdx.x; n < 3 * count; n += blockDim.x)
            staged[n] = charges[3 * first + n];
        __syncthreads();
        for (int c = 0; c < count; c++)
            add_force(force, point, staged + 3 * c);
        __syncthreads();
    }
    if (p < point_count)
        store_force(forces, p, force);
}
