// CUDA C++ for g++: put before a .cu file, it makes each kernel a function that the CPU can run.
// Not covered: the GPU's memory model (one thread runs at a time), textures, cooperative groups.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "accesses.cuh"
#include "intrinsics.cuh"
#include "schedule.cuh"
#include "simd_in_word.cuh"
#include "types.cuh"
#include "warp.cuh"

namespace cuda_on_cpu {

// What a caller must know of a kernel's parameter to pass the right thing.
struct Parameter {
    int size;     // bytes
    int pointed;  // bytes of what it points to; 0: no pointer, -1: not to be checked
    int floating;
};

template <class T>
Parameter describe()
{
    using Pointed = std::remove_cv_t<std::remove_pointer_t<T>>;
    int pointed = 0;
    if constexpr (std::is_pointer_v<T>) {
        pointed = -1;
        if constexpr (std::is_arithmetic_v<Pointed>)
            pointed = sizeof(Pointed);
    }
    return {sizeof(T), pointed, std::is_floating_point_v<Pointed>};
}

template <class... Types>
int describe_all(void (*)(Types...), Parameter* parameters)
{
    Parameter all[] = {describe<Types>()..., {}};
    memcpy(parameters, all, sizeof...(Types) * sizeof(Parameter));
    return sizeof...(Types);
}

template <class... Types, size_t... Index>
const char* launch(void (*kernel)(Types...), const Launch& wanted, void** arguments,
                   std::index_sequence<Index...>)
{
    auto call = [&] { kernel(*static_cast<std::remove_reference_t<Types>*>(arguments[Index])...); };
    return run_grid(wanted, call);
}

template <class... Types>
const char* launch(void (*kernel)(Types...), const Launch& wanted, void** arguments)
{
    return launch(kernel, wanted, arguments, std::index_sequence_for<Types...>{});
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_EXPORT extern "C" __attribute__((visibility("default")))
// Makes a kernel callable from outside; BOUND is the number in its __launch_bounds__, or 1024.
#define CUDA_ON_CPU_KERNEL(NAME, BOUND)                                                          \
    CUDA_ON_CPU_EXPORT int describe_##NAME(cuda_on_cpu::Parameter* parameters, int* bound)       \
    {                                                                                            \
        *bound = BOUND;                                                                          \
        return cuda_on_cpu::describe_all(NAME, parameters);                                      \
    }                                                                                            \
    CUDA_ON_CPU_EXPORT const char* launch_##NAME(const cuda_on_cpu::Launch* wanted,              \
                                                 void** arguments)                               \
    {                                                                                            \
        return cuda_on_cpu::launch(NAME, *wanted, arguments);                                    \
    }
// Makes an array in constant memory writable from outside.
#define CUDA_ON_CPU_CONSTANT(NAME)                                                               \
    CUDA_ON_CPU_EXPORT void* constant_##NAME(size_t* size)                                       \
    {                                                                                            \
        *size = sizeof NAME;                                                                     \
        return NAME;                                                                             \
    }
