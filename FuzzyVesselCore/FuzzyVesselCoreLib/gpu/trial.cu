// Trial kernel for `cuda_status`: a product and a sum, each rounded on its own.
extern "C" __global__ void trial(const float* a, const float* b, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] * b[i] + a[i];
}
