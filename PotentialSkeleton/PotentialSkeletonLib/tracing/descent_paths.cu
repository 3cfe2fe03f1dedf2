// From each voxel the way along falling distances, as far as there is no force; of equally near
// neighbours to the first. Writes as many of its voxels as there is room for, and its length. The
// voxels of an object are flat indices; it does not touch the volume's border.
extern "C" __global__ void follow_ways_in(const int* distances, const float* forces, int row,
                                          int plane, const int* from, int count, int room, int* ways,
                                          int* sizes)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    int voxel = from[n], size = 0;
    while (true) {
        if (size < room) ways[(long long)n * room + size] = voxel;
        size++;
        const float* force = forces + 3 * (long long)voxel;
        if (forces && (force[0] != 0 || force[1] != 0 || force[2] != 0)) break;
        int nearest = voxel, least = distances[voxel];
        for (int side = 0; side < 27; side++) {
            int other = voxel + (side / 9 - 1) * plane + (side / 3 % 3 - 1) * row + side % 3 - 1;
            int there = distances[other];
            if (there >= 0 && there < least) {
                nearest = other;
                least = there;
            }
        }
        if (nearest == voxel) break;
        voxel = nearest;
    }
    sizes[n] = size;
}
