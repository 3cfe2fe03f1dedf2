// Voxel classes, targets and boundary forces of a solid in its box, from the 26 neighbours of each
// voxel. Beyond the box everything is outside.

struct Box {
    int depth, rows, width;

    // Calls `visit(voxel, k, j, i)` for all voxels; a block takes whole rows.
    template <class Visit>
    __device__ void each_voxel(Visit visit) const
    {
        for (int row = blockIdx.x; row < depth * rows; row += gridDim.x)
            for (int i = threadIdx.x; i < width; i += blockDim.x)
                visit((long long)row * width + i, row / rows, row % rows, i);
    }

    // Calls `visit(neighbour)` for a voxel and its neighbours, as long as it returns true, with -1
    // beyond the box. Returns whether it always did.
    template <class Visit>
    __device__ bool all_around(long long voxel, int k, int j, int i, Visit visit) const
    {
        for (int dk = -1; dk <= 1; dk++)
            for (int dj = -1; dj <= 1; dj++)
                for (int di = -1; di <= 1; di++) {
                    bool inside = k + dk >= 0 && k + dk < depth && j + dj >= 0 && j + dj < rows &&
                                  i + di >= 0 && i + di < width;
                    if (!visit(inside ? voxel + ((long long)dk * rows + dj) * width + di : -1))
                        return false;
                }
        return true;
    }
};

// Voxels that have one of the mask among themselves and their neighbours.
extern "C" __global__ void dilate(const unsigned char* __restrict__ mask, int depth, int rows,
                                int width, unsigned char* __restrict__ dilated)
{
    Box box = {depth, rows, width};
    box.each_voxel([&](long long voxel, int k, int j, int i) {
        dilated[voxel] = !box.all_around(
            voxel, k, j, i, [&](long long other) { return other < 0 || !mask[other]; });
    });
}

// Adds 1 to the layers of the voxels all of whose neighbours have at least `least`.
extern "C" __global__ void classify(const unsigned char* __restrict__ layers, int least, int depth,
                                    int rows, int width, unsigned char* __restrict__ classes)
{
    Box box = {depth, rows, width};
    box.each_voxel([&](long long voxel, int k, int j, int i) {
        unsigned char own = layers[voxel];
        bool deeper = own >= least && box.all_around(voxel, k, j, i, [&](long long other) {
            return other >= 0 && layers[other] >= least;
        });
        classes[voxel] = own + deeper;
    });
}

// Inner voxels (class 3), and boundary voxels (class 2) without inner ones around them.
extern "C" __global__ void mark_targets(const unsigned char* __restrict__ classes, int depth,
                                         int rows, int width, unsigned char* __restrict__ targets)
{
    Box box = {depth, rows, width};
    box.each_voxel([&](long long voxel, int k, int j, int i) {
        unsigned char own = classes[voxel];
        targets[voxel] = own == 3 || (own == 2 && box.all_around(voxel, k, j, i, [&](long long other) {
            return other < 0 || classes[other] != 3;
        }));
    });
}

// Boundary voxels (class 2) with inner voxels (class 3) around them get the mean of their forces.
extern "C" __global__ void mean_of_neighbours(const unsigned char* __restrict__ classes, int depth,
                                              int rows, int width, float* __restrict__ vectors)
{
    Box box = {depth, rows, width};
    box.each_voxel([&](long long voxel, int k, int j, int i) {
        if (classes[voxel] != 2)
            return;
        double force_k = 0.0, force_j = 0.0, force_i = 0.0;
        int count = 0;
        box.all_around(voxel, k, j, i, [&](long long other) {
            if (other >= 0 && classes[other] == 3) {
                force_k += vectors[3 * other];
                force_j += vectors[3 * other + 1];
                force_i += vectors[3 * other + 2];
                count++;
            }
            return true;
        });
        if (count) {
            vectors[3 * voxel] = (float)(force_k / count);
            vectors[3 * voxel + 1] = (float)(force_j / count);
            vectors[3 * voxel + 2] = (float)(force_i / count);
        }
    });
}
