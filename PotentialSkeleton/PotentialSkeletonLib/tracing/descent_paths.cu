// From each voxel the path along falling distances, as far as there is no force; of equally near
// neighbours to the first. Writes as many of its voxels as the capacity allows, and its length. The
// voxels of an object are flat indices; it does not touch the volume's border.
extern "C" __global__ void follow_descent_paths(const int* distances, const float* forces, int row,
                                                int plane, const int* starts, int count,
                                                int capacity, int* paths, int* lengths)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    int voxel = starts[n], length = 0;
    while (true) {
        if (length < capacity) paths[(long long)n * capacity + length] = voxel;
        length++;
        const float* force = forces + 3 * (long long)voxel;
        if (forces && (force[0] != 0 || force[1] != 0 || force[2] != 0)) break;
        int nearest = voxel, least = distances[voxel];
        for (int side = 0; side < 27; side++) {
            int other = voxel + (side / 9 - 1) * plane + (side / 3 % 3 - 1) * row + side % 3 - 1;
            int distance = distances[other];
            if (distance >= 0 && distance < least) {
                nearest = other;
                least = distance;
            }
        }
        if (nearest == voxel) break;
        voxel = nearest;
    }
    lengths[n] = length;
}
