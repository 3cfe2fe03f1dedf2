// Exact distances to the outside of an object, by the steps and the arithmetic of euclidean.py.

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

// The lower envelope of the parabolas on the values of each line. A line has `count` voxels, `inner`
// apart; these are the lines from `first` to before `last` of `gridDim.z` groups of `inner` lines.
// Each voxel searches outward up to its distance to the outside, where the values are 0: no parabola
// beyond can be lower.
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
