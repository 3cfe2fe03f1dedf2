// CUDA C++ for g++: put before a .cu file, it makes each kernel a function that the CPU can run.
// Each CUDA thread is a fiber. One runs at a time; they meet at barriers and in warp functions. The
// order in which ready threads run is chosen by the caller: results that depend on it show a missing
// barrier or a race. Of several blocks that are resident at a time each runs a while in turn.
// Not covered: the GPU's memory model, textures, cooperative groups. Needs x86-64.
#pragma once
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
// Accesses to memory in such a function are not watched.
#define CUDA_ON_CPU_QUIET __attribute__((no_sanitize("thread")))

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
enum class Order { ascending, descending, shuffled };

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

// A block that has begun. While another one has its turn, its shared memory lies in `saved_shared`.
struct Block {
    uint3 index;
    std::vector<Thread> threads;
    std::vector<char> saved_shared;
    unsigned returned, total;  // total: of what its threads brought to the last barrier
};

// How a kernel is launched; the caller fills it in.
struct Launch {
    unsigned grid[3], block[3];
    unsigned dynamic_shared;  // bytes
    int order;
    uint64_t seed;
    unsigned interleave;       // accesses to memory between two changes of the thread; 0: no change
    unsigned resident_blocks;  // blocks that run at a time
    unsigned array_count;
    const char* const* arrays;  // where each array begins and ends, in turn
    unsigned margin;            // bytes round each array that belong to nobody
};

constexpr size_t stack_size = 64 * 1024, shared_limit = 48 * 1024;
constexpr uint64_t end_mark = 0x5af3107a4000beefull;

static Launch launched;
static Block* resident;   // the block whose turn it is
static Thread *threads, *current;
static unsigned thread_count;
static void* scheduler;   // its stack
static void (*run_kernel)(void*);
static void* kernel_call;
static char message[1024];  // empty as long as nothing has failed
alignas(16) static char dynamic_shared[shared_limit + sizeof(uint64_t)];
static uint64_t random_state;
static unsigned accesses_left;
static std::vector<char*> free_stacks;

CUDA_ON_CPU_QUIET inline uint64_t random_number()  // splitmix64
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
    cuda_on_cpu_switch(&self->stack_pointer, scheduler);
    asm volatile("" ::: "memory");
}

CUDA_ON_CPU_QUIET inline void fail(const char* format, ...)
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

inline unsigned lane_number() { return (current - threads) % 32; }

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
    unsigned first = (current - threads) & ~31u;
    return current->partners >> lane & 1 ? threads[first + lane].exchanged : 0xa5a5a5a5a5a5a5a5ull;
}

// Before each access to memory: another thread runs after `interleave` accesses on the average.
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
    if (!launched.interleave || --accesses_left)
        return;
    Thread* self = current;
    current = nullptr;
    accesses_left = 1 + random_number() % (2 * launched.interleave);
    leave(self, State::ready);
}

// ---- between the threads

CUDA_ON_CPU_QUIET static void arrange(std::vector<unsigned>& sequence)
{
    unsigned n = sequence.size();
    for (unsigned i = 0; i < n; i++)
        sequence[i] = Order(launched.order) == Order::descending ? n - 1 - i : i;
    if (Order(launched.order) == Order::shuffled)
        for (unsigned i = n; i > 1; i--)
            std::swap(sequence[i - 1], sequence[random_number() % i]);
}

CUDA_ON_CPU_QUIET static bool same_call(const Thread& a, const Thread& b)
{
    return a.state == b.state && a.line == b.line && !strcmp(a.call, b.call);
}

// Says where threads are that wait, each place once.
CUDA_ON_CPU_QUIET static void report_divergence()
{
    char text[800] = "";
    unsigned used = snprintf(text, sizeof text, "%u returned", resident->returned);
    const Thread* last = nullptr;
    for (unsigned i = 0; i < thread_count && used < sizeof text; i++)
        if (threads[i].state != State::returned && !(last && same_call(threads[i], *last))) {
            last = &threads[i];
            used += snprintf(text + used, sizeof text - used, ", thread %u at %s (line %d)", i,
                             last->call, last->line);
        }
    fail("divergent barrier: %s", text);
}

CUDA_ON_CPU_QUIET static bool release_block()
{
    unsigned total = 0;
    for (unsigned i = 0; i < thread_count; i++) {
        if (threads[i].state != State::at_barrier || !same_call(threads[i], threads[0]))
            return false;
        total += threads[i].given;
    }
    for (unsigned i = 0; i < thread_count; i++)
        threads[i].state = State::ready;
    resident->total = total;
    return true;
}

CUDA_ON_CPU_QUIET static bool release_lanes(Thread* warp, unsigned size, unsigned first)
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

CUDA_ON_CPU_QUIET static bool release_warps()
{
    bool released = false;
    for (unsigned n = 0; n < thread_count; n++) {
        unsigned first = n & ~31u, size = thread_count - first < 32 ? thread_count - first : 32;
        if (threads[n].state == State::at_warp)
            released |= release_lanes(threads + first, size, n - first);
    }
    return released;
}

inline void fiber()
{
    run_kernel(kernel_call);
    leave(current, State::returned);
}

CUDA_ON_CPU_QUIET static void run_thread(unsigned number)
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

// Copies the shared memory of the block whose turn it is to (or from) where it lies meanwhile.
CUDA_ON_CPU_QUIET static void move_shared(Block& block, bool save)
{
    size_t size = __stop_cuda_on_cpu_shared - __start_cuda_on_cpu_shared;
    block.saved_shared.resize(size + launched.dynamic_shared);
    char *here[] = {__start_cuda_on_cpu_shared, dynamic_shared}, *there = block.saved_shared.data();
    size_t sizes[] = {size, launched.dynamic_shared};
    for (int n = 0; n < 2; there += sizes[n++])
        save ? memcpy(there, here[n], sizes[n]) : memcpy(here[n], there, sizes[n]);
}

// Gives the turn to a block.
CUDA_ON_CPU_QUIET static void make_resident(Block& block)
{
    if (&block == resident)
        return;
    if (resident)
        move_shared(*resident, true);
    resident = &block;
    threads = block.threads.data();
    blockIdx = block.index;
    move_shared(block, false);
}

CUDA_ON_CPU_QUIET static void begin_block(Block& block, unsigned number)
{
    if (resident)
        move_shared(*resident, true);
    resident = nullptr;
    block.index = {number % gridDim.x, number / gridDim.x % gridDim.y,
                   number / gridDim.x / gridDim.y};
    block.threads.assign(thread_count, Thread{nullptr, State::fresh});
    block.returned = 0;
    size_t size = __stop_cuda_on_cpu_shared - __start_cuda_on_cpu_shared;
    block.saved_shared.assign(size + launched.dynamic_shared, '\xa5');  // garbage, as on a GPU
    memcpy(dynamic_shared + launched.dynamic_shared, &end_mark, sizeof end_mark);
}

// Lets each thread of the block whose turn it is run to its next barrier, or all of them meet there.
CUDA_ON_CPU_QUIET static void run_threads()
{
    static std::vector<unsigned> sequence;
    sequence.resize(thread_count);
    bool ran = false;
    arrange(sequence);
    for (unsigned number : sequence)
        if (threads[number].state <= State::ready) {
            run_thread(number);
            if (*message)
                return;
            ran = true;
            resident->returned += threads[number].state == State::returned;
        }
    if (!ran && !release_block() && !release_warps())
        report_divergence();
    if (memcmp(dynamic_shared + launched.dynamic_shared, &end_mark, sizeof end_mark))
        fail("a write behind the %u bytes of dynamic shared memory", launched.dynamic_shared);
}

// One turn of a block: until it has ended; with shuffled threads it may be shorter.
CUDA_ON_CPU_QUIET static void run_block(Block& block)
{
    make_resident(block);
    unsigned left = Order(launched.order) == Order::shuffled ? 1 + random_number() % 8 : ~0u;
    while (left-- && block.returned < thread_count && !*message)
        run_threads();
}

// Returns what went wrong, or null.
CUDA_ON_CPU_QUIET static const char* run_blocks()
{
    std::vector<unsigned> sequence(gridDim.x * gridDim.y * gridDim.z), turns;
    arrange(sequence);
    std::vector<std::unique_ptr<Block>> blocks;
    size_t begun = 0;
    bool is_left = true;
    while (!*message && is_left) {
        for (auto& block : blocks)
            if (block->returned == thread_count && begun < sequence.size())
                begin_block(*block, sequence[begun++]);
        while (blocks.size() < launched.resident_blocks && begun < sequence.size()) {
            blocks.push_back(std::make_unique<Block>());
            begin_block(*blocks.back(), sequence[begun++]);
        }
        turns.resize(blocks.size());
        arrange(turns);
        is_left = false;
        for (unsigned turn : turns)
            if (!*message && blocks[turn]->returned < thread_count) {
                run_block(*blocks[turn]);
                is_left = true;
            }
    }
    resident = nullptr;
    for (auto& block : blocks)
        for (const Thread& thread : block->threads)
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
    thread_count = blockDim.x * blockDim.y * blockDim.z;
    random_state = wanted.seed;
    accesses_left = 1;
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

// ---- accesses: g++ -fsanitize=thread calls one of these before each; its own library is not linked

#ifdef __SANITIZE_THREAD__
#define CUDA_ON_CPU_ACCESS(NAME, ...)                                                              \
    extern "C" CUDA_ON_CPU_QUIET void __tsan_##NAME(void* address __VA_ARGS__)                     \
    {                                                                                              \
        cuda_on_cpu::before_access(static_cast<const char*>(address));                             \
    }
#define CUDA_ON_CPU_SIZES(NAME)                                                                    \
    CUDA_ON_CPU_ACCESS(NAME##1)                                                                    \
    CUDA_ON_CPU_ACCESS(NAME##2)                                                                    \
    CUDA_ON_CPU_ACCESS(NAME##4)                                                                    \
    CUDA_ON_CPU_ACCESS(NAME##8)                                                                    \
    CUDA_ON_CPU_ACCESS(NAME##16)
CUDA_ON_CPU_SIZES(read)
CUDA_ON_CPU_SIZES(write)
CUDA_ON_CPU_SIZES(unaligned_read)
CUDA_ON_CPU_SIZES(unaligned_write)
CUDA_ON_CPU_ACCESS(read_range, , size_t)
CUDA_ON_CPU_ACCESS(write_range, , size_t)
extern "C" CUDA_ON_CPU_QUIET void __tsan_init() {}
extern "C" CUDA_ON_CPU_QUIET void __tsan_func_entry(void*) {}
extern "C" CUDA_ON_CPU_QUIET void __tsan_func_exit() {}
extern "C" CUDA_ON_CPU_QUIET void __tsan_vptr_update(void**, void*) {}
#endif

#include "intrinsics.cuh"
