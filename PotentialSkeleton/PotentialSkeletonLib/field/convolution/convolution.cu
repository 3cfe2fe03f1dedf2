// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// The steps of the convolution between its Fourier transforms. Complex numbers are double2; arrays of
// frequencies are ordered K, frequency along I (called column), J. A block takes whole rows, so that
// no thread divides by sizes for each number.
#include "../methods/force.cuh"

// Rows of the charges of some planes, padded with 0.
extern "C" __global__ void charge_rows(const unsigned char* __restrict__ classes, int first_plane,
                                       int plane_count, int rows, int width, int padded,
                                       double charge, double* __restrict__ out)
{
    for (int row = blockIdx.x; row < plane_count * rows; row += gridDim.x) {
        const unsigned char* source = classes + ((long long)first_plane * rows + row) * width;
        for (int i = threadIdx.x; i < padded; i += blockDim.x)
            out[(long long)row * padded + i] = i < width && source[i] == 1 ? charge : 0.0;
    }
}

// The part of the force of a charge at the origin that all its components share, and that times the
// offset along I, added together; for offsets K, J from 0 up; offsets I wrap around. 0 where all
// offsets are below `cut`.
extern "C" __global__ void kernel_rows(int first_plane, int plane_count, int rows, int padded,
                                       int cut, double* __restrict__ out)
{
    for (int row = blockIdx.x; row < plane_count * rows; row += gridDim.x) {
        int k = first_plane + row / rows, j = row % rows;
        double across = (double)k * k + (double)j * j;
        for (int n = threadIdx.x; n < padded; n += blockDim.x) {
            int i = n > padded / 2 ? n - padded : n;
            bool near = k < cut && j < cut && abs(i) < cut;
            double power_of_distance = power<STRENGTH + 1>(inverse_root(across + (double)i * i));
            out[(long long)row * padded + n] = near ? 0.0 : (1 + i) * power_of_distance;
        }
    }
}

// The real part of a number, or the imaginary one with the sign turned.
__device__ inline double part_of(double2 number, int imaginary)
{
    return imaginary ? -number.y : number.x;
}

struct Strides
{
    long long k, column, j;
};

struct Extent
{
    int depth, columns, rows;
};

// A real even sequence along an axis (0 or 2), from its values at 0 to half its size; and the real
// part times the distance from 0, which is odd, added.
extern "C" __global__ void extend(const double2* __restrict__ half, Strides strides, Extent extent,
                                  int axis, int imaginary, int add_odd, double* __restrict__ whole)
{
    int depth = extent.depth, columns = extent.columns, rows = extent.rows;
    int size = axis == 0 ? depth : rows;
    for (int row = blockIdx.x; row < depth * columns; row += gridDim.x) {
        int k = row / columns, column = row % columns;
        for (int j = threadIdx.x; j < rows; j += blockDim.x) {
            int index = axis == 0 ? k : j;
            int offset = index > size / 2 ? index - size : index;
            int from_k = axis == 0 ? abs(offset) : k, from_j = axis == 0 ? j : abs(offset);
            double2 number =
                half[from_k * strides.k + column * strides.column + from_j * strides.j];
            double value = part_of(number, imaginary);
            whole[(long long)row * rows + j] = add_odd ? value + offset * number.x : value;
        }
    }
}

// The same along J, of both parts at once: the real part with the odd sequence added, and the
// imaginary one with the sign turned, as real and imaginary part of one sequence. Tile by tile, as
// memory is read along the columns and written along J.
//
// half: (depth, rows / 2 + 1, columns); whole: (depth, columns, rows).
extern "C" __global__ void extend_rows(const double2* __restrict__ half, int depth, int columns,
                                       int rows, double2* __restrict__ whole)
{
    const int SIDE = 32;
    __shared__ double2 tile[SIDE][SIDE + 1];
    int half_rows = rows / 2 + 1, x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    int across = (columns + SIDE - 1) / SIDE, down = (half_rows + SIDE - 1) / SIDE;
    for (int n = blockIdx.x; n < depth * across * down; n += gridDim.x) {
        int k = n / (across * down), first_j = n / across % down * SIDE;
        int first_column = n % across * SIDE;
        for (int m = y; m < SIDE; m += blockDim.x / SIDE) {
            int j = first_j + m, column = first_column + x;
            if (j < half_rows && column < columns)
                tile[m][x] = half[((long long)k * half_rows + j) * columns + column];
        }
        __syncthreads();
        for (int m = y; m < SIDE; m += blockDim.x / SIDE) {
            int j = first_j + x, column = first_column + m;
            if (j < half_rows && column < columns) {
                double2 number = tile[x][m];
                double2* row = whole + ((long long)k * columns + column) * rows;
                row[j] = make_double2(number.x + j * number.x, -number.y);
                if (j > 0 && j < rows / 2)
                    row[rows - j] = make_double2(number.x - j * number.x, -number.y);
            }
        }
        __syncthreads();
    }
}

// -i times a spectrum times real factors, which are given for frequencies K, J from 0 up; along
// `odd_axis` the factors of negative frequencies have the other sign.
extern "C" __global__ void multiply(const double2* __restrict__ spectrum,
                                    const double2* __restrict__ factors, int depth, int columns,
                                    int rows, int imaginary, int odd_axis,
                                    double2* __restrict__ product)
{
    for (int row = blockIdx.x; row < depth * columns; row += gridDim.x) {
        int k = row / columns, column = row % columns;
        int from_k = k > depth / 2 ? depth - k : k;
        const double2* factors_of_row =
            factors + ((long long)from_k * columns + column) * (rows / 2 + 1);
        for (int j = threadIdx.x; j < rows; j += blockDim.x) {
            bool mirrored = odd_axis == 0 ? k > depth / 2 : odd_axis == 1 && j > rows / 2;
            double factor = part_of(factors_of_row[j > rows / 2 ? rows - j : j], imaginary);
            factor = mirrored ? -factor : factor;
            double2 value = spectrum[(long long)row * rows + j];
            product[(long long)row * rows + j] = make_double2(value.y * factor, -value.x * factor);
        }
    }
}

// One component of the force on some planes of a solid, at the targets.
extern "C" __global__ void write_component(const double* __restrict__ values,
                                           const unsigned char* __restrict__ targets,
                                           int first_plane, int plane_count, int rows, int width,
                                           int padded, int component, float* __restrict__ vectors)
{
    for (int row = blockIdx.x; row < plane_count * rows; row += gridDim.x) {
        long long first = ((long long)first_plane * rows + row) * width;
        for (int i = threadIdx.x; i < width; i += blockDim.x)
            if (targets[first + i])
                vectors[3 * (first + i) + component] = (float)values[(long long)row * padded + i];
    }
}
