// A fiber is a function on a stack of its own that can be left and entered again.
#pragma once
#include <cstdint>
#include <cstdlib>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

// Accesses to memory in such a function are not watched (see accesses.cuh).
#define CUDA_ON_CPU_QUIET __attribute__((no_sanitize("thread")))

namespace cuda_on_cpu {

#if defined(__x86_64__)

// Saves the registers that a call must keep on the old stack and takes them from the new one.
extern "C" void cuda_on_cpu_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
    .text
    .weak cuda_on_cpu_switch
    .hidden cuda_on_cpu_switch
    .type cuda_on_cpu_switch, @function
cuda_on_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cuda_on_cpu_switch, .-cuda_on_cpu_switch
)");

struct Context {
    void* stack_pointer = nullptr;

    void prepare(char* stack, size_t size, void (*function)())
    {
        void** top = reinterpret_cast<void**>((reinterpret_cast<uintptr_t>(stack) + size) & ~15ul);
        *--top = nullptr;  // where the function would return to; keeps the stack aligned
        *--top = reinterpret_cast<void*>(function);
        for (int saved = 0; saved < 6; saved++)
            *--top = nullptr;
        stack_pointer = top;
    }
};

CUDA_ON_CPU_QUIET inline void switch_fiber(Context& from, Context& to)
{
    cuda_on_cpu_switch(&from.stack_pointer, to.stack_pointer);
}

#else

struct Context {
    ucontext_t state;

    void prepare(char* stack, size_t size, void (*function)())
    {
        getcontext(&state);
        state.uc_stack.ss_sp = stack;
        state.uc_stack.ss_size = size;
        state.uc_link = nullptr;
        makecontext(&state, function, 0);
    }
};

CUDA_ON_CPU_QUIET inline void switch_fiber(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

#endif

}  // namespace cuda_on_cpu
