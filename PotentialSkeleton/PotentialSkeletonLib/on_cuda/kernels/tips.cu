// Tips of an object; see tips.py and limbs.py of the CPU, whose results these equal. Voxels are
// flat indices; the object does not touch the volume's border.

#define SLENDERNESS 2.0

typedef unsigned long long u64;

struct Volume
{
    const int* distances;  // -1 outside
    const float* depth;
    int row, plane;  // steps to the next row and plane
    double unit, smallest;

    // Neighbour `side` of 27 in K, J, I; 13 is the voxel itself.
    __device__ int neighbour(int voxel, int side) const
    {
        return voxel + (side / 9 - 1) * plane + (side / 3 % 3 - 1) * row + side % 3 - 1;
    }
    __device__ bool is_long(int distance, float width) const
    {
        return distance * unit > SLENDERNESS * width + smallest;
    }
    // Whether a voxel begins a piece: all neighbours come after it.
    __device__ bool is_top(int voxel) const
    {
        int here = distances[voxel];
        for (int side = 0; side < 27; side++) {
            int there = distances[neighbour(voxel, side)];
            if (there > here || (there == here && side > 13)) return false;
        }
        return true;
    }
    // The top to which the steepest ascent leads, or the first voxel on it above a height.
    __device__ int top_above(int voxel, int height) const
    {
        while (distances[voxel] <= height) {
            int steepest = voxel, highest = distances[voxel];
            for (int side = 0; side < 27; side++) {
                int other = neighbour(voxel, side), there = distances[other];
                if (there > highest || (there == highest && other > steepest)) {
                    steepest = other;
                    highest = there;
                }
            }
            if (steepest == voxel) break;
            voxel = steepest;
        }
        return voxel;
    }
};

// Lists the tops that are far enough from the core; `counts[0]` is their number, also of those for
// which there is no room.
extern "C" __global__ void find_tops(const int* distances, int size, int row, int plane, double unit,
                                     double smallest, int room, int* tops, int* counts)
{
    Volume volume = {distances, nullptr, row, plane, unit, smallest};
    int step = gridDim.x * blockDim.x;
    for (long long n = blockIdx.x * blockDim.x + threadIdx.x; n < size; n += step)
        if (distances[n] * unit > smallest && volume.is_top((int)n)) {
            int at = atomicAdd(&counts[0], 1);
            if (at < room) tops[at] = (int)n;
        }
}

// From each top follows a shortest way to the core; lists those whose way, at some voxel, is long
// enough for the width of the voxels before, in `found`, and their number in `counts[1]`.
extern "C" __global__ void follow_ways(const int* distances, const float* depth, int row, int plane,
                                       double unit, double smallest, const int* steps,
                                       const int* tops, int room, int* found, int* counts)
{
    Volume volume = {distances, depth, row, plane, unit, smallest};
    int count = min(counts[0], room);
    for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x) {
        int top = tops[n], voxel = top, height = distances[top];
        float width = 0.0f;
        while (volume.is_long(height, width)) {
            int here = distances[voxel];
            if (volume.is_long(height - here, width)) {
                found[atomicAdd(&counts[1], 1)] = top;
                break;
            }
            int higher = volume.top_above(voxel, height);
            if (distances[higher] > height || (distances[higher] == height && higher < top)) break;
            width = max(width, depth[voxel]);
            int following = voxel;
            for (int side = 0; side < 27; side++) {
                int other = volume.neighbour(voxel, side), there = distances[other];
                if (side != 13 && there >= 0 && there == here - steps[side] &&
                    (following == voxel || depth[other] > depth[following]))
                    following = other;
            }
            if (following == voxel) break;
            voxel = following;
        }
    }
}
