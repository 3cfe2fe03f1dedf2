// Watches every access to memory. g++ -fsanitize=thread puts a call of one of these functions before
// each; the sanitizer's own library is not linked.
#pragma once
#ifdef __SANITIZE_THREAD__
#include "schedule.cuh"

namespace cuda_on_cpu {

CUDA_ON_CPU_QUIET inline void before_access(const char* address)
{
    if (!current)
        return;  // the scheduler itself
    for (unsigned i = 0; i < launched.array_count; i++) {
        const char *begin = launched.arrays[2 * i], *end = launched.arrays[2 * i + 1];
        bool outside = address < begin || address >= end;
        if (outside && address >= begin - launched.margin && address < end + launched.margin)
            fail("an access at byte %td of an array of %td bytes", address - begin, end - begin);
    }
    give_way();
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ACCESS(NAME)                                                                 \
    extern "C" CUDA_ON_CPU_QUIET void __tsan_##NAME(void* address)                               \
    {                                                                                            \
        cuda_on_cpu::before_access(static_cast<const char*>(address));                           \
    }
#define CUDA_ON_CPU_SIZES(NAME)                                                                  \
    CUDA_ON_CPU_ACCESS(NAME##1)                                                                  \
    CUDA_ON_CPU_ACCESS(NAME##2)                                                                  \
    CUDA_ON_CPU_ACCESS(NAME##4)                                                                  \
    CUDA_ON_CPU_ACCESS(NAME##8)                                                                  \
    CUDA_ON_CPU_ACCESS(NAME##16)
CUDA_ON_CPU_SIZES(read)
CUDA_ON_CPU_SIZES(write)
CUDA_ON_CPU_SIZES(unaligned_read)
CUDA_ON_CPU_SIZES(unaligned_write)

extern "C" CUDA_ON_CPU_QUIET void __tsan_read_range(void* address, size_t)
{
    cuda_on_cpu::before_access(static_cast<const char*>(address));
}
extern "C" CUDA_ON_CPU_QUIET void __tsan_write_range(void* address, size_t)
{
    cuda_on_cpu::before_access(static_cast<const char*>(address));
}
extern "C" CUDA_ON_CPU_QUIET void __tsan_init() {}
extern "C" CUDA_ON_CPU_QUIET void __tsan_func_entry(void*) {}
extern "C" CUDA_ON_CPU_QUIET void __tsan_func_exit() {}
extern "C" CUDA_ON_CPU_QUIET void __tsan_vptr_update(void**, void*) {}
#endif
