// A barrier for all blocks of a cooperative launch (CudaDevice.launch_cooperative).
// What any thread wrote before it, every thread reads after it; not through __ldg or const __restrict__.
#pragma once

// Counts arrivals over all barriers of a launch: must be 0 before it. 32 bits are enough for 2^32 arrivals,
// millions of barriers.
__device__ void grid_sync(unsigned int* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned int expected = (atomicAdd(arrived, 1u) / gridDim.x + 1) * gridDim.x;
        while (*(volatile unsigned int*)arrived < expected) {}
        __threadfence();
    }
    __syncthreads();
}
