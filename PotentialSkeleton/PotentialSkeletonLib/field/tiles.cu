// Tiles of a volume that hold something: see cuda_tiles.py. A tile has one voxel more at its end than there
// are from tile to tile, so that a voxel is in up to eight tiles.
const int SIDE = 3, EXTENT = (1 << SIDE) + 1;

struct Box
{
    int depth, rows, width;
    int tiles_j, tiles_i;
};

// Marks all tiles with a voxel that is not 0. A block takes a row.
extern "C" __global__ void mark_tiles(const unsigned char* where, Box box, unsigned char* marks)
{
    int k = blockIdx.x / box.rows, j = blockIdx.x % box.rows, last = (1 << SIDE) - 1;
    const unsigned char* row = where + (long long)blockIdx.x * box.width;
    for (int i = threadIdx.x; i < box.width; i += blockDim.x) {
        if (row[i] == 0) continue;
        for (int a = k >> SIDE; a >= 0 && a >= (k + last >> SIDE) - 1; a--)
            for (int b = j >> SIDE; b >= 0 && b >= (j + last >> SIDE) - 1; b--)
                for (int c = i >> SIDE; c >= 0 && c >= (i + last >> SIDE) - 1; c--)
                    marks[((long long)a * box.tiles_j + b) * box.tiles_i + c] = 1;
    }
}

// Copies some tiles, each of a number of items for a voxel; 0 beyond the volume. The first tile is 0.
template <class Item>
__device__ void gather(const Item* volume, const Box& box, int items, const int* places, Item* tiles)
{
    int size = EXTENT * EXTENT * EXTENT * items, place = blockIdx.x ? places[blockIdx.x - 1] : 0;
    int first_k = place / box.tiles_i / box.tiles_j << SIDE;
    int first_j = place / box.tiles_i % box.tiles_j << SIDE, first_i = place % box.tiles_i << SIDE;
    Item* tile = tiles + (long long)blockIdx.x * size;
    for (int n = threadIdx.x; n < size; n += blockDim.x) {
        int voxel = n / items, k = first_k + voxel / (EXTENT * EXTENT);
        int j = first_j + voxel / EXTENT % EXTENT, i = first_i + voxel % EXTENT;
        bool inside = blockIdx.x && k < box.depth && j < box.rows && i < box.width;
        long long at = ((long long)k * box.rows + j) * box.width + i;
        tile[n] = inside ? volume[at * items + n % items] : 0;
    }
}

extern "C" __global__ void gather_floats(const float* volume, Box box, int floats, const int* places,
                                         float* tiles)
{
    gather(volume, box, floats, places, tiles);
}

extern "C" __global__ void gather_bytes(const unsigned char* volume, Box box, int bytes,
                                        const int* places, unsigned char* tiles)
{
    gather(volume, box, bytes, places, tiles);
}
