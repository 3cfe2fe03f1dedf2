// The force of one charge on one point, in float64.
#pragma once

#ifndef STRENGTH
#error "STRENGTH is to be defined: the force falls with the distance to this power"
#endif

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

// The sum of a point's forces so far, and of the one from a charge that lies elsewhere.
__device__ inline void add_force(Force& force, const double point[3], const double* charge)
{
    double dk = point[0] - charge[0], dj = point[1] - charge[1], di = point[2] - charge[2];
    double squared = __fma_rn(dk, dk, __fma_rn(dj, dj, di * di));
    double inverse = power<STRENGTH + 1>(inverse_root(squared));
    force.k = __fma_rn(dk, inverse, force.k);
    force.j = __fma_rn(dj, inverse, force.j);
    force.i = __fma_rn(di, inverse, force.i);
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
