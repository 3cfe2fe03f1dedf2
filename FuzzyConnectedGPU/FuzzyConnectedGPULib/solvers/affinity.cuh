// Affinity level of two adjacent voxels: the same steps, and so the same bits, as `bell` and `GaussianAffinity` in
// affinity.py. The _rn intrinsics keep the compiler from fusing a product into a sum.

struct Affinity
{
    float mean, sum_factor, difference_factor, sum_scale, difference_scale;
    bool weighted, bright, dark;
    int cut_level;
};

// exp(-x * x), not below 2**-30
__device__ __forceinline__ float bell(float x)
{
    float exponent = fminf(__fmul_rn(__fmul_rn(x, x), 1.4426950408889634f), 30.0f);
    float whole = floorf(__fadd_rn(exponent, 0.5f));
    float r = __fsub_rn(whole, exponent);
    float power = 0.00015403530393381608f;
    power = __fadd_rn(0.0013333558146428443f, __fmul_rn(r, power));
    power = __fadd_rn(0.009618129107628477f, __fmul_rn(r, power));
    power = __fadd_rn(0.05550410866482158f, __fmul_rn(r, power));
    power = __fadd_rn(0.24022650695910072f, __fmul_rn(r, power));
    power = __fadd_rn(0.6931471805599453f, __fmul_rn(r, power));
    power = __fadd_rn(1.0f, __fmul_rn(r, power));
    int bits_of_power_of_half = (127 - (int)whole) << 23;
    return __fmul_rn(power, __int_as_float(bits_of_power_of_half));
}

// The two terms' combination, and the cut
__device__ __forceinline__ int combined_level(float sum_term, float difference_term, const Affinity& a)
{
    float affinity = a.weighted ? __fadd_rn(sum_term, difference_term)
                                : __fmul_rn(sum_term, difference_term);
    // Adding 2**23 rounds to the nearest integer, ties to even, and leaves it in the low bits.
    int level = __float_as_int(__fadd_rn(affinity, 8388608.0f)) & 0xffff;
    return level < a.cut_level ? 0 : level;
}

// The terms of the sum of two voxels, and of their absolute difference
__device__ __forceinline__ float sum_term(float sum, const Affinity& a)
{
    float deviation = __fsub_rn(__fmul_rn(sum, 0.5f), a.mean);
    if (a.bright) deviation = fminf(deviation, 0.0f);
    if (a.dark) deviation = fmaxf(deviation, 0.0f);
    return __fmul_rn(a.sum_scale, bell(__fmul_rn(deviation, a.sum_factor)));
}
__device__ __forceinline__ float difference_term(float difference, const Affinity& a)
{
    return __fmul_rn(a.difference_scale, bell(__fmul_rn(difference, a.difference_factor)));
}

// A NaN stands for a voxel that no path may use; it has level 0 with every voxel.
__device__ __forceinline__ int affinity_level(float first, float second, const Affinity& a)
{
    float difference = fabsf(__fsub_rn(first, second));
    int level = combined_level(sum_term(__fadd_rn(first, second), a), difference_term(difference, a), a);
    return difference == difference ? level : 0;
}
