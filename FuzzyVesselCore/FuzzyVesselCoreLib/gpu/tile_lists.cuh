// Work lists of active tiles: a kernel visits the tiles of one round and lists those of the next one.
#pragma once

// lists: two lists of tiles, in turn a round's and the next one's. counts: their lengths in turn of
// three, so that the third can be cleared meanwhile. listed: the last round that each tile was listed
// for, counted from 1; 0 for never.
struct TileLists
{
    int *lists, *counts, *listed;

    // List a tile for a round, once. Returns the last round that it was listed for, counted from 1.
    __device__ int add(int tile, int round, long long tile_count) const
    {
        int before = atomicExch(&listed[tile], round + 1);
        if (before != round + 1) lists[(round & 1) * tile_count + atomicAdd(&counts[round % 3], 1)] = tile;
        return before;
    }

    // The tiles of a round, counts[round % 3] of them; clears the list after the next. All blocks.
    __device__ const int* begin_round(int round, long long tile_count) const
    {
        if (blockIdx.x == 0 && threadIdx.x == 0) counts[(round + 2) % 3] = 0;
        return lists + (round & 1) * tile_count;
    }
};
