// The self-guided filter in two kernels. A block holds 32 x 8 voxels (I, J) and goes along K; the last
// planes are kept in a ring in shared memory, where sums are taken, so that each plane is read once
// (and its border by the neighbour blocks, too).

typedef unsigned int u32;

#define WIDTH 32
#define HEIGHT 8
#define THREADS (WIDTH * HEIGHT)
#define PLANES 32  // that a block fills
#define MOST 2     // radius of a box
#define WIDE (WIDTH + 2 * MOST)
#define HIGH (HEIGHT + 2 * MOST)

struct Volume
{
    int nk, nj, ni;  // voxels
    int rk, rj, ri;  // radii of the boxes

    __device__ u32 at(int k, int j, int i) const { return ((u32)k * nj + j) * ni + i; }
};

__device__ __forceinline__ int within(int place, int count) { return min(max(place, 0), count - 1); }

__device__ __forceinline__ float2 sum_of(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }

// Hands the means of what `load` gives, over the box round each voxel of the block, to `store`. Sums go
// along K first, then along J, then along I, as on the CPU.
template <class Load, class Store>
__device__ void box_means(Volume v, Load load, Store store)
{
    __shared__ float2 ring[2 * MOST + 1][HIGH * WIDE];  // voxels of the last planes
    __shared__ float2 columns[HIGH * WIDE];             // sums along K
    __shared__ float2 rows[HEIGHT * WIDE];              // .. and along J
    int t = threadIdx.x, x = t % WIDTH, y = t / WIDTH;
    int i0 = blockIdx.x * WIDTH, j0 = blockIdx.y * HEIGHT, k0 = blockIdx.z * PLANES;
    int wide = WIDTH + 2 * v.ri, high = HEIGHT + 2 * v.rj, deep = 2 * v.rk + 1;
    int end = min(k0 + PLANES, v.nk) + v.rk;
    float share = 1.0f / (deep * (2 * v.rj + 1) * (2 * v.ri + 1));
    bool inside = j0 + y < v.nj && i0 + x < v.ni;
    int slot = 0;
    for (int k = k0 - v.rk; k < end; k++) {
        int middle = k - v.rk;  // of the planes in the ring, once it is full
        int oldest = slot + 1 == deep ? 0 : slot + 1;
        for (int n = t; n < high * wide; n += THREADS) {  // a column is this thread's alone
            int j = within(j0 + n / wide - v.rj, v.nj), i = within(i0 + n % wide - v.ri, v.ni);
            ring[slot][n] = load(v.at(within(k, v.nk), j, i));
            if (middle < k0) continue;
            float2 sum = ring[oldest][n];
            for (int d = 1, next = oldest; d < deep; d++) {
                next = next + 1 == deep ? 0 : next + 1;
                sum = sum_of(sum, ring[next][n]);
            }
            columns[n] = sum;
        }
        slot = oldest;
        if (middle < k0) continue;
        __syncthreads();
        for (int n = t; n < HEIGHT * wide; n += THREADS) {
            float2 sum = columns[n];
            for (int d = 1; d <= 2 * v.rj; d++) sum = sum_of(sum, columns[n + d * wide]);
            rows[n] = sum;
        }
        __syncthreads();
        if (!inside) continue;
        float2 sum = rows[y * wide + x];
        for (int d = 1; d <= 2 * v.ri; d++) sum = sum_of(sum, rows[y * wide + x + d]);
        store(v.at(middle, j0 + y, i0 + x), make_float2(sum.x * share, sum.y * share));
    }
}

// Gain and offset of each box.
extern "C" __global__ void __launch_bounds__(THREADS) guided_coefficients(
    const float* smooth, Volume volume, float variance_of_noise, float* gain, float* offset)
{
    auto load = [=](u32 at) {
        float value = smooth[at];
        return make_float2(value, value * value);
    };
    auto store = [=](u32 at, float2 mean) {
        float variance = fmaxf(mean.y - mean.x * mean.x, 0.0f);
        float own = variance / fmaxf(variance + variance_of_noise, 1e-30f);
        gain[at] = own;
        offset[at] = mean.x - own * mean.x;
    };
    box_means(volume, load, store);
}

// The filtered values, in place: of `smooth`, each thread reads what it writes and nothing else.
extern "C" __global__ void __launch_bounds__(THREADS) guided_values(
    const float* gain, const float* offset, Volume volume, float* smooth)
{
    auto load = [=](u32 at) { return make_float2(gain[at], offset[at]); };
    auto store = [=](u32 at, float2 mean) { smooth[at] = mean.y + mean.x * smooth[at]; };
    box_means(volume, load, store);
}
