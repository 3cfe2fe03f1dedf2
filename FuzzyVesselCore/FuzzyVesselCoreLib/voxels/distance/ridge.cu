// The ridge of the distance to the outside, and the removal order of voxels.

// Lists the depths of the voxels that none of their 26 neighbours exceeds in depth, in no order;
// `count` becomes their number, also where it exceeds the list's capacity. A block takes
// a row, without the box's own border.
extern "C" __global__ void list_ridge(const float* __restrict__ depth, int rows, int width,
                                      int capacity, int* __restrict__ count, float* __restrict__ ridge)
{
    int k = blockIdx.x / (rows - 2) + 1, j = blockIdx.x % (rows - 2) + 1;
    const float* row = depth + ((long long)k * rows + j) * width;
    for (int i = threadIdx.x + 1; i < width - 1; i += blockDim.x) {
        float own = row[i];
        bool deepest = own > 0;
        for (int n = 4; n < 13 && deepest; n++) {  // from its own row on, where most have a deeper one
            int plane = n % 9 / 3 - 1, line = n % 3 - 1;
            const float* beside = row + ((long long)plane * rows + line) * width + i;
            deepest = beside[-1] <= own && beside[0] <= own && beside[1] <= own;
        }
        if (deepest) {
            int place = atomicAdd(count, 1);
            if (place < capacity)
                ridge[place] = own;
        }
    }
}

// The removal order of some voxels, one a thread: see `ridge.order_of`.
extern "C" __global__ void removal_order(const float* __restrict__ depth, int planes, int rows,
                                    int width, const long long* __restrict__ voxels,
                                    long long count, float* __restrict__ order)
{
    long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    long long voxel = voxels[n], line = voxel / width;
    int i = voxel % width, j = line % rows, k = line / rows;
    bool at_border = k == 0 || k == planes - 1 || j == 0 || j == rows - 1 || i == 0 ||
                     i == width - 1;
    float own = depth[voxel], sum = 0.0f;
    if (at_border || !(own > 0)) {
        order[n] = 0.0f;
        return;
    }
    for (int side = 0; side < 27; side++)
        sum += depth[voxel + ((side / 9 - 1) * (long long)rows + side / 3 % 3 - 1) * width +
                     side % 3 - 1];
    order[n] = (own + sum / 27.0f) / 2.0f;
}
