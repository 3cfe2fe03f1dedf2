// Arithmetic, conversions, atomics and memory access under CUDA's names.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "schedule.cuh"

// ---- minimum and maximum of mixed types, as CUDA's overloads convert them

template <class A, class B>
constexpr auto min(A a, B b)
{
    using T = std::common_type_t<decltype(+a), decltype(+b)>;
    if constexpr (std::is_floating_point_v<T>)
        return T(fmin(T(a), T(b)));
    else
        return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
constexpr auto max(A a, B b)
{
    using T = std::common_type_t<decltype(+a), decltype(+b)>;
    if constexpr (std::is_floating_point_v<T>)
        return T(fmax(T(a), T(b)));
    else
        return T(a) < T(b) ? T(b) : T(a);
}

// ---- the same bits as another type

namespace cuda_on_cpu {
template <class To, class From>
To same_bits(From value)
{
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
}  // namespace cuda_on_cpu

inline int __float_as_int(float v) { return cuda_on_cpu::same_bits<int>(v); }
inline unsigned __float_as_uint(float v) { return cuda_on_cpu::same_bits<unsigned>(v); }
inline float __int_as_float(int v) { return cuda_on_cpu::same_bits<float>(v); }
inline float __uint_as_float(unsigned v) { return cuda_on_cpu::same_bits<float>(v); }
inline long long __double_as_longlong(double v) { return cuda_on_cpu::same_bits<long long>(v); }
inline double __longlong_as_double(long long v) { return cuda_on_cpu::same_bits<double>(v); }

// ---- arithmetic that is rounded to nearest and never fused (the compiler is told so too)

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

// ---- conversions; what does not fit becomes the nearest number that does, and NaN becomes 0

namespace cuda_on_cpu {
template <class T>
T to_integer(double v)
{
    using Limits = std::numeric_limits<T>;
    if (std::isnan(v))
        return 0;
    if (v <= double(Limits::min()))
        return Limits::min();
    return v >= double(Limits::max()) ? Limits::max() : T(v);
}
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ROUNDINGS(FROM, TO, TYPE)                                                    \
    inline TYPE __##FROM##2##TO##_rn(FROM v) { return cuda_on_cpu::to_integer<TYPE>(nearbyint(v)); } \
    inline TYPE __##FROM##2##TO##_rz(FROM v) { return cuda_on_cpu::to_integer<TYPE>(trunc(v)); } \
    inline TYPE __##FROM##2##TO##_rd(FROM v) { return cuda_on_cpu::to_integer<TYPE>(floor(v)); } \
    inline TYPE __##FROM##2##TO##_ru(FROM v) { return cuda_on_cpu::to_integer<TYPE>(ceil(v)); }
CUDA_ON_CPU_ROUNDINGS(float, int, int)
CUDA_ON_CPU_ROUNDINGS(float, uint, unsigned)
CUDA_ON_CPU_ROUNDINGS(double, int, int)
CUDA_ON_CPU_ROUNDINGS(double, uint, unsigned)
inline float __int2float_rn(int v) { return float(v); }
inline float __uint2float_rn(unsigned v) { return float(v); }
inline float __double2float_rn(double v) { return float(v); }
inline double __int2double_rn(int v) { return v; }
inline double __uint2double_rn(unsigned v) { return v; }

// ---- integers and their bits

inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t)a * b >> 32); }
inline unsigned __sad(int a, int b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((uint64_t)a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((uint64_t)a + b + 1) >> 1); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline unsigned __brev(unsigned v)
{
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++)
        result |= (v >> bit & 1) << (31 - bit);
    return result;
}
// Each nibble of the selector names one of the eight bytes; its top bit asks for the sign only.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector)
{
    uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 0xf, byte = bytes >> 8 * (nibble & 7) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return unsigned(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return unsigned(((uint64_t)high << 32 | low) >> (shift & 31));
}

// ---- memory

template <class T>
T __ldg(const T* p) { return *p; }
template <class T>
T __ldcg(const T* p) { return *p; }
template <class T>
T __ldcs(const T* p) { return *p; }
template <class T>
void __stcg(T* p, std::common_type_t<T> v) { *p = v; }
template <class T>
void __stcs(T* p, std::common_type_t<T> v) { *p = v; }

// Each returns what was there before. One thread runs at a time, so a plain update is atomic.
#define CUDA_ON_CPU_ATOMIC(NAME, UPDATED)                                                        \
    template <class T>                                                                           \
    CUDA_ON_CPU_QUIET T NAME(T* p, std::common_type_t<T> v)                                      \
    {                                                                                            \
        T old = *p;                                                                              \
        *p = UPDATED;                                                                            \
        return old;                                                                              \
    }
CUDA_ON_CPU_ATOMIC(atomicAdd, old + v)
CUDA_ON_CPU_ATOMIC(atomicSub, old - v)
CUDA_ON_CPU_ATOMIC(atomicMin, v < old ? v : old)
CUDA_ON_CPU_ATOMIC(atomicMax, old < v ? v : old)
CUDA_ON_CPU_ATOMIC(atomicAnd, old & v)
CUDA_ON_CPU_ATOMIC(atomicOr, old | v)
CUDA_ON_CPU_ATOMIC(atomicXor, old ^ v)
CUDA_ON_CPU_ATOMIC(atomicExch, v)
CUDA_ON_CPU_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
CUDA_ON_CPU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
template <class T>
CUDA_ON_CPU_QUIET T atomicCAS(T* p, std::common_type_t<T> expected, std::common_type_t<T> v)
{
    T old = *p;
    if (old == expected)
        *p = v;
    return old;
}

inline void __trap() { cuda_on_cpu::fail("__trap"); }
