// The trial that shows whether this machine's CUDA works: products and sums, rounded one by one.
extern "C" __global__ void trial(const float* a, const float* b, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] * b[i] + a[i];
}
