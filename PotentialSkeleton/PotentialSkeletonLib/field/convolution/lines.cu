// defines: LAST=1 | LAST=2 | LAST=4 | LAST=8
// The convolution along K, of 256 * LAST numbers, in one pass: the charges' lines are transformed,
// multiplied with the kernel's factors and transformed back for each component, without leaving the
// multiprocessor. Only the box's own planes are read and written. Before, the kernel's factors.
#include "lines.cuh"

// Blocks a multiprocessor, as far as its shared memory and registers go without spilling.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
const int BLOCKS = LAST >= 4 ? 4 : 3;
#else
const int BLOCKS = 2;
#endif

// The real factors of the kernel's spectrum, from what `extend_rows` gave, transformed along J.
//
// spectrum: (SIZE / 2 + 1, columns, rows), for offsets K from 0 up, two real sequences in one.
// factors: (3, SIZE / 2 + 1, columns, rows / 2 + 1), of each component, for frequencies from 0 up.
extern "C" __global__ void __launch_bounds__(THREADS)
    factors_of_lines(const double2* __restrict__ spectrum, const double2* __restrict__ roots,
                     int columns, int rows, double* __restrict__ factors)
{
    __shared__ double workspace[2048];
    const Lines lines(workspace, roots);
    int half_rows = rows / 2 + 1, of_block = threadIdx.x % LINES;
    int line_count = columns * half_rows, plane = columns * rows;
    int line = blockIdx.x * LINES + of_block;
    bool is_line = line < line_count;
    int j = line % half_rows;
    const double2* first = spectrum + line / half_rows * rows + j;
    int to_mirrored = j ? rows - 2 * j : 0;
    double2 numbers[16];
#pragma unroll
    for (int n = 0; n < 16; n++) {
        int k = lines.t() + 16 * LAST * n, offset = k > SIZE / 2 ? k - SIZE : k;
        numbers[n] = make_double2(0.0, 0.0);
        if (is_line) {
            // The sum and the difference with the mirrored number belong to one sequence each. The
            // new ones: even along K, and one that is odd added; and another that is even.
            const double2* place = first + abs(offset) * plane;
            double2 one = *place, other = place[to_mirrored];
            numbers[n].x = other.y - one.y + offset * (one.x + other.x);
            numbers[n].y = one.y + other.y;
        }
    }
    lines.forward(numbers);
    auto write = [&](int component, int k, double twice) {
        if (is_line && k <= SIZE / 2)
            factors[(component * (SIZE / 2 + 1) + k) * line_count + line] = 0.25 * twice;
    };
    auto place = [&](int k) { return LINES * (k & (SIZE - 1)) + of_block; };
    __syncthreads();
#pragma unroll
    for (int n = 0; n < 16; n++)
        workspace[place(lines.frequency(n))] = numbers[n].x;
    __syncthreads();
#pragma unroll
    for (int n = 0; n < 16; n++)
        write(1, lines.frequency(n), numbers[n].x + workspace[place(-lines.frequency(n))]);
    __syncthreads();
#pragma unroll
    for (int n = 0; n < 16; n++)
        workspace[place(lines.frequency(n))] = numbers[n].y;
    __syncthreads();
#pragma unroll
    for (int n = 0; n < 16; n++) {
        double mirrored = workspace[place(-lines.frequency(n))];
        write(0, lines.frequency(n), mirrored - numbers[n].y);
        write(2, lines.frequency(n), mirrored + numbers[n].y);
    }
}

// Each line (K) of the charges' spectrum along I and J becomes the force's first, second and third
// component (which takes the place of the charges): transformed along K, times -i and the factors,
// and transformed back without scale. Arrays are ordered K, frequency along I (called column), J.
//
// charges, first, second: (depth, columns, rows).
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    convolve_lines(double2* __restrict__ charges, const double* __restrict__ factors,
                   const double2* __restrict__ roots, int depth, int columns, int rows,
                   double2* __restrict__ first, double2* __restrict__ second)
{
    __shared__ double workspace[2048];
    __shared__ double2 kept[2048];
    const Lines lines(workspace, roots);
    int line_count = columns * rows, line = blockIdx.x * LINES + threadIdx.x % LINES;
    bool is_line = line < line_count;
    double2 numbers[16];
#pragma unroll
    for (int n = 0; n < 16; n++) {
        int k = lines.t() + 16 * LAST * n;
        numbers[n] = is_line && k < depth ? charges[k * line_count + line] : make_double2(0.0, 0.0);
    }
    lines.forward(numbers);
#pragma unroll
    for (int n = 0; n < 16; n++)
        kept[THREADS * n + threadIdx.x] = numbers[n];
    int half_rows = rows / 2 + 1, column = is_line ? line / rows : 0, j = is_line ? line % rows : 0;
    bool mirrored = j > rows / 2;  // there the factors of the second component have the other sign
    int step = columns * half_rows;
    const double* factor = factors + column * half_rows + (mirrored ? rows - j : j);
    for (int component = 0; component < 3; component++) {
#pragma unroll
        for (int n = 0; n < 16; n++) {
            int k = lines.frequency(n);
            bool is_negative = Lines::is_negative(n);
            double by = factor[(is_negative ? SIZE - k : k) * step];
            by = (component == 0 && is_negative) || (component == 1 && mirrored) ? -by : by;
            double2 number = kept[THREADS * n + threadIdx.x];
            // -i times it. Real and imaginary part are interchanged, there and after the transform:
            // that makes it the one back.
            numbers[n] = make_double2(-number.x * by, number.y * by);
        }
        factor += (SIZE / 2 + 1) * step;
        lines.backward(numbers);
        double2* out = component == 0 ? first : component == 1 ? second : charges;
#pragma unroll
        for (int n = 0; n < 16; n++) {
            int k = lines.t() + 16 * LAST * n;
            if (is_line && k < depth)
                out[k * line_count + line] = make_double2(numbers[n].y, numbers[n].x);
        }
    }
}
