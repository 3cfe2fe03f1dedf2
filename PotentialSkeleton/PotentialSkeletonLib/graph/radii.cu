// Distances of points to the nearest voxel outside an object. The object's box with a layer round it
// is bit-packed in words of 32 voxels of a row: a bit is set where the voxel is outside.

constexpr unsigned WARP = 0xffffffff;

// A block takes a row of the box with the layer, a warp one word at a time.
extern "C" __global__ void mark_outside(const unsigned char* __restrict__ mask, int depth, int rows,
                                        int width, int words, unsigned* __restrict__ outside)
{
    int k = blockIdx.x / (rows + 2) - 1, j = blockIdx.x % (rows + 2) - 1;
    bool in_box = k >= 0 && k < depth && j >= 0 && j < rows;
    const unsigned char* row = mask + ((long long)k * rows + j) * width;
    for (int word = threadIdx.x / 32; word < words; word += blockDim.x / 32) {
        int i = 32 * word + threadIdx.x % 32 - 1;
        bool is_object = in_box && i >= 0 && i < width && row[i];
        unsigned bits = __ballot_sync(WARP, !is_object);
        if (threadIdx.x % 32 == 0)
            outside[(long long)blockIdx.x * words + word] = bits;
    }
}

// One axis of the box with the layer: `size` voxels `step` mm apart, the first at -1.
struct Axis {
    int size, own;    // `own`: the last voxel that is not behind the point
    double step, at;  // `at`: where the point is, in mm

    __device__ Axis(int size, double step, double point) : size(size), step(step), at(point * step)
    {
        own = (int)fmin(fmax(floor(point) + 1.0, 0.0), size - 1.0);
    }

    __device__ double squared(int n) const
    {
        double away = at - (n - 1) * step;
        return away * away;
    }
};

// The lower of `best` and the squared distances to a row's voxels that are outside; `to_row` is that
// to the row's line.
__device__ double search_row(const unsigned* __restrict__ row, const Axis& axis, double to_row,
                             double best)
{
    int start = axis.own / 32, words = (axis.size + 31) / 32;
    unsigned up_to_point = WARP >> (31 - axis.own % 32);
    unsigned bits = row[start], before = bits & up_to_point, after = bits & ~up_to_point;
    for (int word = start;;) {
        if (before) {
            best = fmin(best, to_row + axis.squared(32 * word + 31 - __clz(before)));
            break;
        }
        if (--word < 0 || to_row + axis.squared(32 * word + 31) >= best)
            break;
        before = row[word];
    }
    for (int word = start;;) {
        if (after) {
            best = fmin(best, to_row + axis.squared(32 * word + __ffs(after) - 1));
            break;
        }
        if (++word == words || to_row + axis.squared(32 * word) >= best)
            break;
        after = row[word];
    }
    return best;
}

struct Size
{
    int depth, rows, width;  // of the mask; `outside` has a layer more on each side
    int words;  // of a row of `outside`
};

struct Steps
{
    double k, j, i;  // mm
};

// A warp takes a point. It searches the rows along I in square rings round the point's own,
// until all rows of a ring are further away than the best voxel: those of the next rings are so too.
extern "C" __global__ void nearest_outside(const unsigned* __restrict__ outside, Size size, Steps steps,
                                          const double* __restrict__ points, int count,
                                          double* __restrict__ radii)
{
    int number = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (number >= count)
        return;
    points += 3 * (long long)number;
    Axis along_k(size.depth + 2, steps.k, points[0]), along_j(size.rows + 2, steps.j, points[1]);
    Axis along_i(size.width + 2, steps.i, points[2]);
    double best = __longlong_as_double(0x7ff0000000000000);  // infinity
    bool searching = true;
    for (int ring = 0; searching; ring++) {
        bool useful = false;
        for (int n = lane; n < max(8 * ring, 1); n += 32) {
            int side = ring ? n / (2 * ring) : 0, place = n - side * 2 * ring - ring;
            int across = side < 2 ? ring : -ring, along = side < 2 ? place : -place;
            int k = along_k.own + (side % 2 ? along : -across);
            int j = along_j.own + (side % 2 ? across : along);
            if (k < 0 || k >= along_k.size || j < 0 || j >= along_j.size)
                continue;
            double to_row = along_k.squared(k) + along_j.squared(j);
            if (to_row >= best)
                continue;
            useful = true;
            const unsigned* row = outside + ((long long)k * along_j.size + j) * size.words;
            best = search_row(row, along_i, to_row, best);
        }
        for (int other = 16; other; other /= 2)
            best = fmin(best, __shfl_xor_sync(WARP, best, other));
        searching = __any_sync(WARP, useful);
    }
    if (lane == 0)
        radii[number] = sqrt(best);
}
