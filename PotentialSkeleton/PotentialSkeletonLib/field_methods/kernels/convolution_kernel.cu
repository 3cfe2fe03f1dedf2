// defines: STRENGTH=3 | STRENGTH=6 | STRENGTH=9
// One component of the force of a charge at the origin, on planes of offsets K >= 0; along J and I
// the offsets wrap around as the Fourier transform wants them. It is 0 where all are below `cut`.
#include "force.cuh"

__device__ int wrapped(int n, int size) { return n > size / 2 ? n - size : n; }

extern "C" __global__ void fill_kernel(double* __restrict__ planes, int first_plane,
                                       int plane_count, int rows, int width, int component, int cut)
{
    long long total = (long long)plane_count * rows * width;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < total; n += step) {
        int k = first_plane + (int)(n / width / rows);
        int j = wrapped((int)(n / width % rows), rows);
        int i = wrapped((int)(n % width), width);
        int along = component == 0 ? k : component == 1 ? j : i;
        double squared = (double)k * k + (double)j * j + (double)i * i;
        bool near = k < cut && abs(j) < cut && abs(i) < cut;
        planes[n] = near ? 0.0 : along * power<STRENGTH + 1>(inverse_root(squared));
    }
}
