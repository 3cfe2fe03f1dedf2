// A barrier for all blocks of a launch, which must run at the same time (CudaDevice.launch_together).
// What any thread wrote before it, every thread reads after it; not through __ldg or const __restrict__.
#pragma once

// Counts what arrives, over all barriers of a launch: must be 0 before it. 32 bits are enough for 2^32
// arrivals, millions of barriers.
__device__ void wait_for_all_blocks(unsigned int* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned int wanted = (atomicAdd(arrived, 1u) / gridDim.x + 1) * gridDim.x;
        while (*(volatile unsigned int*)arrived < wanted) {}
        __threadfence();
    }
    __syncthreads();
}
