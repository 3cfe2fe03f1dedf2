// What is done with the voxels of a solid in its box, from their 26 neighbours. Beyond the box
// everything is outside.

struct Box {
    int depth, rows, width;

    // Calls `look(neighbour)` for the voxel itself and its neighbours, as long as it returns true,
    // with -1 beyond the box. Returns whether it always did.
    template <class Look>
    __device__ bool all_around(long long voxel, Look look) const
    {
        int i = (int)(voxel % width), j = (int)(voxel / width % rows);
        int k = (int)(voxel / width / rows);
        for (int dk = -1; dk <= 1; dk++)
            for (int dj = -1; dj <= 1; dj++)
                for (int di = -1; di <= 1; di++) {
                    bool inside = k + dk >= 0 && k + dk < depth && j + dj >= 0 && j + dj < rows &&
                                  i + di >= 0 && i + di < width;
                    if (!look(inside ? voxel + ((long long)dk * rows + dj) * width + di : -1))
                        return false;
                }
        return true;
    }
};

// Voxels that have one of the mask among themselves and their neighbours.
extern "C" __global__ void grow(const unsigned char* __restrict__ mask, int depth, int rows,
                                int width, unsigned char* __restrict__ grown)
{
    Box box = {depth, rows, width};
    long long total = (long long)depth * rows * width, step = (long long)gridDim.x * blockDim.x;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < total; n += step)
        grown[n] = !box.all_around(n, [&](long long other) { return other < 0 || !mask[other]; });
}

// Adds 1 to the layers of the voxels all of whose neighbours have at least `layers`.
extern "C" __global__ void classify(const unsigned char* __restrict__ layers, int least, int depth,
                                    int rows, int width, unsigned char* __restrict__ classes)
{
    Box box = {depth, rows, width};
    long long total = (long long)depth * rows * width, step = (long long)gridDim.x * blockDim.x;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < total; n += step) {
        unsigned char own = layers[n];
        bool deeper = own >= least && box.all_around(n, [&](long long other) {
            return other >= 0 && layers[other] >= least;
        });
        classes[n] = own + deeper;
    }
}

// Boundary voxels (class 2) with inner voxels (class 3) around them get the mean of their forces.
extern "C" __global__ void mean_of_neighbours(const unsigned char* __restrict__ classes, int depth,
                                              int rows, int width, float* __restrict__ vectors)
{
    Box box = {depth, rows, width};
    long long total = (long long)depth * rows * width, step = (long long)gridDim.x * blockDim.x;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < total; n += step) {
        if (classes[n] != 2)
            continue;
        double k = 0.0, j = 0.0, i = 0.0;
        int count = 0;
        box.all_around(n, [&](long long other) {
            if (other >= 0 && classes[other] == 3) {
                k += vectors[3 * other];
                j += vectors[3 * other + 1];
                i += vectors[3 * other + 2];
                count++;
            }
            return true;
        });
        if (count) {
            vectors[3 * n] = (float)(k / count);
            vectors[3 * n + 1] = (float)(j / count);
            vectors[3 * n + 2] = (float)(i / count);
        }
    }
}
