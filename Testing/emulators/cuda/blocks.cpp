// Runs the threads of a block as fibers, one at a time, and lets them meet at barriers. Of several
// blocks that are resident at a time each runs a while in turn.
// The order in which ready threads run is chosen by the caller: results that depend on it show a
// missing barrier or a race.
// Compiled once and linked into each kernel's library, whose variables it reaches by `Program`.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "launch.cuh"

namespace cuda_on_cpu {

// A block that has begun. While another one has its turn, its shared memory lies in `saved_shared`.
struct Block {
    uint3 index;
    std::vector<Thread> threads;
    std::vector<char> saved_shared;
    unsigned returned;
    unsigned total;  // of what its threads brought to the last barrier
};

static Program program;
static Order order;
static dim3 grid;
static unsigned thread_count;
static size_t dynamic_size;
static Block* resident;  // the block whose turn it is
static Thread* threads;  // its own
static std::vector<char*> free_stacks;
static std::vector<unsigned> thread_order;

static void arrange(std::vector<unsigned>& sequence)
{
    unsigned n = sequence.size();
    for (unsigned i = 0; i < n; i++)
        sequence[i] = order == Order::descending ? n - 1 - i : i;
    if (order == Order::shuffled)
        for (unsigned i = n; i > 1; i--)
            std::swap(sequence[i - 1], sequence[program.random_number() % i]);
}

// ---- between the threads

static bool same_call(const Thread& a, const Thread& b)
{
    return a.line == b.line && !strcmp(a.call, b.call) && !strcmp(a.file, b.file);
}

// Says where all threads are, in groups.
static void report_divergence()
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
    program.fail("divergent barrier, of %u threads%s", thread_count, text);
}

static bool release_block()
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

static bool release_lanes(Thread* warp, unsigned size, unsigned first)
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

static bool release_warps()
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

static void run_thread(unsigned number)
{
    Thread& thread = threads[number];
    if (thread.state == State::fresh) {
        if (free_stacks.empty())
            free_stacks.push_back(static_cast<char*>(malloc(stack_size)));
        thread.stack = free_stacks.back();
        free_stacks.pop_back();
        memcpy(thread.stack, &end_mark, sizeof end_mark);
        thread.context.prepare(thread.stack, stack_size, program.fiber);
        thread.state = State::ready;
    }
    program.enter(number);
    if (memcmp(thread.stack, &end_mark, sizeof end_mark) && !*program.message)
        program.fail("a thread uses more than %zu bytes of stack", stack_size);
    if (thread.state == State::returned)
        free_stacks.push_back(thread.stack);
}

// Gives the turn to a block, or to none.
static void make_resident(Block* block)
{
    if (block == resident)
        return;
    if (resident) {
        resident->saved_shared.resize(program.shared_size + dynamic_size);
        char* saved = resident->saved_shared.data();
        memcpy(saved, program.shared, program.shared_size);
        memcpy(saved + program.shared_size, program.dynamic_shared, dynamic_size);
    }
    resident = block;
    if (!block)
        return;
    threads = block->threads.data();
    program.give_turn(threads, block->index, &block->total);
    if (block->saved_shared.empty())
        return;
    const char* saved = block->saved_shared.data();
    memcpy(program.shared, saved, program.shared_size);
    memcpy(program.dynamic_shared, saved + program.shared_size, dynamic_size);
}

// Begins a block and gives it the turn.
static void begin_block(Block& block, unsigned number)
{
    make_resident(nullptr);
    block.index = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    block.threads.resize(thread_count);
    block.saved_shared.clear();
    block.returned = 0;
    for (Thread& thread : block.threads)
        thread.state = State::fresh;
    make_resident(&block);
    memset(program.shared, garbage, program.shared_size);
    memset(program.dynamic_shared, garbage, dynamic_size);
    memcpy(program.dynamic_shared + dynamic_size, &end_mark, sizeof end_mark);
}

// Lets each thread of the block whose turn it is run to its next barrier, or all of them meet there.
// Returns whether any got on.
static bool run_threads()
{
    thread_order.resize(thread_count);
    bool ran = false, got_on = false;
    arrange(thread_order);
    for (unsigned number : thread_order)
        if (threads[number].state <= State::waiting) {
            run_thread(number);
            if (*program.message)
                return false;
            ran = true;
            got_on |= threads[number].state != State::waiting;
            resident->returned += threads[number].state == State::returned;
        }
    if (!ran && !(got_on = release_block() || release_warps()))
        report_divergence();
    if (resident->returned == thread_count &&
        memcmp(program.dynamic_shared + dynamic_size, &end_mark, sizeof end_mark))
        program.fail("a write behind the %zu bytes of dynamic shared memory", dynamic_size);
    return got_on;
}

// One turn of a block: until it has ended or waits for another one. With shuffled threads a turn may
// be shorter. Returns whether it got on.
static bool run_block(Block& block)
{
    make_resident(&block);
    bool got_on = false;
    unsigned left = order == Order::shuffled ? 1 + program.random_number() % 8 : ~0u;
    while (left-- && block.returned < thread_count && run_threads())
        got_on = true;
    return got_on;
}

static void give_back_stacks(const Block& block)
{
    for (const Thread& thread : block.threads)
        if (thread.state != State::fresh && thread.state != State::returned)
            free_stacks.push_back(thread.stack);
}

void run_blocks(const Launch& launch, const Program& kernel)
{
    program = kernel;
    order = static_cast<Order>(launch.order);
    grid = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    thread_count = launch.block[0] * launch.block[1] * launch.block[2];
    dynamic_size = launch.dynamic_shared;
    std::vector<unsigned> sequence(grid.x * grid.y * grid.z), turns;
    arrange(sequence);
    std::vector<std::unique_ptr<Block>> begun_blocks;
    size_t begun = 0;
    while (!*program.message) {
        for (auto& block : begun_blocks)
            if (block->returned == thread_count && begun < sequence.size())
                begin_block(*block, sequence[begun++]);
        while (begun_blocks.size() < launch.resident_blocks && begun < sequence.size()) {
            begun_blocks.push_back(std::make_unique<Block>());
            begin_block(*begun_blocks.back(), sequence[begun++]);
        }
        turns.resize(begun_blocks.size());
        arrange(turns);
        bool got_on = false, is_left = false;
        for (unsigned turn : turns)
            if (!*program.message && begun_blocks[turn]->returned < thread_count) {
                got_on |= run_block(*begun_blocks[turn]);
                is_left = true;
            }
        if (!is_left)
            break;
        if (!got_on && !*program.message)
            program.fail("all blocks wait for one another");
    }
    resident = nullptr;
    for (auto& block : begun_blocks)
        give_back_stacks(*block);
}

}  // namespace cuda_on_cpu
