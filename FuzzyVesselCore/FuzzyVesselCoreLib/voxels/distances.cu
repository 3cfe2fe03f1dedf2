// Distances in an object, along it and to its outside. One thread works on each voxel.

const int FAR = 1 << 30;  // not reached; a step more is no overflow

// Geodesic distances over steps to 26 neighbours: each voxel takes the least distance of a neighbour
// and a step. All voxels are lowered in place and again until nothing changes. A distance is always
// that of a path, and only one thread writes it: the order cannot change the result.
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

// Squared distances to the nearest voxel outside (0) along one axis more: on a line of so many voxels
// `stride` apart the least of what a voxel of the same run, or the one beyond its ends, has and the
// `square` of the spacing times that of their distance. The search ends where no voxel is near enough.
extern "C" __global__ void nearest_outside(const float* __restrict__ before, float* after,
                                           long long count, long long stride, long long length,
                                           double square, int is_last)
{
    long long n = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (n >= count)
        return;
    double least = before[n];
    for (int side = -1; side <= 1 && least > 0; side += 2) {
        long long place = n / stride % length;
        long long most = side < 0 ? place : length - 1 - place;
        for (long long d = 1; d <= most && square * d * d < least; d++) {
            float other = before[n + side * d * stride];
            least = fmin(least, square * d * d + other);
            if (other == 0)
                break;
        }
    }
    float squared = (float)least;
    after[n] = is_last ? sqrtf(squared) : squared;
}
