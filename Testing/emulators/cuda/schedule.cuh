// The variables of a kernel and its functions that meet other threads: barriers and warps. blocks.cpp
// runs the threads of a block as fibers, one at a time, and lets them meet. It is compiled once, not
// with each kernel; so what a kernel reads often stays static, where the compiler knows all about it.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "launch.cuh"

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;

// Everything that kernels declare __shared__ lies in one section, which the linker delimits.
#define __shared__ static __attribute__((section("cuda_on_cpu_shared")))
extern "C" {
extern char __start_cuda_on_cpu_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_cuda_on_cpu_shared[] __attribute__((weak, visibility("hidden")));
}

namespace cuda_on_cpu {

static Thread* threads;  // of the block whose turn it is
static unsigned* block_total;  // of what they brought to the last barrier
static unsigned thread_count;
static Thread* current;
static Context scheduler;
static void (*run_kernel)(void*);
static void* kernel_call;
static char message[1024];
alignas(16) static char dynamic_shared[shared_limit + sizeof(uint64_t)];
static uint64_t random_state;

inline uint64_t random_number()  // splitmix64
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// ---- inside a thread

CUDA_ON_CPU_QUIET inline void leave(Thread* self, State state)
{
    current = nullptr;
    self->state = state;
    switch_fiber(self->context, scheduler);
    asm volatile("" ::: "memory");
}

inline void fail(const char* format, ...)
{
    Thread* self = current;
    current = nullptr;
    int start = snprintf(message, sizeof message, "block (%u,%u,%u)", blockIdx.x, blockIdx.y,
                         blockIdx.z);
    if (self)
        start += snprintf(message + start, sizeof message - start, ", thread (%u,%u,%u)",
                          threadIdx.x, threadIdx.y, threadIdx.z);
    start += snprintf(message + start, sizeof message - start, ": ");
    va_list values;
    va_start(values, format);
    vsnprintf(message + start, sizeof message - start, format, values);
    va_end(values);
    if (self)
        leave(self, State::returned);
}

inline unsigned thread_number() { return current - threads; }
inline unsigned lane_number() { return thread_number() % 32; }

inline void meet(State where, unsigned mask, uint64_t given, const char* call, const char* file,
                 int line)
{
    current->mask = mask;
    current->given = given;
    current->call = call;
    current->file = file;
    current->line = line;
    leave(current, where);
}

inline unsigned meet_block(bool predicate, const char* call, const char* file, int line)
{
    meet(State::at_barrier, 0, predicate, call, file, line);
    return *block_total;
}

inline void meet_warp(unsigned mask, uint64_t given, const char* call, const char* file, int line)
{
    if (!(mask >> lane_number() & 1))
        fail("%s (%s:%d): the mask %08x leaves out the calling lane", call, file, line, mask);
    meet(State::at_warp, mask, given, call, file, line);
}

// What a lane brought to the meeting; garbage if the lane took no part in it.
inline uint64_t given_by(unsigned lane)
{
    if (!(current->partners >> lane & 1))
        return 0xa5a5a5a5a5a5a5a5ull;
    return threads[(thread_number() & ~31u) + lane].exchanged;
}

// Called before each access to memory in a library that is compiled for it (see accesses.cuh).
// Lets another thread run after a random number of accesses, `interleave` on the average.
static unsigned interleave, accesses_left;

CUDA_ON_CPU_QUIET inline void give_way()
{
    if (!interleave || --accesses_left)
        return;
    Thread* self = current;
    current = nullptr;
    accesses_left = 1 + random_number() % (2 * interleave);
    leave(self, State::ready);
}

// Stands for the body of a loop that waits until another block has written something.
CUDA_ON_CPU_QUIET inline void wait_for_others()
{
    leave(current, State::waiting);
    accesses_left++;  // it looks again before it may give way, so that it is not taken to get on
}

// ---- for blocks.cpp

inline void fiber()
{
    run_kernel(kernel_call);
    leave(current, State::returned);
}

CUDA_ON_CPU_QUIET inline void enter(unsigned number)
{
    threadIdx = {number % blockDim.x, number / blockDim.x % blockDim.y,
                 number / blockDim.x / blockDim.y};
    current = &threads[number];
    switch_fiber(scheduler, current->context);
    current = nullptr;
}

inline void give_turn(Thread* block_threads, uint3 block, unsigned* total)
{
    threads = block_threads;
    blockIdx = block;
    block_total = total;
}

static Launch launched;

// Returns what went wrong, or null.
template <class Call>
const char* run_grid(const Launch& wanted, Call& call)
{
    launched = wanted;
    gridDim = dim3(wanted.grid[0], wanted.grid[1], wanted.grid[2]);
    blockDim = dim3(wanted.block[0], wanted.block[1], wanted.block[2]);
    random_state = wanted.seed;
    interleave = wanted.interleave;
    accesses_left = 1;
    thread_count = blockDim.x * blockDim.y * blockDim.z;
    *message = 0;
    run_kernel = [](void* function) { (*static_cast<Call*>(function))(); };
    kernel_call = &call;
    run_blocks(wanted, {fiber, enter, give_turn, random_number, fail, message,
                        __start_cuda_on_cpu_shared, dynamic_shared,
                        size_t(__stop_cuda_on_cpu_shared - __start_cuda_on_cpu_shared)});
    return *message ? message : nullptr;
}

}  // namespace cuda_on_cpu
