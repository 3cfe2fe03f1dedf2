// What a kernel's library and the code that runs blocks have in common; see schedule.cuh.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fibers.cuh"
#include "types.cuh"

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

enum class Order { ascending, descending, shuffled };

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

// A kernel with its arguments, and its library's variables as far as blocks.cpp needs them.
struct Program {
    void (*fiber)();                    // what each thread of a kernel runs
    void (*enter)(unsigned number);     // a thread, until it waits or returns
    void (*give_turn)(Thread* threads, uint3 block, unsigned* total);
    uint64_t (*random_number)();
    void (*fail)(const char* format, ...);
    const char* message;                // empty as long as nothing has failed
    char *shared, *dynamic_shared;      // memory of the block whose turn it is
    size_t shared_size;
};

// Runs all blocks; stops when something goes wrong.
void run_blocks(const Launch& launch, const Program& program);

}  // namespace cuda_on_cpu
