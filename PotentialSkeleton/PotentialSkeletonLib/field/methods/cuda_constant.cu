// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// A thread for each point; as many charges as constant memory holds, which gives all threads of a
// warp the same one at once.
#include "force.cuh"

__constant__ double charges[3 * 2730];  // 65,520 of 65,536 bytes

extern "C" __global__ void sum_forces(const int* __restrict__ points, int point_count,
                                      int charge_count, double* __restrict__ forces)
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
