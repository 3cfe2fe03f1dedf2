// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// The skeleton paper's GPU programs (Zhao et al. 2016, section 2): a thread for each point sums the
// forces of all charges, in float64. They differ in where the charges are read from.

struct Force {
    double k, j, i;
};

template <int EXPONENT>
__device__ double power(double base)
{
    if constexpr (EXPONENT == 0)
        return 1.0;
    else if constexpr (EXPONENT == 1)
        return base;
    else if constexpr (EXPONENT % 2)
        return power<EXPONENT / 2>(base * base) * base;
    else
        return power<EXPONENT / 2>(base * base);
}

// 1 / sqrt(squared): the GPU's fast float32 value, and one step of third order to float64.
__device__ inline double inverse_root(double squared)
{
    double root = rsqrtf((float)squared);
    double error = __fma_rn(-squared * root, root, 1.0);
    return __fma_rn(root * error, __fma_rn(0.375, error, 0.5), root);
}

// Adds the force of some charges, which lie elsewhere, on a point.
__device__ inline void add_forces(Force& force, const double point[3], const double* charges, int count)
{
    for (int c = 0; c < count; c++) {
        double dk = point[0] - charges[3 * c], dj = point[1] - charges[3 * c + 1],
               di = point[2] - charges[3 * c + 2];
        double squared = __fma_rn(dk, dk, __fma_rn(dj, dj, di * di));
        double inverse = power<STRENGTH + 1>(inverse_root(squared));
        force.k = __fma_rn(dk, inverse, force.k);
        force.j = __fma_rn(dj, inverse, force.j);
        force.i = __fma_rn(di, inverse, force.i);
    }
}

__device__ inline void load_point(const int* points, int p, double point[3])
{
    for (int axis = 0; axis < 3; axis++)
        point[axis] = points[3 * p + axis];
}

// A launch has seen a part of the charges: its forces are added to those of earlier launches.
__device__ inline void store_force(double* forces, int p, const Force& force)
{
    forces[3 * p] += force.k;
    forces[3 * p + 1] += force.j;
    forces[3 * p + 2] += force.i;
}

// Section 2.2: charges in global memory.
extern "C" __global__ void sum_simple(const int* __restrict__ points, int point_count,
                                      const double* __restrict__ charges, int charge_count,
                                      double* __restrict__ forces)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= point_count)
        return;
    double point[3];
    load_point(points, p, point);
    Force force = {0.0, 0.0, 0.0};
    add_forces(force, point, charges, charge_count);
    store_force(forces, p, force);
}

// Section 2.3: as many charges as constant memory holds, which gives all threads of a warp the same
// one at once.
__constant__ double constant_charges[3 * 2730];  // 65,520 of 65,536 bytes

extern "C" __global__ void sum_constant(const int* __restrict__ points, int point_count,
                                        int charge_count, double* __restrict__ forces)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= point_count)
        return;
    double point[3];
    load_point(points, p, point);
    Force force = {0.0, 0.0, 0.0};
    add_forces(force, point, constant_charges, charge_count);
    store_force(forces, p, force);
}

// A block stages as many charges as it has threads in shared memory.
extern "C" __global__ void sum_shared(const int* __restrict__ points, int point_count,
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
        add_forces(force, point, staged, count);
        __syncthreads();
    }
    if (p < point_count)
        store_force(forces, p, force);
}
