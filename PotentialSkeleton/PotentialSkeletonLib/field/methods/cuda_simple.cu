// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// A thread for each point; the charges are read from global memory.
#include "force.cuh"

extern "C" __global__ void sum_forces(const int* __restrict__ points, int point_count,
                                      const double* __restrict__ charges, int charge_count,
                                      double* __restrict__ forces)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= point_count)
        return;
    double point[3];
    load_point(points, p, point);
    Force force = {0.0, 0.0, 0.0};
    for (int c = 0; c < charge_count; c++)
        add_force(force, point, charges + 3 * c);
    store_force(forces, p, force);
}
