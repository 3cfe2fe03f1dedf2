// Barriers, and the functions in which the lanes of a warp work together.
#pragma once
#include <type_traits>

#include "schedule.cuh"

#define CUDA_ON_CPU_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(CUDA_ON_CPU_WHERE)
{
    cuda_on_cpu::meet_block(false, "__syncthreads", file, line);
}
inline int __syncthreads_count(int predicate, CUDA_ON_CPU_WHERE)
{
    return cuda_on_cpu::meet_block(predicate, "__syncthreads_count", file, line);
}
inline int __syncthreads_or(int predicate, CUDA_ON_CPU_WHERE)
{
    return cuda_on_cpu::meet_block(predicate, "__syncthreads_or", file, line) != 0;
}
inline int __syncthreads_and(int predicate, CUDA_ON_CPU_WHERE)
{
    return cuda_on_cpu::meet_block(predicate, "__syncthreads_and", file, line) ==
           cuda_on_cpu::thread_count;
}

inline void __syncwarp(unsigned mask = 0xffffffff, CUDA_ON_CPU_WHERE)
{
    cuda_on_cpu::meet_warp(mask, 0, "__syncwarp", file, line);
}

// One thread runs at a time, so every write is seen by the next thread.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

namespace cuda_on_cpu {

template <class T>
T shuffle(unsigned mask, T value, int source, const char* call, const char* file, int line)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    meet_warp(mask, bits, call, file, line);
    bits = given_by(source);
    memcpy(&value, &bits, sizeof value);
    return value;
}

inline unsigned ballot(unsigned mask, bool predicate, const char* call, const char* file, int line)
{
    meet_warp(mask, predicate, call, file, line);
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (current->partners >> lane & 1)
            result |= unsigned(given_by(lane) != 0) << lane;
    return result;
}

}  // namespace cuda_on_cpu

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, CUDA_ON_CPU_WHERE)
{
    int segment = cuda_on_cpu::lane_number() & -width;
    return cuda_on_cpu::shuffle(mask, value, segment + (lane & (width - 1)), "__shfl_sync", file,
                                line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_WHERE)
{
    int own = cuda_on_cpu::lane_number(), segment = own & -width, source = own - int(delta);
    return cuda_on_cpu::shuffle(mask, value, source < segment ? own : source, "__shfl_up_sync",
                                file, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_WHERE)
{
    int own = cuda_on_cpu::lane_number(), end = (own & -width) + width, source = own + int(delta);
    return cuda_on_cpu::shuffle(mask, value, source >= end ? own : source, "__shfl_down_sync",
                                file, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int pattern, int width = 32, CUDA_ON_CPU_WHERE)
{
    int own = cuda_on_cpu::lane_number(), end = (own & -width) + width, source = own ^ pattern;
    return cuda_on_cpu::shuffle(mask, value, source >= end ? own : source, "__shfl_xor_sync", file,
                                line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_ON_CPU_WHERE)
{
    return cuda_on_cpu::ballot(mask, predicate, "__ballot_sync", file, line);
}
inline int __any_sync(unsigned mask, int predicate, CUDA_ON_CPU_WHERE)
{
    return cuda_on_cpu::ballot(mask, predicate, "__any_sync", file, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, CUDA_ON_CPU_WHERE)
{
    return cuda_on_cpu::ballot(mask, !predicate, "__all_sync", file, line) == 0;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, CUDA_ON_CPU_WHERE)
{
    unsigned result = 0;
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    cuda_on_cpu::meet_warp(mask, bits, "__match_any_sync", file, line);
    for (unsigned lane = 0; lane < 32; lane++)
        if (cuda_on_cpu::current->partners >> lane & 1)
            result |= unsigned(cuda_on_cpu::given_by(lane) == bits) << lane;
    return result;
}
