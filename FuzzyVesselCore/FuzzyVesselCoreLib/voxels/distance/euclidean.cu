// Exact distances to the outside of an object, in the steps and the arithmetic of distance.py.

constexpr int NO_ZERO = 1 << 20;  // voxels: further than any row is long
constexpr unsigned WARP = 0xffffffff;

// Squared distance to the nearest zero of the same row; a warp takes a row.
extern "C" __global__ void along_rows(const unsigned char* __restrict__ mask, long long rows,
                                      int width, double step, float* __restrict__ squared)
{
    long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    mask += row * width;
    squared += row * width;
    int lane = threadIdx.x % 32, chunks = (width + 31) / 32;
    int last = -NO_ZERO;
    for (int chunk = 0; chunk < chunks; chunk++) {
        int i = 32 * chunk + lane;
        unsigned zeros = __ballot_sync(WARP, i < width && mask[i] == 0);
        unsigned before = zeros & (WARP >> (31 - lane));
        if (i < width)
            squared[i] = i - (before ? 32 * chunk + 31 - __clz(before) : last);
        if (zeros)
            last = 32 * chunk + 31 - __clz(zeros);
    }
    int next = NO_ZERO;
    for (int chunk = chunks - 1; chunk >= 0; chunk--) {
        int i = 32 * chunk + lane;
        unsigned zeros = __ballot_sync(WARP, i < width && mask[i] == 0);
        unsigned after = zeros & (WARP << lane);
        if (i < width) {
            float ahead = (after ? 32 * chunk + __ffs(after) - 1 : next) - i;
            double distance = fminf(squared[i], ahead) * step;
            squared[i] = distance * distance;
        }
        if (zeros)
            next = 32 * chunk + __ffs(zeros) - 1;
    }
}

// The lower envelope of the parabolas that stand on the values of each line. A line has `count`
// voxels, `inner` apart; these are the lines from `first` to before `last` of `gridDim.z` groups of
// `inner` lines. Each voxel looks outward as long as a foot there could be of use: not beyond its
// distance to the outside, where the values are 0.
extern "C" __global__ void __launch_bounds__(512)
    lower_envelopes(const float* __restrict__ values, int count, long long inner, long long first,
                    long long last, double step, int take_root, float* __restrict__ lower)
{
    long long line = first + (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int n = blockIdx.y * blockDim.y + threadIdx.y;
    if (line >= last || n >= count)
        return;
    long long here = ((long long)blockIdx.z * count + n) * inner + line;
    float own = values[here];
    if (own == 0.0f) {
        lower[here] = 0.0f;
        return;
    }
    double best = own, square = step * step;
    const float *before = values + here, *after = before;
    int furthest = max(n, count - 1 - n);
    for (int away = 1; away <= furthest; away++) {
        double rise = square * away * away;
        if (rise >= best)
            break;
        before -= inner;
        after += inner;
        float value = own;
        if (away <= n)
            value = fminf(value, *before);
        if (away < count - n)
            value = fminf(value, *after);
        best = fmin(best, rise + value);
    }
    float result = best;
    lower[here] = take_root ? sqrtf(result) : result;
}

// Lists the depths of the voxels that none of their 26 neighbours exceeds in depth, in no order;
// `count` becomes their number, also where they are more than the list has room for. A block takes
// a row, without the box's own border.
extern "C" __global__ void list_ridge(const float* __restrict__ depth, int rows, int width,
                                      int room, int* __restrict__ count, float* __restrict__ ridge)
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
            if (place < room)
                ridge[place] = own;
        }
    }
}

// The removal order of some voxels, one a thread: see `distance.order_of`.
extern "C" __global__ void order_at(const float* __restrict__ depth, int planes, int rows,
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
