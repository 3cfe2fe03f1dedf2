// The functions of CUDA that the project's kernels call: barriers, warps, arithmetic, atomics.
#pragma once

#define CUDA_ON_CPU_LINE int line = __builtin_LINE()

inline int __syncthreads_or(int predicate, CUDA_ON_CPU_LINE)
{
    cuda_on_cpu::meet(cuda_on_cpu::State::at_barrier, 0, predicate != 0, "__syncthreads", line);
    return cuda_on_cpu::total != 0;
}
inline void __syncthreads(CUDA_ON_CPU_LINE) { __syncthreads_or(0, line); }

// ---- warps

namespace cuda_on_cpu {

inline void meet_warp(unsigned mask, uint64_t given, const char* call, int line)
{
    meet(State::at_warp, mask, given, call, line);
}

template <class T>
T shuffle(unsigned mask, T value, int source, int line)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    meet_warp(mask, bits, "__shfl_sync", line);
    bits = given_by(source);
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The lane that is `delta` away, or the own one where the segment ends before it.
inline int lane_away(int delta, int width)
{
    int own = lane_number(), source = own + delta;
    return (source & -width) == (own & -width) ? source : own;
}

}  // namespace cuda_on_cpu

inline void __syncwarp(unsigned mask = ~0u, CUDA_ON_CPU_LINE)
{
    cuda_on_cpu::meet_warp(mask, 0, "__syncwarp", line);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, CUDA_ON_CPU_LINE)
{
    int segment = cuda_on_cpu::lane_number() & -width;
    return cuda_on_cpu::shuffle(mask, value, segment + (lane & (width - 1)), line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_LINE)
{
    return cuda_on_cpu::shuffle(mask, value, cuda_on_cpu::lane_away(-int(delta), width), line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_LINE)
{
    return cuda_on_cpu::shuffle(mask, value, cuda_on_cpu::lane_away(int(delta), width), line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_ON_CPU_LINE)
{
    cuda_on_cpu::meet_warp(mask, predicate != 0, "__ballot_sync", line);
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (cuda_on_cpu::current->partners >> lane & 1)
            result |= unsigned(cuda_on_cpu::given_by(lane)) << lane;
    return result;
}
inline int __any_sync(unsigned mask, int predicate, CUDA_ON_CPU_LINE)
{
    return __ballot_sync(mask, predicate, line) != 0;
}

// ---- arithmetic; rounded to nearest and never fused (the compiler is told so too)

// Minimum and maximum of mixed types, as CUDA's overloads convert them.
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

template <class To, class From>
To cuda_on_cpu_same_bits(From value)
{
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
inline int __float_as_int(float v) { return cuda_on_cpu_same_bits<int>(v); }
inline float __int_as_float(int v) { return cuda_on_cpu_same_bits<float>(v); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float rsqrtf(float a) { return 1 / sqrtf(a); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }

// ---- memory

// Each returns what was there before. One thread runs at a time, so a plain update is atomic.
#define CUDA_ON_CPU_ATOMIC(NAME, UPDATED)                                                          \
    template <class T>                                                                             \
    T NAME(T* p, std::common_type_t<T> v)                                        \
    {                                                                                              \
        T old = *p;                                                                                \
        *p = UPDATED;                                                                              \
        return old;                                                                                \
    }
CUDA_ON_CPU_ATOMIC(atomicAdd, old + v)
CUDA_ON_CPU_ATOMIC(atomicMax, old < v ? v : old)
CUDA_ON_CPU_ATOMIC(atomicOr, old | v)
CUDA_ON_CPU_ATOMIC(atomicExch, v)
