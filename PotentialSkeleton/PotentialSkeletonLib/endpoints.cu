// Geodesic distances over steps to 26 neighbours: each voxel takes the least distance of a neighbour
// and a step. All voxels are lowered in place and again until nothing changes. A distance is always
// that of a path, and only one thread writes it: the order cannot change the result.

const int FAR = 1 << 30;  // not reached; a step more is no overflow

extern "C" __global__ void lower(const long long* __restrict__ voxels, long long count,
                                 const int* __restrict__ offsets, const int* __restrict__ weights,
                                 int* distances, int* changed)
{
    long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    int own = distances[voxels[n]], least = own;
    for (int side = 0; side < 26; side++) {
        int other = distances[voxels[n] + offsets[side]];
        if (other >= 0 && other < FAR && other + weights[side] < least)
            least = other + weights[side];
    }
    if (least < own) {
        distances[voxels[n]] = least;
        *changed = 1;
    }
}
