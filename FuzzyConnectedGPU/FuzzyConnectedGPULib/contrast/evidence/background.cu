// defines: VOXEL=unsigned char | VOXEL=short | VOXEL=unsigned short | VOXEL=float
//
// The local background: means of the usable voxels over cells, which are convolved (convolution.cu),
// and linear interpolation between the cells. All in differences to the median, which float32
// resolves better than the intensities themselves. background.py has the same bits.

typedef unsigned int u32;

// A number for each axis.
struct Axes
{
    int k, j, i;
};

// One thread a cell: the share of its voxels that are usable, and the mean over all its voxels of
// the usable ones' difference to the median. usable: differs by less than `limit`, or, with a
// negative limit, is not above the median. Four blocks at a time: with more, registers spill.
extern "C" __global__ void __launch_bounds__(256, 4) cell_means(
    const VOXEL* volume, const unsigned char* mask, float median, float limit, Axes size, Axes side, float* share,
    float* total)
{
    int nk = size.k, nj = size.j, ni = size.i, side_k = side.k, side_j = side.j, side_i = side.i;
    int cells_k = (nk + side_k - 1) / side_k, cells_j = (nj + side_j - 1) / side_j;
    int cells_i = (ni + side_i - 1) / side_i;
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= (u32)cells_k * cells_j * cells_i) return;
    int k0 = n / ((u32)cells_j * cells_i) * side_k, j0 = n / cells_i % cells_j * side_j, i0 = n % cells_i * side_i;
    int k1 = min(k0 + side_k, nk), j1 = min(j0 + side_j, nj), i1 = min(i0 + side_i, ni);
    int count = 0;
    float sum = 0;
    for (int k = k0; k < k1; k++)
        for (int j = j0; j < j1; j++)
            for (int i = i0; i < i1; i++) {
                u32 at = ((u32)k * nj + j) * ni + i;
                float difference = (float)volume[at] - median;
                bool usable = limit < 0 ? difference <= 0 : fabsf(difference) < limit;
                if (!usable || mask && !mask[at]) continue;
                count++;
                sum += difference;
            }
    float voxels = (float)((k1 - k0) * (j1 - j0) * (i1 - i0));
    share[n] = count / voxels;
    total[n] = sum / voxels;
}

// Mean of the usable voxels, in place of the total; 0 (the median) where hardly one is near.
extern "C" __global__ void __launch_bounds__(256) usable_means(const float* share, float least, float* total, u32 count)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) total[n] = share[n] > least ? total[n] / share[n] : 0.0f;
}

// Where a voxel lies between two cells along an axis.
struct Between
{
    int low, high;
    float weight;

    __device__ float of(float first, float second) const { return first + (second - first) * weight; }
};

// The cells' values, and where the voxels of a volume lie between the cells.
struct BetweenCells
{
    const float* cells;
    const int* lows;  // for the voxels along K, then J, then I
    const float* weights;
    int nk, nj, ni;  // voxels
    int ck, cj, ci;  // cells

    __device__ Between along(int first, int place, int count) const
    {
        int low = lows[first + place];
        return {low, min(low + 1, count - 1), weights[first + place]};
    }

    // Linear interpolation at voxel n.
    __device__ float at(u32 n) const
    {
        Between k = along(0, n / ((u32)nj * ni), ck), j = along(nk, n / ni % nj, cj);
        Between i = along(nk + nj, n % ni, ci);
        auto row = [&](int k, int j) {
            const float* first = cells + ((u32)k * cj + j) * ci;
            return i.of(first[i.low], first[i.high]);
        };
        auto plane = [&](int k) { return j.of(row(k, j.low), row(k, j.high)); };
        return k.of(plane(k.low), plane(k.high));
    }

    __device__ u32 voxels() const { return (u32)nk * nj * ni; }
};

// Difference to the median, minus background.
extern "C" __global__ void __launch_bounds__(256) subtract_background(
    const float* volume, float median, BetweenCells background, float* contrast)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < background.voxels()) contrast[n] = volume[n] - median - background.at(n);
}

// Lower contrasts, in place, that are not so many times the background's difference to the tissue:
// own_background.py. times: with the vessels' sign.
extern "C" __global__ void __launch_bounds__(256) lower_own_background(
    BetweenCells background, float times, float steepness, float most, float* contrast)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= background.voxels()) return;
    float own = contrast[n], limit = fminf(fmaxf(times * background.at(n), 0.0f), most);
    contrast[n] = fminf(own, fmaxf(steepness * own - (steepness - 1) * limit, 0.0f)) + 0.0f;  // -0 becomes 0
}
