// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// What the convolution does between its Fourier transforms. Complex numbers are double2; arrays of
// frequencies are ordered K, frequency along I, J.
#include "force.cuh"

struct Grid {
    long long first, step;
    __device__ Grid()
        : first((long long)blockIdx.x * blockDim.x + threadIdx.x),
          step((long long)gridDim.x * blockDim.x)
    {
    }
};

// Rows of the charges of some planes, padded with 0.
extern "C" __global__ void charge_rows(const unsigned char* __restrict__ classes, int first_plane,
                                       int plane_count, int rows, int width, int padded,
                                       double charge, double* __restrict__ out)
{
    Grid grid;
    long long total = (long long)plane_count * rows * padded;
    for (long long n = grid.first; n < total; n += grid.step) {
        int i = (int)(n % padded);
        long long row = n / padded + (long long)first_plane * rows;
        out[n] = i < width && classes[row * width + i] == 1 ? charge : 0.0;
    }
}

// The part of the force of a charge at the origin that all its components share, and that times the
// offset along I, added together; for offsets K, J from 0 up; offsets I wrap around. 0 where all
// offsets are below `cut`.
extern "C" __global__ void kernel_rows(int first_plane, int plane_count, int rows, int padded,
                                       int cut, double* __restrict__ out)
{
    Grid grid;
    long long total = (long long)plane_count * rows * padded;
    for (long long n = grid.first; n < total; n += grid.step) {
        int i = (int)(n % padded);
        if (i > padded / 2)
            i -= padded;
        int j = (int)(n / padded % rows), k = first_plane + (int)(n / padded / rows);
        double squared = (double)k * k + (double)j * j + (double)i * i;
        bool near = k < cut && j < cut && abs(i) < cut;
        out[n] = near ? 0.0 : (1 + i) * power<STRENGTH + 1>(inverse_root(squared));
    }
}

// The real part of a number, or the imaginary one with the sign turned.
__device__ inline double part_of(double2 number, int imaginary)
{
    return imaginary ? -number.y : number.x;
}

// A real even sequence along an axis (0 or 2), from its values at 0 to half its size; and the real
// part times the distance from 0, which is odd, added. The arrays' order is K, column, J.
extern "C" __global__ void extend(const double2* __restrict__ half, long long stride_k,
                                  long long stride_column, long long stride_j, int depth,
                                  int columns, int rows, int axis, int imaginary, int add_odd,
                                  double* __restrict__ whole)
{
    Grid grid;
    long long total = (long long)depth * columns * rows;
    for (long long n = grid.first; n < total; n += grid.step) {
        int j = (int)(n % rows), column = (int)(n / rows % columns), k = (int)(n / rows / columns);
        int size = axis == 0 ? depth : rows, place = axis == 0 ? k : j;
        int offset = place > size / 2 ? place - size : place;
        if (axis == 0)
            k = abs(offset);
        else
            j = abs(offset);
        double2 number = half[k * stride_k + column * stride_column + j * stride_j];
        double value = part_of(number, imaginary);
        whole[n] = add_odd ? value + offset * number.x : value;
    }
}

// -i times a spectrum times real factors, which are given for frequencies K, J from 0 up; along
// `odd_axis` the factors of negative frequencies have the other sign.
extern "C" __global__ void multiply(const double2* __restrict__ spectrum,
                                    const double2* __restrict__ factors, int depth, int columns,
                                    int rows, int imaginary, int odd_axis,
                                    double2* __restrict__ product)
{
    Grid grid;
    long long total = (long long)depth * columns * rows;
    for (long long n = grid.first; n < total; n += grid.step) {
        int j = (int)(n % rows), column = (int)(n / rows % columns), k = (int)(n / rows / columns);
        bool turned = (odd_axis == 0 && k > depth / 2) || (odd_axis == 1 && j > rows / 2);
        long long from_k = k > depth / 2 ? depth - k : k, from_j = j > rows / 2 ? rows - j : j;
        double2 number = factors[(from_k * columns + column) * (rows / 2 + 1) + from_j];
        double factor = part_of(number, imaginary);
        if (turned)
            factor = -factor;
        double2 value = spectrum[n];
        product[n] = make_double2(value.y * factor, -value.x * factor);
    }
}

// One component of the force on some planes of a solid, where it is wanted.
extern "C" __global__ void write_component(const double* __restrict__ values,
                                           const unsigned char* __restrict__ wanted,
                                           int first_plane, int plane_count, int rows, int width,
                                           int padded, int component, float* __restrict__ vectors)
{
    Grid grid;
    long long total = (long long)plane_count * rows * width;
    for (long long n = grid.first; n < total; n += grid.step) {
        long long voxel = n + (long long)first_plane * rows * width;
        if (wanted[voxel])
            vectors[3 * voxel + component] = (float)values[n / width * padded + n % width];
    }
}
