// The divergence of the unit force, and cells in which a force may vanish. One thread works on each
// voxel: forces are three floats each, K first. The results are those of seeds.py bit for bit.

const int BOUNDARY = 2;

struct Grid {
    const float* forces;
    const unsigned char* classes;
    long long depth, rows, width;
};

// A component of the force by its length; whether there is a force.
__device__ bool unit_force(const Grid& grid, long long voxel, int axis, double& component)
{
    const float* force = grid.forces + 3 * voxel;
    double square = 0;
    for (int n = 0; n < 3; n++)
        square += (double)force[n] * force[n];
    component = force[axis] / fmax(sqrt(square), 1e-300);
    return grid.classes[voxel] >= BOUNDARY && square != 0;
}

// Writes the divergence where there is one.
extern "C" __global__ void unit_divergence(Grid grid, float* divergence)
{
    long long voxel = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (voxel >= grid.depth * grid.rows * grid.width || grid.classes[voxel] == 0)
        return;
    long long places[] = {voxel / grid.width / grid.rows, voxel / grid.width % grid.rows,
                          voxel % grid.width};
    long long sizes[] = {grid.depth, grid.rows, grid.width};
    long long steps[] = {grid.rows * grid.width, grid.width, 1};
    double total = 0, before, after;
    for (int axis = 0; axis < 3; axis++)
        if (places[axis] == 0 || places[axis] == sizes[axis] - 1)
            return;
    for (int axis = 0; axis < 3; axis++) {
        if (!unit_force(grid, voxel - steps[axis], axis, before) ||
            !unit_force(grid, voxel + steps[axis], axis, after))
            return;
        total += 0.5 * (after - before);
    }
    divergence[voxel] = total;
}

// Marks the first corners of the cells that `cells_with_sign_changes` finds.
extern "C" __global__ void mark_cells(Grid grid, int lowest_class, unsigned char* marks)
{
    long long voxel = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (voxel >= grid.depth * grid.rows * grid.width)
        return;
    marks[voxel] = 0;
    if (voxel % grid.width == grid.width - 1 || voxel / grid.width % grid.rows == grid.rows - 1 ||
        voxel / grid.width / grid.rows == grid.depth - 1)
        return;
    float low[3], high[3];
    for (int corner = 0; corner < 8; corner++) {
        long long other = voxel + (((corner >> 2) * grid.rows + (corner >> 1 & 1)) * grid.width +
                                   (corner & 1));
        if (grid.classes[other] < lowest_class)
            return;
        for (int axis = 0; axis < 3; axis++) {
            float force = grid.forces[3 * other + axis];
            low[axis] = corner ? fminf(low[axis], force) : force;
            high[axis] = corner ? fmaxf(high[axis], force) : force;
        }
    }
    marks[voxel] = 1;
    for (int axis = 0; axis < 3; axis++)
        marks[voxel] &= low[axis] <= 0 && high[axis] >= 0 && low[axis] < high[axis];
}
