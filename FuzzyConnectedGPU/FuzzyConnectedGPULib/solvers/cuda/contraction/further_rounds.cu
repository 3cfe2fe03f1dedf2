// defines: NODE=u8
//
// All rounds of contraction from the second on. A file of its own, as it is compiled at the same time as
// node_rounds.cu.

#include "rounds.cuh"

// The nodes of the first round: their numbers in the second one, and the weights of the edges by which they
// hooked, where their connectedness is written.
struct FirstNodes
{
    u32 count;
    const u32* next;
    u16* weights;
};

// Rounds until no edge is left, then back to the nodes of the first round.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS, ROUND_BLOCKS)
    further_rounds(BothLists lists, Rounds all, FirstNodes first)
{
    u32 *arrived = all.arrived(), rounds = all.hook(lists);
    FOR_NODES(n, all.now) all.weights[n] = n ? 0 : TOP;  // no path leads to the others
    while (rounds--) {
        grid_sync(arrived);
        u16* later = all.weights;
        u32 now = rounds ? all.counts[2 * rounds - 2] + 1 : all.nodes;
        all.next -= now;
        all.weights -= now;
        FOR_NODES(n, now) all.weights[n] = min(all.weights[n], later[all.next[n]]);
    }
    grid_sync(arrived);
    FOR_NODES(n, first.count) first.weights[n] = min(first.weights[n], all.weights[first.next[n]]);
}
