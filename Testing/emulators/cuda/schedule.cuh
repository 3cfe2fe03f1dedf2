// Runs the threads of a block as fibers, one at a time, and lets them meet at barriers. Of several
// blocks that are resident at a time each runs a while in turn.
// The order in which ready threads run is chosen by the caller: results that depend on it show a
// missing barrier or a race.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "fibers.cuh"
#include "types.cuh"

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

enum class State { fresh, ready, waiting, at_barrier, at_warp, returned };  // waiting: for another block

struct Thread {
    Context context;
    State state;
    char* stack;
    const char* call;  // the barrier or warp function at which the thread waits, and where
    const char* file;
    int line;
    unsigned mask;       // of a warp function
    uint64_t given;      // what the thread brings to the meeting
    uint64_t exchanged;  // what it brought to the last meeting that took place
    unsigned partners;   // the lanes that took part in it
};

constexpr size_t stack_size = 64 * 1024, shared_limit = 48 * 1024;
constexpr uint64_t end_mark = 0x5af3107a4000beefull;
constexpr char garbage = '\xa5';  // memory that CUDA leaves undefined

// A block that has begun. While another one has its turn, its shared memory lies in `saved_shared`.
struct Block {
    uint3 index;
    std::vector<Thread> threads;
    std::vector<char> saved_shared;
    unsigned returned;
    unsigned total;  // of what its threads brought to the last barrier
};

static Block* resident;  // the block whose turn it is
static Thread* threads;  // its own
static unsigned thread_count;
static Thread* current;
static Context scheduler;
static std::vector<char*> free_stacks;
static void (*run_kernel)(void*);
static void* kernel_call;
static char message[1024];
alignas(16) static char dynamic_shared[shared_limit + sizeof(uint64_t)];
static size_t dynamic_size;

// ---- the order of threads and blocks

enum class Order { ascending, descending, shuffled };
static Order order;
static uint64_t random_state;

inline uint64_t random_number()  // splitmix64
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

inline void arrange(std::vector<unsigned>& sequence)
{
    unsigned n = sequence.size();
    for (unsigned i = 0; i < n; i++)
        sequence[i] = order == Order::descending ? n - 1 - i : i;
    if (order == Order::shuffled)
        for (unsigned i = n; i > 1; i--)
            std::swap(sequence[i - 1], sequence[random_number() % i]);
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
    return resident->total;
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

// ---- between the threads

inline bool same_call(const Thread& a, const Thread& b)
{
    return a.line == b.line && !strcmp(a.call, b.call) && !strcmp(a.file, b.file);
}

// Says where all threads are, in groups.
inline void report_divergence()
{
    char text[800] = "";
    size_t used = 0;
    std::vector<bool> told(thread_count);
    for (unsigned i = 0; i < thread_count; i++) {
        if (told[i])
            continue;
        unsigned alike = 0;
        bool returned = threads[i].state == State::returned;
        for (unsigned j = i; j < thread_count; j++)
            if (threads[j].state == threads[i].state &&
                (returned || (same_call(threads[j], threads[i]) &&
                              threads[j].mask == threads[i].mask))) {
                told[j] = true;
                alike++;
            }
        if (used >= sizeof text)
            break;
        if (returned)
            used += snprintf(text + used, sizeof text - used, "; %u returned", alike);
        else
            used += snprintf(text + used, sizeof text - used, "; %u at %s (%s:%d)", alike,
                             threads[i].call, threads[i].file, threads[i].line);
    }
    fail("divergent barrier, of %u threads%s", thread_count, text);
}

inline bool release_block()
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

inline bool release_lanes(Thread* warp, unsigned size, unsigned first)
{
    Thread& caller = warp[first];
    unsigned partners = 0;
    for (unsigned lane = 0; lane < size; lane++) {
        if (!(caller.mask >> lane & 1) || warp[lane].state == State::returned)
            continue;
        if (warp[lane].state != State::at_warp || warp[lane].mask != caller.mask ||
            strcmp(warp[lane].call, caller.call))
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

inline bool release_warps()
{
    bool released = false;
    for (unsigned first = 0; first < thread_count; first += 32) {
        unsigned size = thread_count - first < 32 ? thread_count - first : 32;
        for (unsigned lane = 0; lane < size; lane++)
            if (threads[first + lane].state == State::at_warp)
                released |= release_lanes(threads + first, size, lane);
    }
    return released;
}

inline void fiber()
{
    run_kernel(kernel_call);
    leave(current, State::returned);
}

CUDA_ON_CPU_QUIET inline void run_thread(unsigned number)
{
    Thread& thread = threads[number];
    if (thread.state == State::fresh) {
        if (free_stacks.empty())
            free_stacks.push_back(static_cast<char*>(malloc(stack_size)));
        thread.stack = free_stacks.back();
        free_stacks.pop_back();
        memcpy(thread.stack, &end_mark, sizeof end_mark);
        thread.context.prepare(thread.stack, stack_size, fiber);
        thread.state = State::ready;
    }
    threadIdx = {number % blockDim.x, number / blockDim.x % blockDim.y,
                 number / blockDim.x / blockDim.y};
    current = &thread;
    switch_fiber(scheduler, thread.context);
    if (memcmp(thread.stack, &end_mark, sizeof end_mark) && !*message)
        snprintf(message, sizeof message, "a thread uses more than %zu bytes of stack", stack_size);
    current = nullptr;
    if (thread.state == State::returned)
        free_stacks.push_back(thread.stack);
}

inline size_t static_size() { return __stop_cuda_on_cpu_shared - __start_cuda_on_cpu_shared; }

// Gives the turn to a block, or to none.
inline void make_resident(Block* block)
{
    if (block == resident)
        return;
    if (resident) {
        resident->saved_shared.resize(static_size() + dynamic_size);
        memcpy(resident->saved_shared.data(), __start_cuda_on_cpu_shared, static_size());
        memcpy(resident->saved_shared.data() + static_size(), dynamic_shared, dynamic_size);
    }
    resident = block;
    if (!block)
        return;
    threads = block->threads.data();
    blockIdx = block->index;
    if (block->saved_shared.empty())
        return;
    memcpy(__start_cuda_on_cpu_shared, block->saved_shared.data(), static_size());
    memcpy(dynamic_shared, block->saved_shared.data() + static_size(), dynamic_size);
}

// Begins a block and gives it the turn.
inline void begin_block(Block& block, unsigned number)
{
    make_resident(nullptr);
    block.index = {number % gridDim.x, number / gridDim.x % gridDim.y, number / gridDim.x / gridDim.y};
    block.threads.resize(thread_count);
    block.saved_shared.clear();
    block.returned = 0;
    for (Thread& thread : block.threads)
        thread.state = State::fresh;
    make_resident(&block);
    memset(__start_cuda_on_cpu_shared, garbage, static_size());
    memset(dynamic_shared, garbage, dynamic_size);
    memcpy(dynamic_shared + dynamic_size, &end_mark, sizeof end_mark);
}

// Lets each thread of the block whose turn it is run to its next barrier, or all of them meet there.
// Returns whether any got on.
inline bool run_threads()
{
    static std::vector<unsigned> sequence;
    sequence.resize(thread_count);
    bool ran = false, got_on = false;
    arrange(sequence);
    for (unsigned number : sequence)
        if (threads[number].state <= State::waiting) {
            run_thread(number);
            if (*message)
                return false;
            ran = true;
            got_on |= threads[number].state != State::waiting;
            resident->returned += threads[number].state == State::returned;
        }
    if (!ran && !(got_on = release_block() || release_warps()))
        report_divergence();
    if (resident->returned == thread_count && memcmp(dynamic_shared + dynamic_size, &end_mark, sizeof end_mark))
        fail("a write behind the %zu bytes of dynamic shared memory", dynamic_size);
    return got_on;
}

// One turn of a block: until it has ended or waits for another one. With shuffled threads a turn may
// be shorter. Returns whether it got on.
inline bool run_block(Block& block)
{
    make_resident(&block);
    bool got_on = false;
    unsigned left = order == Order::shuffled ? 1 + random_number() % 8 : ~0u;
    while (left-- && block.returned < thread_count && run_threads())
        got_on = true;
    return got_on;
}

inline void give_back_stacks(const Block& block)
{
    for (const Thread& thread : block.threads)
        if (thread.state != State::fresh && thread.state != State::returned)
            free_stacks.push_back(thread.stack);
}

// How a kernel is launched; the caller fills it in.
struct Launch {
    unsigned grid[3], block[3];
    unsigned dynamic_shared;  // bytes
    int order;
    uint64_t seed;
    unsigned interleave;  // accesses to memory between two changes of the thread; 0: no change
    unsigned resident_blocks;  // blocks that run at a time
    unsigned array_count;
    const char* const* arrays;  // where each array begins and ends, in turn
    unsigned margin;            // bytes round each array that belong to nobody
};
static Launch launched;

// Runs all blocks; stops when something goes wrong.
inline void run_blocks()
{
    std::vector<unsigned> sequence(gridDim.x * gridDim.y * gridDim.z), turns;
    arrange(sequence);
    std::vector<std::unique_ptr<Block>> begun_blocks;
    size_t begun = 0;
    while (!*message) {
        for (auto& block : begun_blocks)
            if (block->returned == thread_count && begun < sequence.size())
                begin_block(*block, sequence[begun++]);
        while (begun_blocks.size() < launched.resident_blocks && begun < sequence.size()) {
            begun_blocks.push_back(std::make_unique<Block>());
            begin_block(*begun_blocks.back(), sequence[begun++]);
        }
        turns.resize(begun_blocks.size());
        arrange(turns);
        bool got_on = false, is_left = false;
        for (unsigned turn : turns)
            if (!*message && begun_blocks[turn]->returned < thread_count) {
                got_on |= run_block(*begun_blocks[turn]);
                is_left = true;
            }
        if (!is_left)
            break;
        if (!got_on && !*message)
            fail("all blocks wait for one another");
    }
    resident = nullptr;
    for (auto& block : begun_blocks)
        give_back_stacks(*block);
}

// Returns what went wrong, or null.
template <class Call>
const char* run_grid(const Launch& wanted, Call& call)
{
    launched = wanted;
    gridDim = dim3(wanted.grid[0], wanted.grid[1], wanted.grid[2]);
    blockDim = dim3(wanted.block[0], wanted.block[1], wanted.block[2]);
    dynamic_size = wanted.dynamic_shared;
    order = static_cast<Order>(wanted.order);
    random_state = wanted.seed;
    interleave = wanted.interleave;
    accesses_left = 1;
    thread_count = blockDim.x * blockDim.y * blockDim.z;
    *message = 0;
    run_kernel = [](void* function) { (*static_cast<Call*>(function))(); };
    kernel_call = &call;
    run_blocks();
    return *message ? message : nullptr;
}

}  // namespace cuda_on_cpu
