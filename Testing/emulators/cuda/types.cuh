// CUDA's keywords and its small vector types.
#pragma once
#include <cstddef>
#include <cstdint>

#define CUDA_ON_CPU 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

// Vectors of 2 and 4 are aligned to their size, as on a GPU (at most 16 bytes).
#define CUDA_ON_CPU_VECTORS(NAME, TYPE)                                                          \
    struct NAME##1 { TYPE x; };                                                                  \
    struct alignas(2 * sizeof(TYPE)) NAME##2 { TYPE x, y; };                                     \
    struct NAME##3 { TYPE x, y, z; };                                                            \
    struct alignas(4 * sizeof(TYPE) < 16 ? 4 * sizeof(TYPE) : 16) NAME##4 { TYPE x, y, z, w; };  \
    inline NAME##1 make_##NAME##1(TYPE x) { return {x}; }                                        \
    inline NAME##2 make_##NAME##2(TYPE x, TYPE y) { return {x, y}; }                             \
    inline NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) { return {x, y, z}; }                  \
    inline NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; }

CUDA_ON_CPU_VECTORS(char, signed char)
CUDA_ON_CPU_VECTORS(uchar, unsigned char)
CUDA_ON_CPU_VECTORS(short, short)
CUDA_ON_CPU_VECTORS(ushort, unsigned short)
CUDA_ON_CPU_VECTORS(int, int)
CUDA_ON_CPU_VECTORS(uint, unsigned)
CUDA_ON_CPU_VECTORS(longlong, long long)
CUDA_ON_CPU_VECTORS(ulonglong, unsigned long long)
CUDA_ON_CPU_VECTORS(float, float)
CUDA_ON_CPU_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
