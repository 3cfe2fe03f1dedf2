// CUDA C++ for g++: put before a .cu file, it makes each kernel a function that the CPU can run.
// Each CUDA thread is a fiber. One runs at a time, to its next barrier or warp function; blocks run
// one after another. Both run in ascending or descending order, as the caller wants it: results that
// depend on it show a missing barrier. Races are looked for on a card, by compute-sanitizer.
// Not covered: the GPU's memory model, textures, cooperative groups. Needs x86-64.
#pragma once
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))

struct uint3 { unsigned x, y, z; };
static uint3 threadIdx, blockIdx, blockDim, gridDim;

// Everything that kernels declare __shared__ lies in one section, which the linker delimits.
#define __shared__ static __attribute__((section("cuda_on_cpu_shared")))
extern "C" {
extern char __start_cuda_on_cpu_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_cuda_on_cpu_shared[] __attribute__((weak, visibility("hidden")));
}

namespace cuda_on_cpu {

// ---- fibers: functions on stacks of their own that can be left and entered again

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

enum class State { fresh, ready, at_barrier, at_warp, returned };

struct Thread {
    void* stack_pointer;
    State state;
    char* stack;
    const char* call;  // the barrier or warp function at which the thread waits, and its line
    int line;
    unsigned mask;       // of a warp function
    uint64_t given;      // what the thread brings to the meeting
    uint64_t exchanged;  // what it brought to the last meeting that took place
    unsigned partners;   // the lanes that took part in it
};

// How a kernel is launched; the caller fills it in.
struct Launch {
    unsigned grid[3], block[3];
    unsigned dynamic_shared;   // bytes
    int descending;            // whether blocks and threads run from the last to the first
};

constexpr size_t stack_size = 64 * 1024, shared_limit = 48 * 1024;
constexpr uint64_t end_mark = 0x5af3107a4000beefull;

static Launch launched;
static std::vector<Thread> threads;  // of the block that runs
static Thread* current;
static unsigned returned;  // of the threads
static unsigned total;     // of what they brought to the last barrier
static void* scheduler;   // its stack
static void (*run_kernel)(void*);
static void* kernel_call;
static char message[1024];  // empty as long as nothing has failed
alignas(16) static char dynamic_shared[shared_limit + sizeof(uint64_t)];
static std::vector<char*> free_stacks;

// ---- inside a thread

inline void leave(Thread* self, State state)
{
    current = nullptr;
    self->state = state;
    cuda_on_cpu_switch(&self->stack_pointer, scheduler);
    asm volatile("" ::: "memory");
}

inline void fail(const char* format, ...)
{
    Thread* self = current;
    current = nullptr;
    int used = snprintf(message, sizeof message, "block (%u,%u,%u), thread (%u,%u,%u): ", blockIdx.x,
                        blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    va_list values;
    va_start(values, format);
    vsnprintf(message + used, sizeof message - used, format, values);
    va_end(values);
    if (self)
        leave(self, State::returned);
}

inline unsigned lane_number() { return (current - threads.data()) % 32; }

inline void meet(State where, unsigned mask, uint64_t given, const char* call, int line)
{
    if (where == State::at_warp && !(mask >> lane_number() & 1))
        fail("%s (line %d): the mask %08x leaves out the calling lane", call, line, mask);
    current->mask = mask;
    current->given = given;
    current->call = call;
    current->line = line;
    leave(current, where);
}

// What a lane brought to the meeting; garbage if the lane took no part in it.
inline uint64_t given_by(unsigned lane)
{
    unsigned first = (current - threads.data()) & ~31u;
    return current->partners >> lane & 1 ? threads[first + lane].exchanged : 0xa5a5a5a5a5a5a5a5ull;
}

// ---- between the threads

inline unsigned nth(unsigned n, unsigned count)
{
    return launched.descending ? count - 1 - n : n;
}

static bool same_call(const Thread& a, const Thread& b)
{
    return a.state == b.state && a.line == b.line && !strcmp(a.call, b.call);
}

// Says where threads are that wait, each place once.
static void report_divergence()
{
    char text[800] = "";
    unsigned used = snprintf(text, sizeof text, "%u returned", returned);
    const Thread* last = nullptr;
    for (unsigned i = 0; i < threads.size() && used < sizeof text; i++)
        if (threads[i].state != State::returned && !(last && same_call(threads[i], *last))) {
            last = &threads[i];
            used += snprintf(text + used, sizeof text - used, ", thread %u at %s (line %d)", i,
                             last->call, last->line);
        }
    fail("divergent barrier: %s", text);
}

static bool release_block()
{
    unsigned sum = 0;
    for (unsigned i = 0; i < threads.size(); i++) {
        if (threads[i].state != State::at_barrier || !same_call(threads[i], threads[0]))
            return false;
        sum += threads[i].given;
    }
    for (unsigned i = 0; i < threads.size(); i++)
        threads[i].state = State::ready;
    total = sum;
    return true;
}

static bool release_lanes(Thread* warp, unsigned size, unsigned first)
{
    unsigned mask = warp[first].mask, partners = 0;
    for (unsigned lane = 0; lane < size; lane++) {
        if (!(mask >> lane & 1) || warp[lane].state == State::returned)
            continue;
        if (warp[lane].state != State::at_warp || warp[lane].mask != mask ||
            strcmp(warp[lane].call, warp[first].call))
            return false;
        partners |= 1u << lane;
    }
    for (unsigned lane = 0; lane < size; lane++)
        if (partners >> lane & 1) {
            warp[lane].exchanged = warp[lane].given;
            warp[lane].partners = partners;
            warp[lane].state = State::ready;
        }
    return true;
}

static bool release_warps()
{
    bool released = false;
    for (unsigned n = 0; n < threads.size(); n++) {
        unsigned first = n & ~31u, size = threads.size() - first < 32 ? threads.size() - first : 32;
        if (threads[n].state == State::at_warp)
            released |= release_lanes(&threads[first], size, n - first);
    }
    return released;
}

inline void fiber()
{
    run_kernel(kernel_call);
    leave(current, State::returned);
}

static void run_thread(unsigned number)
{
    Thread& thread = threads[number];
    if (thread.state == State::fresh) {
        if (free_stacks.empty())
            free_stacks.push_back(static_cast<char*>(malloc(stack_size)));
        thread.stack = free_stacks.back();
        free_stacks.pop_back();
        memcpy(thread.stack, &end_mark, sizeof end_mark);
        void** top = reinterpret_cast<void**>((uintptr_t(thread.stack) + stack_size) & ~15ul);
        *--top = nullptr;  // where the function would return to; keeps the stack aligned
        *--top = reinterpret_cast<void*>(fiber);
        for (int saved = 0; saved < 6; saved++)
            *--top = nullptr;
        thread.stack_pointer = top;
        thread.state = State::ready;
    }
    threadIdx = {number % blockDim.x, number / blockDim.x % blockDim.y,
                 number / blockDim.x / blockDim.y};
    current = &thread;
    cuda_on_cpu_switch(&scheduler, thread.stack_pointer);
    current = nullptr;
    if (memcmp(thread.stack, &end_mark, sizeof end_mark) && !*message)
        fail("a thread uses more than %zu bytes of stack", stack_size);
    if (thread.state == State::returned)
        free_stacks.push_back(thread.stack);
}

// ---- blocks

// Lets each thread run to its next barrier, or all of them meet there.
static void run_threads()
{
    bool ran = false;
    for (unsigned n = 0; n < threads.size(); n++) {
        unsigned number = nth(n, threads.size());
        if (threads[number].state <= State::ready) {
            run_thread(number);
            if (*message)
                return;
            ran = true;
            returned += threads[number].state == State::returned;
        }
    }
    if (!ran && !release_block() && !release_warps())
        report_divergence();
    if (memcmp(dynamic_shared + launched.dynamic_shared, &end_mark, sizeof end_mark))
        fail("a write behind the %u bytes of dynamic shared memory", launched.dynamic_shared);
}

// Returns what went wrong, or null.
static const char* run_blocks()
{
    unsigned count = gridDim.x * gridDim.y * gridDim.z;
    for (unsigned n = 0; n < count && !*message; n++) {
        unsigned number = nth(n, count);
        blockIdx = {number % gridDim.x, number / gridDim.x % gridDim.y,
                    number / gridDim.x / gridDim.y};
        threads.assign(blockDim.x * blockDim.y * blockDim.z, Thread{nullptr, State::fresh});
        returned = 0;
        size_t size = __stop_cuda_on_cpu_shared - __start_cuda_on_cpu_shared;
        memset(__start_cuda_on_cpu_shared, 0xa5, size);  // garbage, as on a GPU
        memset(dynamic_shared, 0xa5, launched.dynamic_shared);
        memcpy(dynamic_shared + launched.dynamic_shared, &end_mark, sizeof end_mark);
        while (returned < threads.size() && !*message)
            run_threads();
    }
    for (const Thread& thread : threads)
        if (thread.state != State::fresh && thread.state != State::returned)
            free_stacks.push_back(thread.stack);
    return *message ? message : nullptr;
}

// ---- launches

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
    int pointed = std::is_pointer_v<T> ? -1 : 0;
    if constexpr (std::is_pointer_v<T> && std::is_arithmetic_v<Pointed>)
        pointed = sizeof(Pointed);
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
const char* launch(void (*kernel)(Types...), void** arguments, std::index_sequence<Index...>)
{
    auto call = [&] { kernel(*static_cast<std::remove_reference_t<Types>*>(arguments[Index])...); };
    run_kernel = [](void* function) { (*static_cast<decltype(call)*>(function))(); };
    kernel_call = &call;
    return run_blocks();
}

template <class... Types>
const char* launch(void (*kernel)(Types...), const Launch& wanted, void** arguments)
{
    launched = wanted;
    gridDim = {wanted.grid[0], wanted.grid[1], wanted.grid[2]};
    blockDim = {wanted.block[0], wanted.block[1], wanted.block[2]};
    *message = 0;
    return launch(kernel, arguments, std::index_sequence_for<Types...>{});
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_EXPORT extern "C" __attribute__((visibility("default")))
// Makes a kernel callable from outside; BOUND is the number in its __launch_bounds__, or 1024.
#define CUDA_ON_CPU_KERNEL(NAME, BOUND)                                                            \
    CUDA_ON_CPU_EXPORT int describe_##NAME(cuda_on_cpu::Parameter* parameters, int* bound)         \
    {                                                                                              \
        *bound = BOUND;                                                                            \
        return cuda_on_cpu::describe_all(NAME, parameters);                                        \
    }                                                                                              \
    CUDA_ON_CPU_EXPORT const char* launch_##NAME(const cuda_on_cpu::Launch* wanted, void** values) \
    {                                                                                              \
        return cuda_on_cpu::launch(NAME, *wanted, values);                                         \
    }
// Makes an array in constant memory writable from outside.
#define CUDA_ON_CPU_CONSTANT(NAME)                                                                 \
    CUDA_ON_CPU_EXPORT void* constant_##NAME(size_t* size)                                         \
    {                                                                                              \
        *size = sizeof NAME;                                                                       \
        return NAME;                                                                               \
    }

#include "intrinsics.cuh"
