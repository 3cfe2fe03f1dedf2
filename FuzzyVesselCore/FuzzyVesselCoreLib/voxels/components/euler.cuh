// The Euler characteristic of a packed mask.

#include "packed_mask.cuh"

// The Euler characteristic of the union of all voxels' closed cubes: corners - edges + faces -
// cubes. Each thread counts those whose highest voxel (also one behind the volume) is in its word.
extern "C" __global__ void count_cells(const u32* words, int depth, int rows, int width,
                                       unsigned long long* characteristic)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    Shape shape = {depth, rows, width};
    int words_wide = width / 32 + 1; // with the corners behind a row's last voxel
    long long number = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int w = number % words_wide, j = number / words_wide % (rows + 1);
    long long k = number / words_wide / (rows + 1);
    // Voxels with the corner's I, and those before them.
    u32 here[2][2], lower[2][2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            here[a][b] = lower[a][b] = 0;
            if (k - a < 0 || k - a >= depth || j - b < 0 || j - b >= rows)
                continue;
            const u32* row = words + ((k - a) * rows + j - b) * shape.words_per_row();
            here[a][b] = w < shape.words_per_row() ? row[w] : 0;
            lower[a][b] = here[a][b] << 1 | (w > 0 ? row[w - 1] >> 31 : 0);
        }
    u32 cube = here[0][0], along_k = cube | here[1][0], along_j = cube | here[0][1];
    u32 around = along_k | here[0][1] | here[1][1];
    u32 lower_k = lower[0][0] | lower[1][0], lower_j = lower[0][0] | lower[0][1];
    u32 lower_around = lower_k | lower[0][1] | lower[1][1];
    int corners = __popc(around | lower_around);
    int edges = __popc(around) + __popc(along_k | lower_k) + __popc(along_j | lower_j);
    int faces = __popc(along_k) + __popc(along_j) + __popc(cube | lower[0][0]);
    int own = corners - edges + faces - __popc(cube);
    if (own)
        atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0 && sum)
        atomicAdd(characteristic, (unsigned long long)(long long)sum);
}
