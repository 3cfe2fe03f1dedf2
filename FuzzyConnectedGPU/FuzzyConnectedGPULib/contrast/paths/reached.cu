// A list of the voxels whose level is above 0.

typedef unsigned short u16;
typedef unsigned int u32;

#define THREADS 256
#define EACH 16  // voxels of a thread

// list: `room` voxels, then their levels, then their contrasts (as bits), in any order. listed: their number, which
// may exceed the room; what has no room is counted alone.
extern "C" __global__ void __launch_bounds__(THREADS) list_reached(
    const u16* levels, const float* contrast, u32 count, u32 room, u32* listed, u32* list)
{
    __shared__ u32 in_block, place;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    // 64 bits: the last block may end beyond 2**32.
    unsigned long long begin = (unsigned long long)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    u32 found = 0, own = 0;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
        unsigned long long voxel = begin + n * THREADS;
        if (voxel < count && levels[voxel]) found |= 1u << n;
    }
    if (found) own = atomicAdd(&in_block, (u32)__popc(found));
    __syncthreads();
    if (threadIdx.x == 0 && in_block) place = atomicAdd(listed, in_block);
    __syncthreads();
    if (!found) return;
    u32 at = place + own;
    for (int n = 0; n < EACH; n++) {
        if (!(found >> n & 1)) continue;
        if (at < room) {
            u32 voxel = (u32)(begin + n * THREADS);
            list[at] = voxel;
            list[(size_t)room + at] = levels[voxel];
            list[2 * (size_t)room + at] = __float_as_int(contrast[voxel]);
        }
        at++;
    }
}
